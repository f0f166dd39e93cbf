"""Participants that are asked through an API: real client libraries, a real server on loopback that misbehaves."""

import json
import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

KEY = "sk-this-is-a-secret"
ANSWER = "POSITION: Keep it.\nVERDICT: AGREE"


class Server(ThreadingHTTPServer):
    """Answers by the model's name, as the endpoints of both protocols do."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked = Counter()
        self.keys = set()
        self.gone = threading.Event()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.is_anthropic = self.path.endswith("/messages")
        model = body["model"]
        self.server.asked[model] += 1
        self.server.keys.add(
            self.headers.get("x-api-key") or self.headers["authorization"].removeprefix("Bearer ")
        )
        getattr(self, f"say_{model.replace('-', '_')}")(self.server.asked[model])

    def say_whole(self, _):
        whole = (
            {"content": [{"type": "text", "text": ANSWER}]}
            if self.is_anthropic
            else {"choices": [{"message": {"content": ANSWER}}]}
        )
        self.send(200, whole)

    def say_slow_down(self, times):
        self.say_whole(times) if times > 1 else self.send(429, {"error": {"message": f"slow down, {KEY}"}})

    def say_broken(self, _):
        self.send(500, {"error": {"message": f"no idea what to do with {KEY}"}})

    def say_key(self, _):
        text = f"POSITION: your key is {KEY}"
        self.send(
            200,
            {"content": [{"text": text}]}
            if self.is_anthropic
            else {"choices": [{"message": {"content": text}}]},
        )

    def say_closed(self, _):
        self.connection.close()

    def say_never(self, _):
        self.server.gone.wait(60)

    def say_stream(self, _, *, ends=True):
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        pieces = (ANSWER[:9], ANSWER[9:])
        if self.is_anthropic:
            message = {
                "id": "1", "type": "message", "role": "assistant", "content": [], "model": "m", "stop_reason": None,
                "usage": {"input_tokens": 1, "output_tokens": 1},
            }  # fmt: skip
            events = [{"type": "message_start", "message": message}]
            events += [
                {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
            ]
            events += [
                {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": piece}}
                for piece in pieces
            ]
            events += [{"type": "message_stop"}] if ends else []
        else:
            chunk = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
            parts = [{"delta": {"content": piece}, "finish_reason": None} for piece in pieces]
            parts += [{"delta": {}, "finish_reason": "stop"}] if ends else []
            events = [{**chunk, "choices": [{"index": 0, **part}]} for part in parts]
        for event in events:
            name = f"event: {event['type']}\n" if "type" in event else ""
            self.wfile.write(f"{name}data: {json.dumps(event)}\n\n".encode())
        self.close_connection = True

    def say_cut_off(self, times):
        self.say_stream(times, ends=False)

    def send(self, code, values):
        data = json.dumps(values).encode()
        self.send_response(code)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


@pytest.fixture
def server():
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.gone.set()
        server.shutdown()
        thread.join()


def seat(table, server, protocol, *models, timeout_ms=30_000):
    url = server.url + ("/v1" if protocol == "openai" else "")
    preset = {
        "type": "api", "base_url": url, "api_key": KEY, "models": list(models), "protocol": protocol,
        "timeout_ms": timeout_ms,
    }  # fmt: skip
    participants = [{"preset": "far", "model": model} for model in models]
    table.write(
        {"participants": participants, "max_rounds": 2}, {"version": "2.0", "presets": {"far": preset}}
    )
    (table.files / "ai-presets.json").chmod(0o600)


def assert_no_key(table, *outputs):
    """The key is in no file of the workspace, and in nothing that was printed."""
    for path in table.shell.comms.rglob("*"):
        if path.is_file():
            assert KEY.encode() not in path.read_bytes(), path
    assert not any(KEY in output for output in outputs)


@pytest.mark.parametrize("protocol", ["openai", "anthropic"])
def test_what_a_server_says_or_does_is_the_right_answer_or_the_right_error(table, server, protocol):
    seat(table, server, protocol, "whole", "stream", "slow-down", "broken", "closed", "cut-off", "key")
    done = table.shell.run("debate", "One or many?", "--json")
    assert done.returncode == 0, done.stderr
    first = {
        one["title"].rpartition("/")[2]: one["rounds"][0] for one in json.loads(done.stdout)["participants"]
    }
    for model in ("whole", "stream", "slow-down"):
        assert first[model]["position"] == "Keep it.", model
    assert server.asked["slow-down"] == 3  # once more in round 1, once in round 2
    assert "InternalServerError" in first["broken"]["reason"]
    assert "500" in first["broken"]["reason"]
    assert "APIConnectionError" in first["closed"]["reason"]
    assert "the stream ended in the middle" in first["cut-off"]["reason"]
    assert first["key"]["position"] == "your key is …"
    assert server.keys == {KEY}
    assert_no_key(table, done.stdout, done.stderr)


def test_one_that_never_answers_is_out_in_its_time(table, server):
    seat(table, server, "openai", "never", "whole", timeout_ms=4000)
    began = time.monotonic()
    said = table.debate("--rounds", "1")
    assert "time" in said["participants"][0]["rounds"][0]["reason"].lower()
    assert said["participants"][1]["rounds"][0]["position"] == "Keep it."
    assert time.monotonic() - began < 50
    assert_no_key(table)


@pytest.mark.parametrize("mode", [0o600, 0o644])
def test_keys_in_presets_that_others_may_read_are_told(table, server, mode):
    seat(table, server, "openai", "whole")
    (table.files / "ai-presets.json").chmod(mode)
    done = table.shell.run("debate", "One or many?", "--rounds", "1", "--json")
    assert done.returncode == 0
    assert ("others may read the keys in" in done.stderr) == (mode != 0o600)


def far(table, protocol, url, key):
    """Put one participant that is asked through an API into the settings."""
    lines = ['kind = "api"', f'protocol = "{protocol}"', 'model = "whole"', f'base_url = "{url}"', key]
    with (table.shell.comms / "moot.toml").open("a") as file:
        file.write("\n".join(["[debate]", "max_rounds = 1", "[[debate.participants]]", *lines, ""]))


@pytest.mark.parametrize("mode", [0o600, 0o640])
def test_a_key_comes_from_a_file_that_nobody_else_may_read(table, server, tmp_path, mode):
    key = tmp_path / "key"
    key.write_text(f"{KEY}\n")
    key.chmod(mode)
    far(table, "openai", f"{server.url}/v1", f'key_file = "{key}"')
    table.shell.ok("trust")
    if mode == 0o600:
        assert table.debate()["participants"][0]["rounds"][0]["position"] == "Keep it."
        assert_no_key(table)
    else:
        assert "others may read this key" in table.shell.fails(2, "debate", "One or many?")


def test_a_key_comes_from_the_environment(table, server):
    far(table, "anthropic", server.url, 'key_env = "FAR_KEY"')
    table.shell.ok("trust")
    assert "no key for p0 (env:FAR_KEY)" in table.shell.fails(4, "debate", "One or many?")
    table.shell.env["FAR_KEY"] = KEY
    assert table.debate()["participants"][0]["rounds"][0]["position"] == "Keep it."
    assert_no_key(table)
