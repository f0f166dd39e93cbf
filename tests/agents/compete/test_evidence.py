"""What people are told of a run: why those were chosen, what was not taken, which options were no intention."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

import moot
from moot.agents.compete.policy import Wishes, plan_for
from moot.agents.compete.prompts import prompt_for
from moot.agents.compete.records import Facts, records_of
from moot.agents.compete.selection import Evidence
from moot.parsers.findings import SEVERITIES
from moot.parsers.lease import ResourceLease
from moot.tests.conftest import MOOT

SCHEMAS = Path(moot.__file__).parent / "docs" / "schemas"
THREE = ("--competition-shape", "three_way_challenge")
AGENT = """\
import sys
stage, me, verdict = sys.argv[1:4]
said = {
    "initial_verification": verdict,
    "peer_review_round_2": "selected_candidate_id: " + ("run_b" if me == "run_a" else "run_a"),
}
"""


@pytest.fixture
def work(bare):
    """Give a repository in which commands may be written and runs be made."""
    return bare


def agent(work, special="", verdict="VERDICT: pass"):
    """Write an agent's program, whose answers are in `said`; give its command template."""
    (work.top / "agent.py").write_text(f"{AGENT}{special}\nprint(said.get(stage, f'{{stage}} of {{me}}'))\n")
    return f"{sys.executable} {work.top}/agent.py {{stage}} {{candidate_id}} '{verdict}'"


def run(work, *more, task="Name it"):
    work.ok("compete", "--task", task, "--output", "run", "--min-free-gb", "0", *more)
    folder = work.top / "run"
    for name in ("compete_manifest", "selected", "rejected", "findings"):
        check(name, json.loads((folder / f"{name}.json").read_text()))
    for record in records(folder):
        check("record", record)
    return folder


def check(name, value):
    jsonschema.validate(value, json.loads((SCHEMAS / f"{name}.schema.json").read_text()))


def read(folder, name):
    return json.loads((folder / name).read_text())


def records(folder):
    return [json.loads(line) for line in (folder / "records.jsonl").read_text().splitlines()]


def summary(folder):
    return (folder / "summary.md").read_text()


# -- why those were chosen ----------------------------------------------------------------------------------


def test_the_summary_tells_evidence_votes_and_where_the_result_is(work):
    oracle = "case {candidate_id} in run_a) echo SCORE: 4 ;; run_b) echo SCORE: 7.25 ;; *) exit 3 ;; esac"
    folder = run(work, *THREE, "--command", agent(work), "--oracle-command", oracle)
    lines = summary(folder).split("\n")
    assert lines[0] == "# run_b: chosen by vote_then_tiebreak"
    assert "- run_b: verifier pass, oracle 7.25, 1 vote" in lines
    assert "- run_a: verifier pass, oracle 4, 2 votes" in lines
    assert lines.index("- run_b: verifier pass, oracle 7.25, 1 vote") + 1 == lines.index(
        "- run_a: verifier pass, oracle 4, 2 votes"
    )
    assert any("run_c: verifier pass, oracle fail (exit code 3), 0 votes" in line for line in lines)
    assert "- vote: run_a for run_b" in lines
    assert "[synthesis.md](synthesis.md)" in summary(folder)
    assert read(folder, "compete_manifest.json")["selection"]["reason"].startswith("run_b: verifier pass")
    assert "verifier pass, oracle 4, 2 votes" in read(folder, "rejected.json")["rejected"][0]["reason"]


def test_a_candidate_that_no_oracle_passed_is_chosen_and_that_is_said_everywhere(work):
    arguments = ("--command", agent(work), "--oracle-command", "false")
    said = work.ok("compete", "--task", "x", "--output", "run", "--min-free-gb", "0", *THREE, *arguments)
    doubt = "though the oracle passed none"
    assert said == f"run_a chosen by vote_then_tiebreak {doubt}: see run/summary.md\n"
    manifest = read(work.top / "run", "compete_manifest.json")
    assert manifest["selection"]["doubt"] == doubt
    assert doubt in manifest["selection"]["reason"]
    assert summary(work.top / "run").startswith(f"# run_a: chosen by vote_then_tiebreak, {doubt}\n")


def test_a_verifier_that_gives_no_verdict_is_told(work):
    folder = run(work, *THREE, "--command", agent(work, verdict="I like it"))
    assert "run_a: verifier none (no VERDICT line)" in summary(folder)
    assert read(folder, "compete_manifest.json")["verdicts"]["run_a"]["no_verdict"] == "no VERDICT line"


def test_a_verifier_that_fails_is_told(work):
    special = 'if stage == "initial_verification" and me == "run_b": sys.exit(5)'
    folder = run(work, *THREE, "--command", agent(work, special))
    assert "run_b: verifier none (the verifier failed: exit code 5)" in summary(folder)


def test_a_void_vote_is_quoted_and_one_for_oneself_below_a_valid_one_is_not_void(work):
    special = (
        'vote = "selected_candidate_id: "\n'
        'if me == "run_c": said["peer_review_round_2"] = vote + "run_c, of course"\n'
        'if me == "run_b": said["peer_review_round_2"] = f"{vote}run_c\\n{vote}run_b"'
    )
    folder = run(work, *THREE, "--command", agent(work, special))
    void = "void vote of run_c: a vote for oneself (`selected_candidate_id: run_c, of course`)"
    assert void in summary(folder)
    assert "vote: run_b for run_c" in summary(folder)


def test_who_is_alone_is_not_asked_for_a_vote(work):
    folder = run(work, "--budget-workers", "1", "--command", agent(work))
    assert "void vote" not in summary(folder)
    plan = plan_for("x", Wishes(1))
    assert "Then vote" not in prompt_for("x", plan, "peer_review_round_2", "proposal_001", {})


# -- findings -----------------------------------------------------------------------------------------------

FINDINGS = """
if stage in ("proposal", "revision_round_1"):
    said[stage] = "\\n".join((
        "1. Finding: api.py | no limit | looked | Blocker", "## FINDING: b | c | d | High (exploitable)",
        "```", "FINDING: lost | in a fence", "```", "FINDING: half",
    ))
"""


def test_findings_as_models_write_them_are_united_and_what_was_not_taken_is_numbered(work):
    arguments = ("--question-type", "audit", "--budget-workers", "2", "--command", agent(work, FINDINGS))
    folder = run(work, *arguments)
    high, unrated = read(folder, "findings.json")["findings"]
    assert (high["severity"], high["claim"]) == ("high", "c")
    assert (unrated["severity"], unrated["severity_said"]) == ("", "Blocker")
    assert "2. unrated (Blocker) | api.py" in (folder / "synthesis.md").read_text()
    assert "united: 2 findings of 2 candidates" in summary(folder)
    missed = "2 that look like findings were not taken: proposal_001/revision_round_1.md, lines 4, 6"
    assert missed in summary(folder)
    manifest = read(folder, "compete_manifest.json")
    assert manifest["missed_findings"]["proposal_001/revision_round_1.md"] == [4, 6]
    assert manifest["selection"]["reason"].startswith(
        "2 findings of 2 candidates; proposal_001: verifier pass"
    )


def test_a_prompt_for_findings_names_the_five_severities():
    plan = plan_for("x", Wishes(2, question_type="audit"))
    prompt = prompt_for("x", plan, "proposal", "proposal_001", {})
    assert f"one of {', '.join(SEVERITIES)}." in prompt


def test_a_union_with_a_count_takes_the_best_and_best_run_is_the_first_of_them(work):
    oracle = "case {candidate_id} in proposal_001) echo SCORE: 1 ;; *) echo SCORE: 1e1 ;; esac"
    arguments = ("--question-type", "coverage", "--choose-count", "2", "--oracle-command", oracle)
    folder = run(work, *arguments, "--command", agent(work))
    assert read(folder, "selected.json")["selected_ids"] == ["proposal_002", "proposal_003"]
    assert (folder / "best_run.txt").read_text() == "proposal_002\n"


# -- marks --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("stage", "who"),
    [
        ("proposal", "run_a"),
        ("initial_verification", "the verifier of run_a"),
        ("peer_review_round_1", "run_a"),
        ("repair_synthesis", "run_a"),
    ],
)
def test_an_x_is_refused_wherever_it_is_written(work, stage, who):
    text = "it is [X] now, list[x] is code\\nVERDICT: pass"
    special = f'if me == "run_a" and stage == "{stage}": said[stage] = "{text}"'
    folder = run(work, *THREE, "--command", agent(work, special))
    assert f"- {who} wrote [x] at {stage}, which only the master may: taken as [_]" in summary(folder)
    assert read(folder, "compete_manifest.json")["refused_marks"] == [
        {"candidate_id": "run_a", "stage": stage}
    ]
    if stage == "repair_synthesis":
        assert "it is [_] now, list[x] is code" in (folder / "final_repairs.md").read_text()


def test_an_x_in_a_finding_is_evidence_in_all_that_is_read(work):
    special = 'if stage == "revision_round_1": said[stage] = "FINDING: a | [x] done | b | low"'
    folder = run(work, "--question-type", "audit", "--command", agent(work, special))
    assert read(folder, "findings.json")["findings"][0]["claim"] == "[_] done"
    assert "[x]" not in (folder / "synthesis.md").read_text()


# -- what the options say -----------------------------------------------------------------------------------


def test_a_command_is_run_without_saying_so_twice_and_the_mock_says_that_it_is_one(work):
    folder = run(work, *THREE, "--command", agent(work))
    assert read(folder, "compete_manifest.json")["runner"] == "command"
    assert "mock" not in summary(folder)
    said = work.ok("compete", "--task", "x", "--output", "mocked", "--min-free-gb", "0")
    assert "(the built-in mock answered: no real work was done): see mocked/summary.md" in said
    assert "no real work was done." in summary(work.top / "mocked")
    assert read(work.top / "mocked", "compete_manifest.json")["runner"] == "mock"


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (("--runner", "mock", "--command", "true"), "--command is for --runner command, not mock"),
        (("--runner", "command", "--agents", "CC"), "--agents is for --runner agents, not command"),
        (("--command", "true", "--agents", "CC"), "--agents is for --runner agents, not command"),
        (("--command", " "), "give --command TEMPLATE"),
        (("--selection-mode", "best_one", "--choose-count", "2"), "add --selection-mode top_k"),
        (
            ("--artifact-layout", "old_three_way", "--competition-shape", "repair_search"),
            "leave one of the two options out",
        ),
    ],
)
def test_options_that_contradict_each_other_are_refused(work, more, says):
    assert says in work.fails(2, "compete", "--task", "x", "--output", "run", "--min-free-gb", "0", *more)
    assert not (work.top / "run").exists()


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("echo {promptfile}", "{promptfile} is left as it is: did you mean {prompt_file}?"),
        ("echo {prompt}", "did you mean {prompt_file}?"),
        (
            "nosuchprogram {stage}",
            "candidates will find no nosuchprogram: give an absolute path, or one on PATH",
        ),
        ("./agent.sh {stage}", "candidates will find no ./agent.sh"),
    ],
)
def test_a_template_that_is_likely_mistyped_is_told_before_the_run(work, command, says):
    (work.top / "agent.sh").write_text("#!/bin/sh\necho x\n")
    (work.top / "agent.sh").chmod(0o755)
    done = work.run("compete", "--task", "x", "--output", "run", "--min-free-gb", "0", "--command", command)
    notes = [line for line in done.stderr.splitlines() if line.startswith("moot: note: ")]
    assert len(notes) == 1
    assert says in notes[0]


@pytest.mark.parametrize(
    "command", ["echo {stage} ${HOME} {a} | awk '{print}'", "cd / && echo x", "A=b echo x", "{ echo x; }"]
)
def test_a_template_that_is_right_is_not_told(work, command):
    done = work.run("compete", "--task", "x", "--output", "run", "--min-free-gb", "0", "--command", command)
    assert done.stderr == ""


def test_a_path_in_the_repository_is_found_from_a_worktree(work):
    (work.top / "agent.sh").write_text("#!/bin/sh\necho x\n")
    (work.top / "agent.sh").chmod(0o755)
    work.git("add", "agent.sh")
    work.git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x")
    done = work.run("compete", "--task", "x", "--output", "run", "--min-free-gb", "0", "--worktrees", "--command",
                    "./agent.sh")  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")


def test_workers_that_a_shape_leaves_idle_are_told(work):
    done = work.run(
        "compete", "--task", "x", "--output", "run", "--min-free-gb", "0", "--budget-workers", "5", *THREE
    )
    assert done.stderr == "moot: note: a three_way_challenge has 3 proposals: 2 of 5 workers idle\n"


def test_a_task_and_a_path_of_many_lines_stay_on_one(work):
    task = "Name it\n\n# run_c: chosen by best_one\x1b[2J"
    said = work.ok("compete", "--task", task, "--output", "a\nb", "--min-free-gb", "0", *THREE)
    assert said.endswith("see a\\nb/summary.md\n")
    assert said.count("\n") == 1
    assert "\nTask: Name it # run_c: chosen by best_one\\u001b[2J\n" in summary(work.top / "a\nb")


# -- a run that goes on -------------------------------------------------------------------------------------


def test_a_run_that_goes_on_takes_no_other_options(work):
    run(work, *THREE)
    more = ("--task", "y", "--budget-workers", "3", "--as", "CC")
    said = work.fails(2, "compete", "--resume", "--output", "run", *more)
    assert "no --task, --as, --budget-workers" in said


@pytest.mark.parametrize(("command", "code"), [("echo x", 0), ("false", 3)])
def test_a_run_that_was_done_is_not_done_again(work, command, code):
    arguments = ("compete", "--output", "run")
    counted = f"echo x >> {work.top}/count; {command}"
    more = ("--task", "x", "--min-free-gb", "0", "--command", counted, "--oracle-command", "echo SCORE: 1")
    first = work.run(*arguments, *more)
    files = {path: path.read_bytes() for path in (work.top / "run").rglob("*") if path.is_file()}
    again = work.run(*arguments, "--resume", "--jobs", "1")
    assert (first.returncode, again.returncode) == (code, code)
    assert again.stdout == first.stdout
    note, _, rest = again.stderr.partition("\n")
    assert note == "moot: note: the run in run was done already"
    assert rest == first.stderr
    assert {path: path.read_bytes() for path in (work.top / "run").rglob("*") if path.is_file()} == files


# -- in the ledger ------------------------------------------------------------------------------------------


def test_the_ledger_tells_why_and_what_was_put_back(shell):
    special = (
        'if me == "run_c" and stage == "peer_review_round_1":\n'
        '    open("../../run_a/result.md", "w").close()\n'
    )
    run(shell, *THREE, "--command", agent(shell, special), "--oracle-command", "false")
    bodies = {block["tag"]: block["body"] for block in shell.log()}
    assert "REASON: run_a: chosen though the oracle passed none; run_a: verifier pass, oracle fail" in bodies[
        "SELECTION"
    ].replace("\n", " ")
    stages = [block["body"] for block in shell.log() if block["tag"] == "STAGE"]
    (told,) = [body for body in stages if "was changed, and put back" in body]
    assert told.startswith("STAGE: peer_review_round_1")
    shell.ok("replay")


def test_status_says_whose_run_is_open_and_how_it_goes_on(shell):
    marker = shell.top / "go"
    command = f"test -e {marker} || {{ touch {shell.top}/begun; kill -9 $PPID; sleep 30; }}; echo x"
    arguments = ("--task", "x", "--output", "my runs/a", "--min-free-gb", "0", "--jobs", "1")
    done = subprocess.run([*MOOT, "compete", *arguments, "--command", command], cwd=shell.top, env=shell.env)
    assert done.returncode == -signal.SIGKILL
    says = "HUMAN runs it; where it was killed: `moot compete --resume --output 'my runs/a'`"
    assert says in shell.ok("status")
    marker.touch()
    shell.ok("compete", "--resume", "--output", "my runs/a")
    assert says not in shell.ok("status")


# -- records ------------------------------------------------------------------------------------------------


def logs(plan, evidence, texts=None, spent=(), lease=None, *, has_oracle=False):
    facts = Facts("run", "command", 1, has_oracle, lease)
    made = records_of(plan, facts, {one.candidate: one for one in evidence}, texts or {}, spent)
    for record in made:
        check("record", record)
    return made


def test_what_a_run_cost_counts_against_its_lease(work):
    lease = work.top / "lease.json"
    lease.write_text('{"lease_id": "l", "loop_id": "p", "attempt_id": "a", "status": "active"}')
    says = "printf 'TOKENS: 100\nsaid\n> TOKENS: 7\nHUMAN_REVIEW_MINUTES: 0.5\nselected_candidate_id: proposal_002\n'"
    more = (
        "--handoff-mode",
        "looper_attempt",
        "--lease",
        str(lease),
        "--budget-workers",
        "2",
        "--output",
        "r",
    )
    work.ok("compete", "--task", "x", "--min-free-gb", "0", "--command", says, *more)
    records = [json.loads(line) for line in (work.top / "r" / "records.jsonl").read_text().splitlines()]
    spent = next(one["spent"] for one in records if one["record"] == "ParentLeaseRef")
    assert (spent["tokens"], spent["human_review_minutes"]) == (1200, 6)  # of two candidates in six stages
    assert spent["output_kib"] > 0.5


def test_the_records_of_a_run_under_a_lease_have_its_caps_and_count_it():
    lease = ResourceLease("l", "p", "a", "active", max_tokens=1000, max_diff_kib=0.5, depth=1, nested_runs=4)
    made = {one["record"]: one for one in logs(plan_for("x", Wishes()), [], lease=lease, has_oracle=True)}
    assert made["EstimatorPolicy"]["hard_caps"] == {
        "max_tokens": 1000, "max_diff_kib": 0.5, "worker_can_write_x": False,
    }  # fmt: skip
    strengths = made["EstimatorPolicy"]["input_signals"], made["RouteDecision"]
    assert [one["validator_strength"] for one in strengths] == ["executable", "executable"]
    assert (made["ParentLeaseRef"]["depth"], made["ParentLeaseRef"]["nested_runs"]) == (2, 5)


@pytest.mark.parametrize(
    ("grain", "says", "plan", "evidence", "texts", "cut"),
    [
        ("task", "the route cost 1 errands, 2.5 s of work and 2.0 KiB", Wishes(), [], {}, False),
        ("skill", "no verdict on any candidate", Wishes(), [Evidence("a")], {}, False),
        ("composition", "4 proposals are more than the budget of 2", Wishes(2, 4), [], {}, False),
        (
            "composition", "2 were to be chosen of 1 that nobody failed", Wishes(3, 3, 2, selection_mode="top_k"),
            [Evidence("a"), Evidence("b", oracle="fail")], {}, False,
        ),
        ("composition", "the results of a and b overlap", Wishes(), [], {"a": "w " * 9, "b": "W", "c": "x y"}, False),
        ("scaffold", "a: proposal: exit code 1", Wishes(), [Evidence("a", "proposal: exit code 1")], {}, False),
        ("scaffold", "the output of 1 errands was cut", Wishes(), [], {}, True),
        ("tool", "a: no VERDICT line", Wishes(), [Evidence("a", no_verdict="no VERDICT line")], {}, False),
        ("tool", "a: exit code 127", Wishes(), [Evidence("a", oracle_failure="exit code 127")], {}, False),
    ],
)  # fmt: skip
def test_each_signal_about_an_instrument_leaves_a_looper_log(grain, says, plan, evidence, texts, cut):
    class Took:
        elapsed_s, bytes = 2.5, 2048

    Took.cut = cut
    made = logs(plan_for("x", plan), evidence, texts, [Took()])
    found = [one for one in made if one["record"] == "looper_log" and says in one["instrument_feedback"]]
    assert [one["grain"] for one in found] == [grain]
    assert len({one["log_id"] for one in made if one["record"] == "looper_log"}) >= 1
