"""Who debates: every fault of the files is one line that says which key of which file."""

import json

import pytest

from moot.agents.debate.participants import Participant, filled, from_files, from_settings
from moot.parsers.errors import UsageError

CLI = {
    "type": "cli", "command": "codex", "args_template": "", "one_shot_args_template": "exec -m {model} 'a b'",
    "models": ["o/1:x"], "timeout_ms": 1500, "reasoning_effort": "high",
}  # fmt: skip
API = {
    "type": "api",
    "base_url": "http://127.0.0.1:1/v1",
    "api_key": "sk-1",
    "models": [],
    "protocol": "openai",
}
PRESETS = {
    "version": "2.0",
    "presets": {"codex": CLI, "far": API, "claude": {"type": "subscription", "name": "Claude"}},
}


FAR, X = ("far", "m"), ("x", "m")


def chatroom(*seats, **more):
    return {"participants": [{"preset": preset, "model": model} for preset, model in seats], **more}


def read(room, presets=PRESETS):
    return from_files(room, presets, "room.json", "presets.json")


def test_each_type_of_preset_is_read():
    table = read(
        chatroom(("codex", "o/1:x"), ("far", "m:7"), ("claude", "opus"), ("far", "m:7"), max_rounds=5)
    )
    codex, far, claude, again = table.participants
    assert table.max_rounds == 5
    assert codex == Participant(
        "p0", "cli", "codex/o/1:x", ("codex", "exec", "-m", "{model}", "a b"), "o/1:x", "high", 1.5
    )
    assert (far.kind, far.protocol, far.key, far.timeout_s) == ("api", "openai", "presets:far", 300.0)
    assert (claude.kind, claude.argv[:2], claude.timeout_s) == ("cli", ("claude", "-p"), 1200.0)
    assert (again.name, again.title) == ("p3", far.title)
    assert "sk-1" not in repr(table)


def test_rounds_are_three_where_nothing_is_said():
    assert read(chatroom(("far", "m"))).max_rounds == 3


def test_what_is_not_known_in_the_presets_is_a_warning():
    presets = {**PRESETS, "theme": "dark", "presets": {"codex": {**CLI, "colour": "red"}}}
    table = read(chatroom(("codex", "other")), presets)
    assert table.warnings == (
        "presets.json: `theme` is not known, and was not used",
        "presets.json: `presets.codex.colour` is not known, and was not used",
        "room.json: preset codex does not list the model 'other'",
    )


def lacking(preset, key):
    return {
        "version": "2.0",
        "presets": {"x": {name: value for name, value in preset.items() if name != key}},
    }


@pytest.mark.parametrize(
    ("room", "presets", "says"),
    [
        ([], PRESETS, "the file is no object (room.json)"),
        ({}, PRESETS, "`participants` is missing (room.json)"),
        ({"participants": "codex"}, PRESETS, "`participants` is no list"),
        ({"participants": []}, PRESETS, "`participants` has 0 (room.json): name 1 to 10"),
        (chatroom(*[FAR] * 11), PRESETS, "`participants` has 11"),
        ({"participants": ["codex"]}, PRESETS, "`participants[0]` is no object"),
        (chatroom(FAR, rounds=3), PRESETS, "unknown key `rounds` (room.json): did you mean max_rounds?"),
        ({"participants": [{"preset": "far", "modell": "m"}]}, PRESETS, "unknown key `participants[0].modell`"),
        ({"participants": [{"preset": "far"}]}, PRESETS, "`participants[0].model` is missing"),
        ({"participants": [{"preset": 7, "model": "m"}]}, PRESETS, "`participants[0].preset` is '7'"),
        ({"participants": [{"preset": "far", "model": "m", "system_prompt": 1}]}, PRESETS, "[0].system_prompt` is"),
        (chatroom(("codecs", "m")), PRESETS, "there is no such preset (room.json): did you mean codex?"),
        (chatroom(FAR, max_rounds=0), PRESETS, "is '0' (room.json): give a whole number from 1 to 10"),
        (chatroom(FAR, max_rounds=11), PRESETS, "`max_rounds` is '11'"),
        (chatroom(FAR, max_rounds=2.5), PRESETS, "`max_rounds` is '2.5'"),
        (chatroom(FAR, max_rounds=True), PRESETS, "`max_rounds` is 'True'"),
        (chatroom(X), [], "the file is no object (presets.json)"),
        (chatroom(X), {}, "`presets` is missing (presets.json)"),
        (chatroom(X), {"presets": {"x": 1}}, "`presets.x` is no object"),
        (chatroom(X), {"presets": {"x": {"type": "ssh"}}}, "`presets.x.type` is 'ssh'"),
        (chatroom(X), {"presets": {"x": {"type": ["cli"]}}}, "`presets.x.type` is \"['cli']\""),
        (chatroom(X), {"presets": {"x": {**API, "api_key": ["sk-1"]}}}, "x.api_key` is no text (presets.json)"),
        (chatroom(X), {"presets": {"x": {**API, "api_key": "sk-1\0"}}}, "x.api_key` is no text (presets.json)"),
        (chatroom(X), lacking(CLI, "command"), "`presets.x.command` is missing"),
        (chatroom(X), lacking(CLI, "one_shot_args_template"), "x.one_shot_args_template` is missing"),
        (chatroom(X), lacking(API, "base_url"), "`presets.x.base_url` is missing"),
        (chatroom(X), lacking(API, "api_key"), "`presets.x.api_key` is missing"),
        (chatroom(X), {"presets": {"x": {**API, "protocol": "grpc"}}}, "`presets.x.protocol` is 'grpc'"),
        (chatroom(X), {"presets": {"x": {**API, "timeout_ms": "9"}}}, "`presets.x.timeout_ms` is '9'"),
        (chatroom(X), {"presets": {"x": {**CLI, "one_shot_args_template": "'"}}}, "cannot be split"),
    ],
)  # fmt: skip
def test_a_fault_is_one_line_that_says_where(room, presets, says):
    with pytest.raises(UsageError) as error:
        read(room, presets)
    assert says in str(error.value)
    assert "\n" not in str(error.value)


def seats(*tables, **more):
    return {"participants": list(tables), **more}


@pytest.mark.parametrize(
    ("table", "says"),
    [
        ({}, "`debate.participants` is missing"),
        (seats({"kind": "mock"}, rounds=3), "unknown key `debate.rounds`: did you mean max_rounds?"),
        (seats({"kind": "mick"}), "`debate.participants[0].kind` is 'mick'"),
        (seats({"kind": "mock", "nam": "x"}), "unknown key `debate.participants[0].nam`"),
        (seats({"kind": "mock", "name": "a b"}), "`debate.participants[0].name`: 'a b' is no agent's name"),
        (seats({"kind": "mock", "name": "x"}, {"kind": "mock", "name": "x"}), "x is there twice"),
        (seats({"kind": "agent", "name": "CY"}), "no agent CY: known: CC, CX"),
        (seats({"kind": "cli"}), "`debate.participants[0].command` is no command"),
        (seats({"kind": "cli", "command": []}), "is no command"),
        (seats({"kind": "cli", "command": ["a", 1]}), "is no command"),
        (seats({"kind": "mock", "timeout_s": 0}), "`debate.participants[0].timeout_s` is 0"),
        (seats({"kind": "mock", "timeout_s": float("nan")}), "timeout_s` is nan"),
        (seats({"kind": "api", "protocol": "openai", "model": "m"}), "says 0 times where its key is"),
        (seats({"kind": "api", "protocol": "openai", "model": "m", "key_env": "A", "key_file": "b"}), "says 2 times"),
        (seats({"kind": "api", "protocol": "openai", "key_env": "A"}), "`debate.participants[0].model` is missing"),
        (seats({"kind": "mock"}, anonymous="yes"), "`debate.anonymous` is neither true nor false"),
    ],
)  # fmt: skip
def test_a_fault_of_the_settings_is_one_line_too(table, says):
    with pytest.raises(UsageError) as error:
        from_settings(table, ("CC", "CX"), "moot.toml")
    assert says in str(error.value).replace(" (moot.toml)", "")


def test_settings_name_participants_of_every_kind():
    table = from_settings(
        seats(
            {"kind": "cli", "command": "codex exec -m {model}", "model": "o", "timeout_s": 9},
            {"kind": "api", "protocol": "anthropic", "model": "c", "key_file": "~/k", "name": "far"},
            {"kind": "agent", "name": "CC"},
            {"kind": "human", "name": "eve"},
            {"kind": "mock"},
            moderator="far",
            anonymous=True,
            max_rounds=1,
        ),
        ("CC",),
        "moot.toml",
    )
    assert [one.name for one in table.participants] == ["p0", "far", "CC", "eve", "p4"]
    assert [one.kind for one in table.participants] == ["cli", "api", "agent", "human", "mock"]
    assert (table.moderator, table.anonymous, table.max_rounds) == ("far", True, 1)
    assert table.participants[1].key == "file:~/k"


@pytest.mark.parametrize("prompt", ["plain", "{model} $(touch x) 'q' \"d\" {prompt}", "", "a\nb"])
def test_each_value_stays_within_its_own_argument(prompt):
    one = Participant("p0", "cli", argv=("x", "--m={model}", "{prompt}", "{effort}"), model="{prompt}/a:b")
    assert filled(one, prompt) == (("x", "--m={prompt}/a:b", prompt, "{effort}"), "")
    assert filled(one._replace(argv=("x", "{reasoning_effort}"), reasoning_effort="low"), prompt) == (
        ("x", "low"),
        prompt,
    )


# -- as commands --------------------------------------------------------------------------------------


def test_the_prompt_goes_to_standard_input_or_into_its_argument(table):
    table.seat("alpha", "beta", max_rounds=1)
    presets = json.loads((table.files / "ai-presets.json").read_text())
    (table.bin / "beta").write_text(
        '#!/bin/sh\nset -- "$1" "$2" "$(cat)"\necho "POSITION: $1 and <$3> and $(echo "$2" | wc -l)"\n'
    )
    presets["presets"]["beta"]["one_shot_args_template"] = "'{model} m' {prompt}"
    (table.files / "ai-presets.json").write_text(json.dumps(presets))
    said = table.debate()
    position = said["participants"][1]["rounds"][0]["position"]
    assert position.startswith("m/1:x m and <> and ")
    assert int(position.rpartition(" ")[2]) > 10


def test_with_nobody_to_ask_the_line_says_what_to_do(shell):
    line = shell.fails(4, "debate", "One or many?")
    assert "nobody is there to debate" in line
    assert "--agent NAME=mock" in line


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("--agent", "ann=mock", "--agent", "ann=mock"), 2, "--agent gives ann twice"),
        (("--agent", "ann=mock", "--config", "x"), 2, "both say who debates"),
        (("--agent", "ann=ssh"), 2, "does not say what runs whom"),
        (("--agent", "HUMAN=mock"), 2, "HUMAN' is reserved"),
        (
            ("--agent", "ann=mock", "--moderator", "bob"),
            4,
            "the moderator 'bob' takes no part: known: HUMAN, ann",
        ),
        (("--agent", "ann=mock", "--rounds", "11"), 2, "11 is not in the range"),
        (("--agent", "ann=mock", "--as", "ZZ"), 4, "no agent 'ZZ' in the roster"),
        (("--config", "nowhere.json"), 4, "there is no such file (nowhere.json): correct --config"),
        (("--config", "comms/comms.md"), 2, "not JSON"),
        (("--resume", "deb-0000"), 2, "leave the rest out"),
    ],
)
def test_a_wrong_option_is_one_line_and_nothing_is_begun(shell, arguments, code, says):
    before = shell.ledger.read_bytes()
    assert says in shell.fails(code, "debate", "One or many?", *arguments)
    assert shell.ledger.read_bytes() == before
    assert not list((shell.comms / "runs").glob("deb-*"))


@pytest.mark.parametrize("option", ["--resume", "--report"])
def test_a_debate_that_is_not_there_is_said(shell, option):
    assert "no session deb-0000" in shell.fails(4, "debate", option, "deb-0000")


def test_a_model_of_another_name_and_a_role_that_is_not_there_are_warnings(table):
    table.seat("alpha", max_rounds=1)
    table.write(
        {"participants": [{"preset": "alpha", "model": "m/2", "system_prompt": "wizard"}], "max_rounds": 1},
        json.loads((table.files / "ai-presets.json").read_text()),
    )
    done = table.shell.run("debate", "One or many?", "--json")
    assert done.returncode == 0
    assert "does not list the model 'm/2'" in done.stderr
    assert "p0: no role 'wizard'" in done.stderr


@pytest.mark.parametrize(("role", "own"), [("sceptic", False), ("sceptic", True), ("pirate", True)])
def test_a_role_stands_above_the_prompt_and_the_workspaces_own_comes_first(table, role, own):
    table.seat("alpha", max_rounds=1)
    if own:
        (table.shell.comms / "roles").mkdir()
        (table.shell.comms / "roles" / f"{role}.md").write_text("You speak as a pirate.\n")
    table.write(
        {"participants": [{"preset": "alpha", "model": "m/1:x", "system_prompt": role}], "max_rounds": 1},
        json.loads((table.files / "ai-presets.json").read_text()),
    )
    said = table.debate()
    prompt = (table.folder(said) / "prompts" / "p0-positions-1.md").read_text()
    assert prompt.startswith("You speak as a pirate.\n---\n" if own else "You are the sceptic at this table.")


# -- trust --------------------------------------------------------------------------------------------


def test_commands_of_the_settings_run_only_when_somebody_has_seen_them(shell):
    toml = shell.comms / "moot.toml"
    first = toml.read_text()
    toml.write_text(
        first + '[debate]\n[[debate.participants]]\nkind = "cli"\ncommand = "echo POSITION: one"\n'
    )
    line = shell.fails(4, "debate", "One or many?", "--rounds", "1")
    assert "are not trusted" in line
    assert "moot trust" in line
    assert shell.ok("trust", "--show") == "debate.participants[0].command = echo POSITION: one\n"
    shell.fails(4, "debate", "One or many?", "--rounds", "1")
    assert "trusted for" in shell.ok("trust")
    assert "POSITION" not in shell.ok("status")
    assert json.loads(shell.ok("debate", "One or many?", "--rounds", "1", "--json"))["state"] == "done"
    toml.write_text(toml.read_text().replace("one", "two"))
    shell.fails(4, "debate", "One or many?", "--rounds", "1")
    toml.write_text(first)
    assert "nothing to trust" in shell.ok("trust")


def test_a_key_may_not_be_sent_where_nobody_has_looked(shell):
    participant = '[[debate.participants]]\nkind = "api"\nprotocol = "openai"\nmodel = "m"\nkey_env = "KEY"\n'
    with (shell.comms / "moot.toml").open("a") as file:
        file.write(f'[debate]\n{participant}base_url = "http://127.0.0.1:9/"\n')
    assert "are not trusted" in shell.fails(4, "debate", "One or many?")
    shown = shell.ok("trust", "--show")
    assert "key_env = KEY" in shown
    assert "base_url = http://127.0.0.1:9/" in shown
