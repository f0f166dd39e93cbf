"""Whole debates, with real commands: each ends with the right verdicts, votes and report."""

import json
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

import moot
from moot.agents.debate.engine import read_debate
from moot.agents.debate.report import report_of
from moot.agents.driving import current
from moot.agents.reader import Reader
from moot.workspace.folder import open_folder

AGREE = {"alpha": "AGREE", "beta": "AGREE", "gamma": "AGREE"}


def test_agreement_in_round_two(table):
    table.seat("alpha", "beta", "gamma")
    said = table.debate()
    assert (said["consensus"], said["round"], table.verdicts(said, 2)) == (True, 2, AGREE)
    report = (table.folder(said) / "report.md").read_text()
    assert report.startswith("## Consensus Reached (Round 2/3)\n")
    assert (
        "**alpha/m/1:x (p0)**\n\n- Round 1: alpha would keep it.\n- Round 2 [AGREE]: alpha in round 2\n"
        in report
    )
    assert "### Consensus Votes\n\n- alpha/m/1:x (p0): AGREE\n" in report
    assert table.shell.ok("verify").endswith("chain whole\n")


def test_no_agreement_in_three_rounds(table):
    table.seat("alpha", "beta", "gamma")
    for number in (2, 3):
        table.says("beta", number, verdict="PARTIAL: the folder / the number of files")
    said = table.debate()
    assert (said["consensus"], said["round"], said["ending"]) == (False, 3, "rounds")
    assert table.verdicts(said, 3) == {**AGREE, "beta": "PARTIAL"}
    accepted = "accepted by alpha/m/1:x (p0), gamma/m/1:x (p2)"
    assert said["disagreements"] == [
        f"beta/m/1:x (p1) vs the synthesis of round 2 ({accepted}): the number of files"
    ]
    report = (table.folder(said) / "report.md").read_text()
    assert report.startswith("## Debate Complete — No Full Consensus (Round 3/3)\n")
    assert "- beta/m/1:x (p1): PARTIAL — accepts: the folder; contests: the number of files\n" in report
    assert "| beta/m/1:x (p1) | position | PARTIAL | PARTIAL |\n" in report
    assert "The last round is over, and not all who answered agree. Nobody moderated" in report


def test_one_that_times_out_is_carried_forward(table):
    table.timeouts["gamma"] = 1500
    table.seat("alpha", "beta", "gamma")
    table.does("gamma", 2, "sleep 60")
    said = table.debate()
    assert (said["consensus"], table.verdicts(said, 2)) == (True, {**AGREE, "gamma": "ABSENT"})
    assert said["participants"][2]["rounds"][1]["reason"] == "time-out after 1.5 s"
    recap = next(one["body"] for one in reversed(table.shell.log()) if one["tag"] == "RECAP")
    assert "### gamma/m/1:x (p2) — NO RESPONSE (time-out after 1.5 s)\n\n*Carried forward" in recap
    assert "gamma would keep it." in recap


def test_one_that_prints_the_prompt_before_its_verdict(table):
    table.seat("alpha", "beta", "gamma")
    table.does("beta", 2, 'printf "%s\\n\\nCRITIQUES:\\nVERDICT: DISAGREE: too many\\n" "$prompt"')
    table.does("gamma", 2, 'printf "%s\\n" "$prompt" | sed "s/^/  /"; echo "VERDICT: PARTIAL: a / b"')
    said = table.debate("--rounds", "2")
    assert table.verdicts(said, 2) == {"alpha": "AGREE", "beta": "DISAGREE", "gamma": "PARTIAL"}
    assert said["participants"][1]["rounds"][1]["reason"] == "too many"


def test_one_that_answers_disagree_and_nothing_else(table):
    table.seat("alpha", "beta")
    table.does("beta", 2, "echo 'DISAGREE: it is neither'")
    said = table.debate("--rounds", "2")
    assert table.verdicts(said, 2) == {"alpha": "AGREE", "beta": "DISAGREE"}


def test_two_megabytes_of_progress_bars(table):
    table.seat("alpha", "beta")
    bars = (
        f"{sys.executable} -c \"import sys; [sys.stdout.write('\\x1b[2K\\x1b[1G\\x1b[32m' + '#' * (n % 80) + '\\r')"
        ' for n in range(40000)]"\n'
    )
    table.does("beta", 1, f"{bars}printf '\\033[1mPOSITION:\\033[0m Split it.\\n'")
    table.does("beta", 2, f"printf '\\033]0;busy\\007'; {bars}printf 'VERDICT: \\033[1mAGREE\\033[0m\\n'")
    said = table.debate()
    assert said["participants"][1]["rounds"][0]["position"] == "Split it."
    assert table.verdicts(said, 2) == {"alpha": "AGREE", "beta": "AGREE"}
    assert table.shell.ledger.stat().st_size < 50_000


def test_a_round_without_any_external_answer_ends_it(table):
    table.seat("alpha", "beta", "gamma")
    for name in ("beta", "gamma"):
        table.does(name, 1, "echo 'no credit' >&2; exit 3")
    said = table.debate("--moderator", "p0", code=3)
    assert (said["state"], said["ending"]) == ("failed", None)
    assert {one["rounds"][0]["reason"] for one in said["participants"][1:]} == {"exit code 3: no credit"}
    reason = table.shell.session()["result"]["REASON"]
    assert reason.startswith("no quorum in round 1: nobody but the moderator answered (")
    assert "p1: exit code 3: no credit" in reason


def test_all_absent_says_so(table):
    table.seat("alpha", "beta")
    for name in ("alpha", "beta"):
        table.does(name, 2, ":")
    done = table.shell.run("debate", "One file or many?")
    assert done.returncode == 3
    assert "no quorum in round 2: nobody answered" in done.stderr


def test_everybody_is_asked_at_the_same_time(table, tmp_path):
    """Each waits until the others have begun too: one after the other, nobody would ever answer."""
    table.seat("alpha", "beta", "gamma")
    begun = f'$(ls "{tmp_path}" | grep -c -e "-$round$")'
    mine = f'touch "{tmp_path}/$(basename "$0")-$round"'
    together = f"{mine}; until [ {begun} = 3 ]; do sleep 0.02; done"
    for name in AGREE:
        table.says(name, 1, before=together)
        table.says(name, 2, verdict="AGREE", before=together)
    assert table.verdicts(table.debate(), 2) == AGREE


def test_who_gives_no_verdict_is_asked_once_more(table):
    table.seat("alpha", "beta", "gamma")
    table.says("beta", 2, "UPDATED POSITION: I have thought about it.")
    table.says("beta", "again", "VERDICT: AGREE")
    table.says("gamma", 2, "Well.")
    table.says("gamma", "again", "Well, well.")
    said = table.debate("--rounds", "2")
    assert table.verdicts(said, 2) == {"alpha": "AGREE", "beta": "AGREE", "gamma": "UNPARSED"}
    assert said["participants"][1]["rounds"][1]["position"] == "I have thought about it."
    assert said["consensus"] is False


def test_it_ends_early_where_nothing_moves(table):
    table.seat("alpha", "beta", max_rounds=9)
    script = (table.bin / "beta").read_text()
    (table.bin / "beta").write_text(script)
    for name, verdict in (("alpha", "AGREE"), ("beta", "DISAGREE: no")):
        for number in (2, 3, 4):
            table.says(name, number, f"UPDATED POSITION: {name} stays.\nVERDICT: {verdict}")
    said = table.debate()
    assert (said["ending"], said["round"], said["max_rounds"]) == ("still", 4, 9)


def test_a_moderator_writes_what_the_others_vote_on(table):
    table.seat("alpha", "beta")
    table.says("alpha", "moderate-1", "Both are right about the size.")
    table.says("alpha", "moderate-2", "Both are right, still.")
    table.does("beta", 2, 'echo "$prompt" > "$LINES_OF/seen"; echo "VERDICT: AGREE"')
    said = table.debate("--moderator", "p0")
    assert "> Both are right about the size." in (table.lines / "seen").read_text()
    assert said["synthesis"] == "Both are right about the size."
    assert (said["moderator"], said["consensus"]) == ("p0", True)


def test_a_moderator_that_fails_is_replaced_by_a_list(table):
    table.seat("alpha", "beta")
    for number in (1, 2):
        table.does("alpha", f"moderate-{number}", "exit 1")
    said = table.debate("--moderator", "p0")
    assert said["synthesis"].startswith(
        "alpha/m/1:x (p0) gave no synthesis (exit code 1), so this is a list."
    )
    assert said["consensus"] is True


def test_participants_of_an_anonymous_debate_see_numbers(table):
    table.seat("alpha", "beta", "gamma")
    for name in AGREE:
        for number in (1, 2, 3):
            table.says(
                name, number, f"POSITION: as ever ({number})\nUPDATED POSITION: so\nVERDICT: DISAGREE: no"
            )
    said = table.debate("--anonymous")
    prompts = [path.read_text() for path in (table.folder(said) / "prompts").iterdir()]
    assert len(prompts) == 9
    for prompt in prompts:
        assert not re.search(r"alpha|beta|gamma|\bp[012]\b", prompt), prompt
    assert sum("Position 3" in prompt for prompt in prompts) == 7
    assert "alpha" in next(one["body"] for one in table.shell.log() if one["tag"] == "RECAP")


def test_round_one_is_sealed_until_all_are_in(table):
    table.seat("alpha", "beta")
    table.says("alpha", 1, "POSITION: the hidden word is plover")
    is_sealed = f'until [ $(grep -c "Sealed:" "{table.shell.ledger}") = 1 ]; do sleep 0.02; done'
    elsewhere = f'grep -r plover "{table.shell.comms}" --exclude-dir=.state --exclude-dir=prompts'
    table.says("beta", 1, before=f'{is_sealed}\n{elsewhere} && echo FOUND > "$LINES_OF/found"')
    said = table.debate()
    assert not (table.lines / "found").exists()
    assert said["participants"][0]["rounds"][0]["position"] == "the hidden word is plover"


def test_with_more_than_five_the_most_divergent_are_shown(table):
    names = ("alpha", "beta", "gamma", "delta", "eps", "zeta", "eta")
    table.seat(*names)
    for name in names[:4]:
        table.says(name, 1, "POSITION: keep one file and nothing else")
    table.says("eta", 1, "POSITION: burn all of it tomorrow")
    table.says("zeta", 2, verdict="DISAGREE: no")
    said = table.debate("--rounds", "3")
    prompt = (table.folder(said) / "prompts" / "p0-rebuttals-2.md").read_text()
    shown = re.findall(r"(?m)^(\w+)/m/1:x \(p\d\):$", prompt)
    assert len(shown) == 4
    assert {"eta", "eps", "zeta"} <= set(shown)
    last = (table.folder(said) / "prompts" / "p0-rebuttals-3.md").read_text()
    assert re.findall(r"(?m)^(\w+)/m/1:x \(p\d\):$", last)[0] == "zeta"
    assert "These agreed last round and are not shown:" in last


# -- the record ---------------------------------------------------------------------------------------


@pytest.fixture
def held(table):
    """A debate with everything in it: a PARTIAL, an absence, a concession, a change to the repository."""
    table.seat("alpha", "beta", "gamma")
    table.says("alpha", 2, "- CONCEDED: p1 | the size\nVERDICT: PARTIAL: a / b")
    table.does("gamma", 2, "exit 1")
    table.does("beta", 3, f'echo more >> "{table.shell.top}/new, file.txt"; echo "VERDICT: AGREE"')
    return table, table.debate()


def test_the_same_session_replayed_gives_the_same_verdicts_and_report(held):
    table, said = held
    report = (table.folder(said) / "report.md").read_text()
    rulings = table.shell.ok("replay")
    shutil.rmtree(table.shell.comms / ".state")
    assert table.shell.ok("debate", "--report", said["session"]) == report
    assert json.loads(table.shell.ok("debate", "--report", said["session"], "--json")) == said
    assert table.shell.ok("replay") == rulings
    reader = Reader(open_folder(table.shell.comms))
    assert report_of(read_debate(reader, current(reader, said["session"]))) == report
    assert json.loads((table.folder(said) / "report.json").read_text()) == said


def test_what_scripts_read_fits_its_schema(held):
    _, said = held
    schema = Path(moot.__file__).parent / "docs" / "schemas" / "debate_report.schema.json"
    jsonschema.validate(said, json.loads(schema.read_text()))
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**said, "ending": "tired"}, json.loads(schema.read_text()))


def test_a_change_to_the_repository_is_reported_with_who_was_running(held):
    table, said = held
    assert said["changes"] == [{"round": 3, "files": ["new, file.txt"], "running": ["p0", "p1", "p2"]}]
    report = (table.folder(said) / "report.md").read_text()
    assert '**Changed while p0, p1, p2 ran:** "new, file.txt"' in report


def test_changes_of_a_moderator_and_in_a_commit_are_named(table):
    table.seat("alpha", "beta", max_rounds=1)
    table.shell.git("config", "user.email", "a@b.c")
    table.shell.git("config", "user.name", "a")
    commit = "echo x > new.txt; git add new.txt; git commit -qm x"
    table.does("beta", 1, f'cd "{table.shell.top}"; {commit}; echo "POSITION: y"')
    table.does("alpha", "moderate-1", f'echo x > "{table.shell.top}/late.txt"; echo synthesis')
    said = table.debate("--moderator", "p0")
    assert said["changes"] == [
        {"round": 1, "files": [".git/HEAD", "new.txt"], "running": ["p0", "p1"]},
        {"round": 1, "files": ["late.txt"], "running": ["p0"]},
    ]
    assert json.loads(table.shell.ok("debate", "--report", said["session"], "--json")) == said


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_change_in_a_round_that_was_stopped_is_reported(table, tmp_path, number):
    table.seat("alpha", "beta", max_rounds=2)
    evil = (
        f'touch "{table.shell.top}/evil" "{tmp_path}/done"\nuntil [ -e "{tmp_path}/go" ]; do sleep 0.02; done'
    )
    table.says("beta", 2, verdict="AGREE", before=evil)
    process = table.shell.spawn("debate", "One file or many?", "--json")
    table.shell.until((tmp_path / "done").exists)
    process.send_signal(number)
    process.communicate(timeout=30)
    (tmp_path / "go").touch()
    said = json.loads(table.shell.ok("debate", "--resume", "--json"))
    assert [one["files"] for one in said["changes"]] == [["evil"]]
    assert "p1" in said["changes"][0]["running"]


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="it takes /proc")
def test_a_child_in_a_session_of_its_own_does_not_outlive_its_answer(table, tmp_path):
    table.seat("alpha", max_rounds=1)
    child = f"sh -c 'echo $$ > \"{tmp_path}/pids\"; exec sleep 619'"
    until = f'until [ -s "{tmp_path}/pids" ]; do sleep 0.02; done'
    table.says("alpha", 1, before=f"setsid -f {child} > /dev/null 2>&1\n{until}")
    assert table.debate()["state"] == "done"
    assert gone((tmp_path / "pids").read_text().split())


def test_what_was_conceded_and_settled_is_in_the_report(held):
    table, said = held
    report = (table.folder(said) / "report.md").read_text()
    assert "- Key Concessions: the size (to beta/m/1:x (p1))\n" in report
    assert "- b: resolved in Round 3 — alpha/m/1:x (p0) conceded to the synthesis\n" in report


def test_the_report_stands_in_the_ledger_and_the_ledger_is_whole(held):
    table, said = held
    last = [one for one in table.shell.log() if one["tag"] == "REPORT"]
    assert last[0]["body"].rstrip() == (table.folder(said) / "report.md").read_text().rstrip()
    assert table.shell.ok("verify").endswith("chain whole\n")


# -- stopped and gone on with -------------------------------------------------------------------------


def waits(table, tmp_path, name="beta", number=2):
    """Let somebody leave its process id and wait for a file that says that it may go on."""
    until = f'until [ -e "{tmp_path}/go" ]; do sleep 0.02; done'
    table.says(name, number, verdict="AGREE", before=f'echo $$ >> "{tmp_path}/pids"\n{until}')


def gone(pids):
    return not any(
        os.path.exists(f"/proc/{pid}") and "Z" not in Path(f"/proc/{pid}/stat").read_text().split()[2]
        for pid in pids
    )


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_debate_that_is_stopped_leaves_no_process_and_goes_on(table, tmp_path, number):
    table.seat("alpha", "beta", "gamma")
    waits(table, tmp_path)
    process = table.shell.spawn("debate", "One file or many?", "--json")
    table.shell.until(
        lambda: table.shell.ledger.read_text().count("says AGREE") == 2 and (tmp_path / "pids").exists()
    )
    process.send_signal(number)
    _, complaint = process.communicate(timeout=30)
    assert process.returncode in (130, -9)
    if number != signal.SIGKILL:
        session = table.shell.session()["id"]
        assert complaint == f"moot: stopped; it goes on with `moot debate --resume {session}`\n"
    table.shell.until(lambda: gone((tmp_path / "pids").read_text().split()))
    (tmp_path / "go").touch()
    for name in ("alpha", "gamma"):
        table.does(name, 2, "echo asked twice; exit 1")
    said = json.loads(table.shell.ok("debate", "--resume", "--json"))
    assert (said["consensus"], table.verdicts(said, 2)) == (True, AGREE)


def test_a_debate_is_held_by_one_process(table, tmp_path):
    table.seat("alpha", "beta")
    waits(table, tmp_path)
    process = table.shell.spawn("debate", "One file or many?", "--json")
    table.shell.until((tmp_path / "pids").exists)
    line = table.shell.fails(4, "debate", "--resume")
    assert "is held by another process" in line
    (tmp_path / "go").touch()
    process.communicate(timeout=30)
    assert process.returncode == 0
    assert "no debate is open" in table.shell.fails(4, "debate", "--resume")


# -- agents, humans, the terminal ---------------------------------------------------------------------


def settings(table, text):
    with (table.shell.comms / "moot.toml").open("a") as file:
        file.write(text)


def kinds(*seats, max_rounds=3):
    """Give the settings in which these debate: `kind name`."""
    tables = (
        f'[[debate.participants]]\nkind = "{kind}"\nname = "{name}"\n' for kind, name in map(str.split, seats)
    )
    return f"[debate]\nmax_rounds = {max_rounds}\n" + "".join(tables)


def test_an_agent_of_the_roster_takes_its_turns_itself(table):
    settings(table, kinds("agent CC", "mock ann"))
    process = table.shell.spawn("debate", "One file or many?", "--json")
    for text in (
        "POSITION: CC would keep it.",
        "UPDATED POSITION: unchanged\nVERDICT: AGREE",
        "VERDICT: AGREE",
    ):
        while True:
            got = json.loads(table.shell.ok("wait", "--as", "CC", "--timeout", "60", "--json"))
            if got["next"] or (got["session"] and got["session"]["state"] != "open"):
                break
        if not got["next"]:
            break
        assert "prompts/CC-" in got["next"][0]["meaning"]
        table.shell.ok("send", "--as", "CC", "--in", got["session"]["id"], "-", text=text)
    said, complaint = process.communicate(timeout=60)
    assert process.returncode == 0, complaint
    verdicts = {one["name"]: one["rounds"][-1]["verdict"] for one in json.loads(said)["participants"]}
    assert verdicts == {"CC": "AGREE", "ann": "AGREE"}


def test_a_human_answers_by_a_file_and_an_acknowledgement(table):
    settings(table, kinds("human eve", max_rounds=1))
    process = table.shell.spawn("debate", "One file or many?", "--json")
    mail = json.loads(table.shell.ok("wait", "--as", "HUMAN", "--timeout", "60", "--json"))["message"]
    prompt, answer = re.search(r"Read (\S+), write it to (\S+),", mail["body"]).groups()
    assert "One file or many?" in Path(prompt).read_text()
    Path(answer).write_text("POSITION: Ask the others first.\n")
    table.shell.ok("ack", "--as", "HUMAN", mail["id"])
    said, _ = process.communicate(timeout=60)
    assert json.loads(said)["participants"][0]["rounds"][0]["position"] == "Ask the others first."


def test_a_human_at_the_terminal_answers_in_an_editor_and_sees_the_round(table, tmp_path):
    settings(table, kinds("human eve", "mock ann", max_rounds=1))
    editor = tmp_path / "editor"
    editor.write_text(
        '#!/bin/sh\ngrep -q "One file or many" "$1" && sed -i "1s/.*/POSITION: From the editor./" "$1"\n'
    )
    editor.chmod(0o755)
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "moot", "debate", "One file or many?"], cwd=table.shell.top,
        env={**table.shell.env, "EDITOR": str(editor), "VISUAL": "", "TERM": "xterm", "COLUMNS": "100"},
        stdin=follower, stdout=follower, stderr=follower,
    )  # fmt: skip
    os.close(follower)
    screen = b""
    while True:
        try:
            chunk = os.read(leader, 65536)
        except OSError:
            break
        if not chunk:
            break
        screen += chunk
    os.close(leader)
    assert process.wait(timeout=30) == 0, screen.decode()
    shown = screen.decode()
    assert "Round 1 of 1" in shown
    assert "Verdicts" in shown
    assert "From the editor." in shown


def test_the_human_moderates(table):
    table.seat("alpha", "beta", max_rounds=1)
    process = table.shell.spawn("debate", "One file or many?", "--json", "--moderator", "HUMAN")
    table.shell.until(lambda: b"[SYNTHESIS]" in table.shell.ledger.read_bytes())
    table.shell.until(lambda: table.shell.session()["waiting_for"] == ["HUMAN"])
    table.shell.ok("send", "--as", "HUMAN", "--tag", "SYNTHESIS", "Both, and the smaller one first.")
    said, _ = process.communicate(timeout=60)
    assert json.loads(said)["synthesis"] == "Both, and the smaller one first."
