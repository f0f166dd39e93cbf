"""One question to a model's endpoint, in a process of its own: the request on standard input, the answer on output.

    {"protocol": "openai" | "anthropic", "base_url", "key", "model", "prompt", "timeout_s", "max_output_tokens"}

A process, so that a time-out and Ctrl-C end it as they end any command, and the libraries load side by side. The
key comes on standard input, and is in no argument, no environment of ours and no error. Both libraries try again by
themselves after 429, 5xx and lost connections, twice. The answer is asked for as a stream, since a long one
outlives the time-outs of proxies; a server that answers in one piece is understood as well.
"""

import json
import sys
from collections.abc import Iterator, Mapping
from typing import Any

RETRIES = 2
MAX_OUTPUT_TOKENS = 8192  # Anthropic's endpoint wants a number; a position of a few pages fits
_EXTRA = "moot[api]"


class CutOff(Exception):
    """The answer ended before its end."""


def main() -> int:
    """Answer one request; on a fault print one line that names it, without the key."""
    request = json.loads(sys.stdin.read())
    key = request["key"] or "\0"
    try:
        # A server may say the key back; the text is whole before it is looked for.
        sys.stdout.write("".join(ask(request)).replace(key, "…"))
        sys.stdout.flush()
    except ImportError as error:
        sys.stderr.write(f"{error.name or 'a library'} is not installed: pip install '{_EXTRA}'\n")
        return 1
    except Exception as error:  # noqa: BLE001 - the libraries' errors have no other root in common
        said = f"{type(error).__name__}: {' '.join(str(error).split())}".replace(key, "…")
        sys.stderr.write(f"{said[:400]}\n")
        return 1
    return 0


def ask(request: Mapping[str, Any]) -> Iterator[str]:
    """Give the answer piece by piece; raises what the client library raises, or CutOff."""
    yield from (_openai if request["protocol"] == "openai" else _anthropic)(request)


def _openai(request: Mapping[str, Any]) -> Iterator[str]:
    from openai import OpenAI

    with OpenAI(
        api_key=request["key"],
        base_url=request["base_url"] or None,
        timeout=request["timeout_s"],
        max_retries=RETRIES,
    ) as client:
        most = {"max_tokens": request["max_output_tokens"]} if request["max_output_tokens"] else {}
        raw = client.chat.completions.with_raw_response.create(
            model=request["model"],
            messages=[{"role": "user", "content": request["prompt"]}],
            stream=True,
            **most,
        )
        if not _is_stream(raw):
            yield _text_of(raw.http_response.read(), ("choices", 0, "message", "content"))
            return
        ended = False
        for chunk in raw.parse():
            for choice in chunk.choices[:1]:
                yield choice.delta.content or ""
                ended = ended or choice.finish_reason is not None
        if not ended:
            raise CutOff("the stream ended in the middle of the answer")


def _anthropic(request: Mapping[str, Any]) -> Iterator[str]:
    from anthropic import Anthropic

    with Anthropic(
        api_key=request["key"],
        base_url=request["base_url"] or None,
        timeout=request["timeout_s"],
        max_retries=RETRIES,
    ) as client:
        raw = client.messages.with_raw_response.create(
            model=request["model"],
            messages=[{"role": "user", "content": request["prompt"]}],
            max_tokens=request["max_output_tokens"] or MAX_OUTPUT_TOKENS,
            stream=True,
        )
        if not _is_stream(raw):
            yield _text_of(raw.http_response.read(), ("content", 0, "text"))
            return
        ended = False
        for event in raw.parse():
            if event.type == "content_block_delta" and event.delta.type == "text_delta":
                yield event.delta.text
            ended = ended or event.type == "message_stop"
        if not ended:
            raise CutOff("the stream ended in the middle of the answer")


def _is_stream(raw: Any) -> bool:
    return str(raw.headers.get("content-type", "")).startswith("text/event-stream")


def _text_of(data: bytes, path: tuple[str | int, ...]) -> str:
    """Give the text in an answer that came in one piece."""
    value: Any = json.loads(data)
    for key in path:
        value = value[key]
    return str(value or "")


if __name__ == "__main__":
    sys.exit(main())
