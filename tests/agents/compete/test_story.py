"""The story of a run in the ledger: stage by stage, with hashes and paths, and the same after a kill."""

import hashlib
import json
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.agents.protocols import compete as rules
from moot.agents.protocols.compete import DONE, FAILED, INCOMPLETE, SELECTION, STAGES
from moot.agents.protocols.events import Close, IllFormed, Posted, Rule, Ticked
from moot.agents.protocols.opening import Opening
from moot.parsers.bodies import read_body
from moot.parsers.seats import Prompt, Seat
from moot.parsers.stage import (
    Selection,
    Stage,
    StageLine,
    selection_of,
    stage_of,
    write_selection,
    write_stage,
)

NAMES = ("run_a", "run_b")
OPENING = Opening("run-7f3a", "compete", "x", tuple(Seat(name, "CANDIDATE") for name in NAMES), 7, 60)
SHA = "ab" * 32


def posted(tag, body, author="HUMAN"):
    return Posted("B", author, tag, "", (), "", "", not body, 0, read_body(tag, body))


def stage(name, *failed, names=NAMES):
    lines = (
        StageLine(
            one, "" if one in failed else SHA, "" if one in failed else "p", "exit 1" if one in failed else ""
        )
        for one in names
    )
    return posted("STAGE", write_stage(Stage(name, tuple(lines))))


def chosen(*names):
    return posted("SELECTION", write_selection(Selection(names, "best_one", "votes")))


def play(*events):
    state, effects = rules.begin(OPENING, 0), ()
    for event in events:
        state, effects = rules.step(OPENING, state, event)
    return state, effects


def test_six_stages_and_a_selection_are_done():
    state, effects = play(*(stage(name) for name in STAGES), chosen("run_b"))
    assert (state.phase, state.turns) == (DONE, 7)
    assert effects[-1] == Close(DONE)
    said = dict(rules.final_status(OPENING, state, "none"))
    assert (said["SELECTED"], said["CANDIDATES"]) == ("run_b", "run_a, run_b")


def test_who_failed_takes_no_further_part_and_cannot_be_chosen():
    state, _ = play(stage("proposal", "run_a"))
    assert rules.step(OPENING, state, stage("initial_verification"))[1][0].code == "wrong-candidates"
    state, _ = rules.step(OPENING, state, stage("initial_verification", names=("run_b",)))
    for name in STAGES[2:]:
        state, _ = rules.step(OPENING, state, stage(name, names=("run_b",)))
    assert "exit 1" in rules.step(OPENING, state, chosen("run_a"))[1][0].why
    assert "run_b are valid" in rules.step(OPENING, state, chosen())[1][0].why
    assert rules.step(OPENING, state, chosen("run_b"))[0].phase == DONE


def test_where_all_fail_the_run_has_failed():
    state, effects = play(stage("proposal", *NAMES), chosen())
    assert state.phase == FAILED
    assert effects[-1] == Close(FAILED, "no valid candidate")


@pytest.mark.parametrize(
    ("event", "code"),
    [
        (stage("revision_round_1"), "wrong-stage"),
        (stage("proposal", names=("run_a",)), "wrong-candidates"),
        (stage("proposal", names=("run_a", "run_a", "run_b")), "wrong-candidates"),
        (chosen("run_a"), "not-now"),
        (posted("STAGE", "STAGE: proposal", "ZZ"), "wrong-role"),
        (posted("STAGE", "STAGE: proposal", "run_a"), "wrong-role"),
        (posted("", "words"), "not-now"),
    ],
)
def test_what_is_not_due_is_refused(event, code):
    assert play(event)[1][0].code == code


def test_silence_is_told_and_then_ends_the_run():
    state = rules.begin(OPENING, 0)
    verdicts = []
    for _ in range(3):
        state, effects = rules.step(OPENING, state, Ticked(rules.due_ms(OPENING, state)))
        verdicts.append(effects[0].verdict)
    assert verdicts == ["reminded", "reminded", "closed"]
    assert state.phase == INCOMPLETE
    assert rules.step(OPENING, state, stage("proposal"))[1][0].code == "ended"
    assert rules.step(OPENING, state, Ticked(1 << 60)) == (state, ())


def test_a_prompt_is_sent_to_the_command():
    with pytest.raises(IllFormed, match="no session of agents"):
        rules.seats(Prompt("compete", "x", ()))
    with pytest.raises(IllFormed, match="has candidates"):
        rules.begin(OPENING._replace(roster=()), 0)


@given(
    st.lists(
        st.sampled_from(
            [*(stage(name) for name in STAGES), stage("proposal", "run_a"), chosen("run_a"), chosen()]
        )
    )
)
def test_any_events_are_answered(events):
    state = rules.begin(OPENING, 0)
    for event in events:
        state, effects = rules.step(OPENING, state, event)
        assert isinstance(effects[0], Rule)
    assert state.phase in (*STAGES, SELECTION, DONE, FAILED)


@given(st.text(), st.text(max_size=30))
def test_what_is_written_is_read_and_any_text_is_read_without_a_word(text, why):
    stage_of(text)
    selection_of(text)
    written = Stage(
        "proposal", (StageLine("run_a", SHA, "run_a/result.md"), StageLine("run_b", failure=f"x {why}"))
    )
    read = stage_of(write_stage(written))
    assert (read.name, read.lines[0]) == ("proposal", written.lines[0])
    assert read.lines[1].failure.startswith("x")


def test_a_run_is_told_in_the_ledger_with_hashes_that_fit_and_no_payloads(shell):
    arguments = ("--competition-shape", "three_way_challenge", "--min-free-gb", "0")
    shell.ok("compete", "--task", "Improve it", "--output", "runs/a", *arguments)
    session = shell.session()
    assert (session["protocol"], session["state"], session["turns"]) == ("compete", "done", 7)
    assert session["result"]["SELECTED"] == (shell.top / "runs" / "a" / "best_run.txt").read_text().strip()
    assert session["result"]["OUTPUT"] == "runs/a"
    lines = [
        line for block in shell.log() if block["tag"] == "STAGE" for line in stage_of(block["body"]).lines
    ]
    assert len(lines) == 18
    for line in lines:
        data = (shell.top / "runs" / "a" / line.path).read_bytes()
        assert hashlib.sha256(data).hexdigest() == line.sha256
    assert "The result of run_a" not in shell.ledger.read_text()
    shell.ok("replay")


def test_a_run_in_which_all_fail_ends_failed(shell):
    shell.fails(
        3,
        "compete",
        "--task",
        "x",
        "--output",
        "a",
        "--min-free-gb",
        "0",
        "--runner",
        "command",
        "--command",
        "false",
    )
    assert shell.session()["state"] == "failed"
    assert "proposal: exit code 1" in json.dumps(shell.session()["result"])


def test_a_run_that_was_resumed_is_told_once(shell):
    once = (
        "test -e ../../go || { touch ../../go; kill -9 $PPID; sleep 30; }; echo selected_candidate_id: run_b"
    )
    arguments = (
        "compete",
        "--task",
        "x",
        "--output",
        "a",
        "--competition-shape",
        "three_way_challenge",
        "--min-free-gb",
        "0",
    )
    assert shell.run(*arguments, "--jobs", "1", "--runner", "command", "--command", once).returncode == -9
    shell.ok("compete", "--resume", "--output", "a", "--jobs", "1")
    assert [block["tag"] for block in shell.log()].count("STAGE") == 6
    assert shell.session()["state"] == "done"
    assert len(shell.status()["sessions"]) == 1


def test_an_unknown_runner_of_a_run_is_named(shell):
    assert "no agent 'ZZ'" in shell.fails(
        4, "compete", "--task", "x", "--output", "a", "--min-free-gb", "0", "--as", "ZZ"
    )


AGENT = """\
import json, re, subprocess, sys
moot, name = [sys.executable, "-m", "moot"], sys.argv[1]
from moot.agents.compete.mock import answer
while True:
    waited = subprocess.run([*moot, "wait", "--as", name, "--json", "--timeout", "30"], capture_output=True)
    if waited.returncode:
        break
    message = json.loads(waited.stdout)["message"]
    errand = message and re.search("Read (.*), write your answer to (.*),\\n? *then", message["body"])
    if errand is None:
        continue
    open(errand[2], "w").write(answer(open(errand[1]).read()))
    subprocess.run([*moot, "ack", "--as", name, message["id"]], capture_output=True, check=True)
"""


def test_agents_of_the_roster_do_the_errands_that_the_bus_brings(shell):
    shell.ok("agents", "add", "AG")
    (shell.top / "agent.py").write_text(AGENT)
    agents = [
        subprocess.Popen([sys.executable, "agent.py", name], cwd=shell.top, env=shell.env)
        for name in ("CC", "CX", "GM", "AG")
    ]
    try:
        shell.ok("compete", "--task", "Improve it", "--output", "a", "--competition-shape", "three_way_challenge",
                 "--min-free-gb", "0", "--runner", "agents", "--agents", "CC,CX,GM", "--verifier-agent", "AG",
                 "--timeout-s", "40")  # fmt: skip
    finally:
        for agent in agents:
            agent.kill()
            agent.wait()
    assert shell.session()["state"] == "done"
    assert (shell.top / "a" / "run_b" / "result.md").read_text().startswith("# Improve it")
    assert "verifier pass" in (shell.top / "a" / "summary.md").read_text()


@pytest.mark.parametrize(
    ("more", "code", "says"),
    [
        (("--agents", "CC,CX"), 2, "names 2 for 3 candidates"),
        (("--agents", "CC,CX,ZZ"), 4, "no agent 'ZZ'"),
        (("--agents", "CC,CX,GM"), 4, "no agent 'verifier'"),
    ],
)
def test_agents_that_are_not_in_the_roster_are_named(shell, more, code, says):
    arguments = ("compete", "--task", "x", "--output", "a", "--min-free-gb", "0", "--runner", "agents")
    assert says in shell.fails(code, *arguments, "--competition-shape", "three_way_challenge", *more)


def test_agents_that_do_not_answer_fail_with_the_reason(shell):
    plain = (
        "--task",
        "x",
        "--output",
        "a",
        "--min-free-gb",
        "0",
        "--competition-shape",
        "three_way_challenge",
    )
    agents = ("--runner", "agents", "--agents", "CC,CX,GM", "--verifier-agent", "CC", "--timeout-s", "1")
    shell.fails(3, "compete", *plain, *agents)
    assert "did not acknowledge" in (shell.top / "a" / "run_a" / "failure.md").read_text()
