"""A scripted model on loopback: Anthropic messages, OpenAI responses and Gemini generateContent.

Each agent has a base URL of its own, `Model.url("CC")`, and a script of its own: a list of steps, or a function
that is given what the model was shown and answers with one step. A request that offers no tools (a title, a
summary, the choice of a model) is not a turn of the agent: it is recorded as such, and takes no step.
"""

import json
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self


@dataclass(frozen=True, slots=True)
class Say:
    """The model answers with text, and its turn is over."""

    text: str


@dataclass(frozen=True, slots=True)
class Run:
    """The model asks for one shell command, by the tool that its program has for it."""

    command: str


@dataclass(frozen=True, slots=True)
class Call:
    """The model asks for any tool by name."""

    tool: str
    arguments: dict[str, Any] = field(default_factory=dict)


Step = Say | Run | Call


@dataclass(frozen=True, slots=True)
class Shown:
    """One request: what the model was shown.

    `texts` has every piece of text of the conversation in its order, tool results included; `last` what came
    since the model spoke last; `tools` the names of the tools that it may call.
    """

    agent: str
    body: dict[str, Any]
    tools: tuple[str, ...]
    texts: tuple[str, ...]
    last: str

    @property
    def all_text(self) -> str:
        return "\n".join(self.texts)


Script = Callable[[Shown], Step] | Sequence[Step]


class Model:
    """The server; a context manager. Unscripted agents are answered with `Noted.`."""

    def __init__(self) -> None:
        self._scripts: dict[str, Callable[[Shown], Step]] = {}
        self._changed = threading.Condition()
        self._turns: list[Shown] = []
        self._asides: list[Shown] = []
        self.other_paths: list[str] = []
        model = self

        class Handler(_Handler):
            owner = model

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    def url(self, agent: str) -> str:
        """Give the base URL of one agent, without a slash at its end."""
        return f"http://127.0.0.1:{self._server.server_port}/{agent}"

    def script(self, agent: str, script: Script) -> None:
        """Set what `agent` does from now on; a list that has come to its end says `Noted.`."""
        if callable(script):
            self._scripts[agent] = script
            return
        steps: Iterator[Step] = iter(tuple(script))
        self._scripts[agent] = lambda shown: next(steps, Say("Noted."))

    def turns(self, agent: str) -> list[Shown]:
        """Give the requests of one agent that took a step of its script."""
        with self._changed:
            return [shown for shown in self._turns if shown.agent == agent]

    def asides(self, agent: str) -> list[Shown]:
        """Give the requests of one agent's program that offered no tools."""
        with self._changed:
            return [shown for shown in self._asides if shown.agent == agent]

    def wait_turns(self, agent: str, count: int, timeout_s: float = 60.0) -> list[Shown]:
        """Wait until `agent` has made `count` requests; raises TimeoutError."""
        with self._changed:
            if not self._changed.wait_for(lambda: len(self.turns_locked(agent)) >= count, timeout_s):
                raise TimeoutError(f"{agent} made {len(self.turns_locked(agent))} requests, not {count}")
            return self.turns_locked(agent)

    def turns_locked(self, agent: str) -> list[Shown]:
        return [shown for shown in self._turns if shown.agent == agent]

    def answer(self, shown: Shown) -> Step:
        """Record one request, and give the step that answers it."""
        aside = not shown.tools
        with self._changed:
            (self._asides if aside else self._turns).append(shown)
            self._changed.notify_all()
        if aside:
            return Say("Noted.")
        return self._scripts.get(shown.agent, lambda _: Say("Noted."))(shown)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    owner: Model

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name is the base class's
        pass

    def do_GET(self) -> None:
        self.owner.other_paths.append(self.path)
        self._json({"data": [], "models": []})

    do_HEAD = do_GET  # noqa: N815 - the base class looks for it

    def do_POST(self) -> None:
        data = self.rfile.read(int(self.headers.get("content-length", 0)))
        try:
            body = json.loads(data)
        except ValueError:
            body = {}
        agent, _, path = self.path.removeprefix("/").partition("/")
        path = path.partition("?")[0]
        if path.endswith("/messages"):
            self._claude(agent, body)
        elif path.endswith("/responses"):
            self._codex(agent, body)
        elif path.endswith("enerateContent"):
            self._gemini(agent, body, stream=path.endswith("streamGenerateContent"))
        else:
            self.owner.other_paths.append(self.path)
            self._json({"input_tokens": 1, "totalTokens": 1})

    def _json(self, value: object) -> None:
        data = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def _events(self, events: Sequence[dict[str, Any]]) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        for event in events:
            if "type" in event:
                self.wfile.write(f"event: {event['type']}\n".encode())
            self.wfile.write(f"data: {json.dumps(event)}\n\n".encode())
        self.close_connection = True

    def _claude(self, agent: str, body: dict[str, Any]) -> None:
        shown = _shown_claude(agent, body)
        step = self.owner.answer(shown)
        number = len(self.owner.turns(agent))
        message = {
            "id": f"msg_{number}",
            "type": "message",
            "role": "assistant",
            "model": body.get("model", "scripted"),
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": {"input_tokens": 10, "output_tokens": 1},
        }
        if isinstance(step, Say):
            start, stop = {"type": "text", "text": ""}, "end_turn"
            delta = {"type": "text_delta", "text": step.text}
            whole: dict[str, Any] = {"type": "text", "text": step.text}
        else:
            call = step if isinstance(step, Call) else Call("Bash", {"command": step.command})
            start = {"type": "tool_use", "id": f"toolu_{number}", "name": call.tool, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(call.arguments)}
            whole, stop = {**start, "input": call.arguments}, "tool_use"
        if not body.get("stream"):
            self._json({**message, "content": [whole], "stop_reason": stop})
            return
        self._events(
            [
                {"type": "message_start", "message": message},
                {"type": "content_block_start", "index": 0, "content_block": start},
                {"type": "content_block_delta", "index": 0, "delta": delta},
                {"type": "content_block_stop", "index": 0},
                {
                    "type": "message_delta",
                    "delta": {"stop_reason": stop, "stop_sequence": None},
                    "usage": {"output_tokens": 5},
                },
                {"type": "message_stop"},
            ]
        )

    def _codex(self, agent: str, body: dict[str, Any]) -> None:
        shown = _shown_codex(agent, body)
        step = self.owner.answer(shown)
        number = len(self.owner.turns(agent))
        item: dict[str, Any]
        if isinstance(step, Say):
            item = {
                "type": "message",
                "id": f"msg_{number}",
                "role": "assistant",
                "status": "completed",
                "content": [{"type": "output_text", "text": step.text, "annotations": []}],
            }
        else:
            call = step if isinstance(step, Call) else _codex_shell(shown.tools, step.command)
            item = {
                "type": "function_call",
                "id": f"fc_{number}",
                "call_id": f"call_{number}",
                "name": call.tool,
                "arguments": json.dumps(call.arguments),
            }
        usage = {
            "input_tokens": 10,
            "output_tokens": 5,
            "total_tokens": 15,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens_details": {"reasoning_tokens": 0},
        }
        answer = {
            "id": f"resp_{number}",
            "object": "response",
            "status": "completed",
            "output": [item],
            "usage": usage,
        }
        self._events(
            [
                {"type": "response.created", "response": {"id": f"resp_{number}"}},
                {"type": "response.output_item.done", "output_index": 0, "item": item},
                {"type": "response.completed", "response": answer},
            ]
        )

    def _gemini(self, agent: str, body: dict[str, Any], *, stream: bool) -> None:
        step = self.owner.answer(_shown_gemini(agent, body))
        part: dict[str, Any]
        if isinstance(step, Say):
            part = {"text": step.text}
        else:
            call = step if isinstance(step, Call) else Call("run_shell_command", {"command": step.command})
            part = {"functionCall": {"name": call.tool, "args": call.arguments}}
        answer = {
            "candidates": [
                {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
            ],
            "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15},
        }
        if stream:
            self._events([answer])
        else:
            self._json(answer)


def _codex_shell(tools: tuple[str, ...], command: str) -> Call:
    """Codex's shell tool has another name and form from one kind of model to the next."""
    if "exec_command" in tools:
        return Call("exec_command", {"cmd": command, "yield_time_ms": 30_000})
    if "shell_command" in tools:
        return Call("shell_command", {"command": command})
    return Call("shell", {"command": ["bash", "-c", command]})


def _strings(value: object) -> Iterator[str]:
    """Give the text inside a content value of any of the three forms."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for piece in value:
            yield from _strings(piece)
    elif isinstance(value, dict):
        for key in ("text", "content", "output", "response", "functionResponse", "parts"):
            if key in value:
                yield from _strings(value[key])


def _shown(
    agent: str, body: dict[str, Any], tools: Sequence[str], items: Sequence[tuple[bool, object]]
) -> Shown:
    """Build what was shown from `items`: whether the model itself said it, and the content."""
    texts: list[str] = []
    last: list[str] = []
    for own, content in items:
        pieces = list(_strings(content))
        texts += pieces
        last = [] if own else last + pieces
    return Shown(agent, body, tuple(tools), tuple(texts), "\n".join(last))


def _shown_claude(agent: str, body: dict[str, Any]) -> Shown:
    items = [(m.get("role") == "assistant", m.get("content")) for m in body.get("messages", [])]
    return _shown(agent, body, [tool.get("name", "") for tool in body.get("tools", [])], items)


def _shown_codex(agent: str, body: dict[str, Any]) -> Shown:
    own = {"function_call", "reasoning", "custom_tool_call"}
    items = [(m.get("role") == "assistant" or m.get("type") in own, m) for m in body.get("input", [])]
    tools = [tool.get("name") or tool.get("type", "") for tool in body.get("tools", [])]
    return _shown(agent, body, tools, items)


def _shown_gemini(agent: str, body: dict[str, Any]) -> Shown:
    items = [(m.get("role") == "model", m.get("parts")) for m in body.get("contents", [])]
    tools = [d.get("name", "") for t in body.get("tools", []) for d in t.get("functionDeclarations", [])]
    return _shown(agent, body, tools, items)


def next_command(text: str) -> str | None:
    """Find the first command that `moot wait` offers on a line `next: moot …`, without its remark."""
    found = re.search(r"^\s*next: (moot .*?)(?: {2,}\(.*)?$", text, re.MULTILINE)
    return found.group(1) if found else None
