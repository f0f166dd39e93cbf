"""Runs with real commands that behave, hang, crash, shout, cheat and die: the run ends, and says why."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import jsonschema
import pytest

import moot
from moot.tests.conftest import MOOT

THREE_WAY = ("--competition-shape", "three_way_challenge", "--min-free-gb", "0")
TOP_LEVEL = {
    "classification.md", "verification.md", "selected.json", "rejected.json", "synthesis.md", "final_repairs.md",
    "records.jsonl", "compete_manifest.json", "summary.md", "best_run.txt",
}  # fmt: skip
AGENT = r"""
import os, re, sys
stage, me, out = sys.argv[1:4]
prompt = sys.stdin.read()
if stage == "peer_review_round_2":
    others = [name for name in ("run_a", "run_b", "run_c") if name != me]
    print("selected_candidate_id: " + (VOTES.get(me) or others[0]))
elif stage == "initial_verification":
    print("VERDICT: pass")
else:
    print(f"{stage} of {me}")
"""


@pytest.fixture
def work(bare):
    """Give a repository in which commands may be written and runs be made."""
    return bare


def agent(work, special="", votes=None):
    """Write an agent's program, with a special behaviour first; give its command template."""
    path = work.top / "agent program.py"  # a path with a space
    path.write_text(
        f"VOTES = {votes or {}}\n"
        + AGENT.replace("prompt = sys.stdin.read()\n", f"prompt = sys.stdin.read()\n{special}\n")
    )
    return f"'{sys.executable}' '{path}' {{stage}} {{candidate_id}} {{output_file}}"


def compete(work, command, *more, code=0):
    arguments = (
        "compete",
        "--task",
        "Name it",
        "--output",
        "run",
        *THREE_WAY,
        "--runner",
        "command",
        "--command",
        command,
        *more,
    )
    done = work.run(*arguments)
    assert done.returncode == code, (done.stdout, done.stderr)
    return work.top / "run"


def manifest(folder):
    return json.loads((folder / "compete_manifest.json").read_text())


def left_behind(word):
    done = subprocess.run(["ps", "-eo", "pid,args"], capture_output=True, text=True, check=True)
    return [line for line in done.stdout.splitlines() if word in line and "ps -eo" not in line]


@pytest.mark.parametrize(
    ("layout", "files"),
    [
        (
            "native",
            (
                "result",
                "verification",
                "peer_review_round_1",
                "revision_round_1",
                "peer_review_round_2",
                "repair_synthesis",
            ),
        ),
        (
            "old_three_way",
            (
                "result",
                "verification",
                "critique_round_1",
                "update_round_1",
                "critique_round_2",
                "final_repair",
            ),
        ),
    ],
)
def test_the_mock_run_leaves_the_files_of_its_layout_and_they_agree(work, layout, files):
    work.ok("compete", "--task", "Improve it", "--output", "run", *THREE_WAY, "--artifact-layout", layout)
    folder = work.top / "run"
    for name in ("run_a", "run_b", "run_c"):
        assert {path.stem for path in (folder / name).glob("*.md")} == set(files)
        assert (folder / name / "implementation").is_dir()
    assert {path.name for path in folder.iterdir()} >= TOP_LEVEL
    said = manifest(folder)
    best = (folder / "best_run.txt").read_text().strip()
    assert json.loads((folder / "selected.json").read_text()) == {"selected_ids": [best]}
    assert said["selection"]["selected_ids"] == [best]
    assert said["handoff"]["may_mark_x"] is False
    assert said["status"] == "selected"
    records = [json.loads(line) for line in (folder / "records.jsonl").read_text().splitlines()]
    assert [one["record"] for one in records][:2] == ["EstimatorPolicy", "RouteDecision"]


def test_a_coverage_run_unites_the_findings_of_all(work):
    union = (
        "--question-type",
        "coverage",
        "--selection-mode",
        "coverage_union",
        "--choose-count",
        "all-valid",
    )
    plain = ("--task", "Find the risks", "--output", "run", "--min-free-gb", "0", "--budget-workers", "4")
    work.ok("compete", *plain, *union)
    text = (work.top / "run" / "synthesis.md").read_text()
    assert "found by proposal_001, proposal_002" in text
    assert len(json.loads((work.top / "run" / "selected.json").read_text())["selected_ids"]) == 4


SPECIAL = {
    "exits": ('if me == "run_b" and stage == "proposal": sys.exit(1)', "proposal: exit code 1"),
    "exits late": (
        'if me == "run_b" and stage == "repair_synthesis": sys.exit(1)',
        "repair_synthesis: exit code 1",
    ),
    "silent": (
        'if me == "run_b" and stage == "revision_round_1": sys.exit(0)',
        "revision_round_1: it printed nothing",
    ),
    "hangs": ('import time\nif me == "run_b" and stage == "proposal": time.sleep(600)', "time-out after 2 s"),
    "ignores": (
        'import signal, time\nif me == "run_b" and stage == "proposal":\n'
        "    signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)",
        "time-out after 2 s",
    ),
    "child": (
        'import subprocess, time\nif me == "run_b" and stage == "proposal":\n'
        '    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(613)", out]); time.sleep(600)',
        "time-out after 2 s",
    ),
}


@pytest.mark.parametrize("kind", SPECIAL)
def test_a_candidate_that_fails_is_out_alone_and_nothing_of_it_is_left(work, kind):
    special, why = SPECIAL[kind]
    began = time.monotonic()
    folder = compete(work, agent(work, special), "--timeout-s", "2")
    assert time.monotonic() - began < 60
    assert why in (folder / "run_b" / "failure.md").read_text()
    assert why in (folder / "summary.md").read_text()
    assert (folder / "best_run.txt").read_text() == "run_a\n"
    assert not left_behind(str(work.top))


def test_where_all_fail_there_is_a_summary_and_no_best_run(work):
    folder = compete(work, "false", code=3)
    assert "No valid candidate" in (folder / "summary.md").read_text()
    assert not (folder / "best_run.txt").exists()
    assert manifest(folder)["status"] == "failed"


def test_votes_for_oneself_and_quoted_votes_do_not_count(work):
    quoting = "run_b\n> selected_candidate_id: run_c"
    command = agent(work, votes={"run_c": "run_c", "run_a": quoting, "run_b": "run_a"})
    folder = compete(work, command)
    assert "void vote of run_c: a vote for oneself" in (folder / "summary.md").read_text()
    assert {one["voter"]: one["choice"] for one in manifest(folder)["votes"]}["run_a"] == "run_b"


def test_a_result_that_another_candidate_empties_is_put_back_and_all_that_ran_are_named(work):
    special = (
        "import time\n"
        "def await_all(*names):\n"
        "    while not all(os.path.exists('../../../' + name) for name in names): time.sleep(0.01)\n"
        'if stage == "peer_review_round_1":\n'
        "    open('../../../' + me, 'w'); await_all('run_a', 'run_b', 'run_c')\n"
        '    if me == "run_c":\n'
        '        open(out.replace("run_c", "run_a").replace("peer_review_round_1", "result"), "w")\n'
        "        open('../../../emptied', 'w')\n"
        "    await_all('emptied')"
    )
    folder = compete(work, agent(work, special))
    assert (folder / "run_a" / "result.md").read_text() == "proposal of run_a\n"
    assert (
        "run_a/result.md was changed, and put back; then ran run_a, run_b, run_c"
        in (folder / "summary.md").read_text()
    )


def test_an_x_by_a_candidate_accepts_nothing(work):
    folder = compete(work, agent(work, 'if stage == "revision_round_1": print("- [x] all done")'))
    assert "wrote [x]" in (folder / "summary.md").read_text()
    assert "[x]" not in (folder / "synthesis.md").read_text()


def test_text_in_a_task_runs_nothing_and_other_braces_are_left_alone(work):
    command = "printf '%s' {candidate_id} '{not_ours}' ; cat > /dev/null"
    arguments = (
        "compete",
        "--task",
        "$(touch pwned) `touch pwned` {stage}",
        "--output",
        "a $(touch pwned) b",
        *THREE_WAY,
    )
    work.ok(*arguments, "--runner", "command", "--command", command)
    folder = work.top / "a $(touch pwned) b"
    assert (folder / "run_a" / "result.md").read_text() == "run_a{not_ours}"
    assert not list(work.top.rglob("pwned"))


@pytest.mark.parametrize("byte", ["x", "\\xff"])
def test_output_without_end_is_cut_and_takes_little_memory_and_disk(work, byte):
    (work.top / "shout.py").write_text(f"import os\nfor _ in range(1600): os.write(1, b'{byte}' * 65536)")
    code = "import resource, subprocess, sys; done = subprocess.run(sys.argv[1:]); "
    code += "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss); sys.exit(done.returncode)"
    arguments = ("compete", "--task", "Name it", "--output", "run", *THREE_WAY, "--max-output-mb", "20")
    command = f"'{sys.executable}' '{work.top}/shout.py'"
    done = subprocess.run(
        [sys.executable, "-c", code, *MOOT, *arguments, "--runner", "command", "--command", command],
        cwd=work.top, env=work.env, capture_output=True, text=True, timeout=100,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert int(done.stdout.split()[-1]) < 100 * 1024
    folder = work.top / "run"
    assert sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) < 25_000_000
    assert "output was cut: run_a/proposal" in (folder / "summary.md").read_text()
    assert "bytes were cut here" in (folder / "run_a" / "result.md").read_text()


def test_an_oracles_verdict_comes_before_votes_and_its_worst_score_counts(work):
    count = work.top / "count"
    oracle = f"grep -q run_c {{output_file}} && echo x >> '{count}' && echo SCORE: $(wc -l < '{count}')"
    folder = compete(work, agent(work), "--oracle-command", oracle)
    assert (folder / "best_run.txt").read_text() == "run_c\n"
    assert manifest(folder)["verdicts"]["run_c"]["score"] == 1.0
    assert manifest(folder)["verdicts"]["run_a"]["oracle"] == "fail"


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
@pytest.mark.parametrize("stage", ["proposal", "peer_review_round_2"])
def test_a_run_that_is_killed_leaves_no_process_and_resumes_to_the_same_selection(work, number, stage):
    marker = work.top / "go"
    wait = (
        f'import time\nif stage == "{stage}" and not os.path.exists({str(marker)!r}):\n'
        f'    open({str(work.top)!r} + "/" + me, "w"); time.sleep(617)'
    )
    command = agent(work, wait, votes={"run_a": "run_c", "run_b": "run_c"})
    arguments = (
        "compete",
        "--task",
        "Name it",
        "--output",
        "run",
        *THREE_WAY,
        "--runner",
        "command",
        "--command",
        command,
    )
    process = subprocess.Popen([*MOOT, *arguments], cwd=work.top, env=work.env, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while not all((work.top / name).exists() for name in ("run_a", "run_b", "run_c")):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.send_signal(number)
    process.wait()
    while left_behind(str(work.top)):
        assert time.monotonic() < deadline, left_behind(str(work.top))
        time.sleep(0.02)
    assert not (work.top / "run" / "best_run.txt").exists()
    assert "holds something" in work.fails(4, *arguments)
    marker.touch()
    work.ok("compete", "--resume", "--output", "run")
    assert (work.top / "run" / "best_run.txt").read_text() == "run_c\n"


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["--task", "x", "--budget-workers", "0"], 2, "--budget-workers is 0"),
        (["--task", "x", "--choose-count", "some"], 2, "'some' is no count"),
        (["--task", " "], 2, "there is no task"),
        (["--task", "x", "--runner", "command"], 2, "give --command TEMPLATE"),
        (["--resume"], 2, "which run?"),
        (["--resume", "--output", "nowhere"], 4, "no run to resume"),
        (["--task", "x", "--min-free-gb", "999999", "--output", "x"], 4, "GB are free"),
        (["--task", "x", "--question-type", "audits"], 2, "did you mean audit"),
    ],
)
def test_bad_input_is_one_line(work, arguments, code, says):
    assert says in work.fails(code, "compete", *arguments)


def test_stages_run_side_by_side(work):
    command = agent(work, "import time; time.sleep(0.5)")
    began = time.monotonic()
    folder = compete(work, command)
    elapsed = time.monotonic() - began
    one_by_one = sum(manifest(folder)["elapsed_s"].values())
    assert elapsed < one_by_one * 0.7
    assert os.path.exists(folder / "best_run.txt")


SCHEMAS = Path(moot.__file__).parent / "docs" / "schemas"


def check(name, value):
    schema = json.loads((SCHEMAS / f"{name}.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(value, schema)


@pytest.mark.parametrize(
    "arguments",
    [
        THREE_WAY,
        ("--question-type", "audit", "--budget-workers", "2", "--min-free-gb", "0"),
        ("--question-type", "repair", "--min-free-gb", "0", "--runner", "command", "--command", "echo same"),
        ("--question-type", "seo", "--min-free-gb", "0", "--runner", "command", "--command", "false"),
    ],
)
def test_what_scripts_read_is_as_its_schema_says(work, arguments):
    work.run("compete", "--task", "x", "--output", "run", *arguments)
    folder = work.top / "run"
    for name in ("compete_manifest", "selected", "rejected", "findings"):
        check(name, json.loads((folder / f"{name}.json").read_text()))
    records = [json.loads(line) for line in (folder / "records.jsonl").read_text().splitlines()]
    for record in records:
        check("record", record)
    assert {"EstimatorPolicy", "RouteDecision"} <= {record["record"] for record in records}
    grains = {record["grain"] for record in records if record["record"] == "looper_log"}
    expected = {"echo same": {"skill", "composition"}, "false": {"skill", "scaffold"}}.get(
        arguments[-1], set()
    )
    assert expected <= grains


LEASE = {"lease_id": "l1", "loop_id": "loop", "attempt_id": "a1", "status": "active"}
ATTEMPT = (
    "compete",
    "--task",
    "x",
    "--output",
    "run",
    "--min-free-gb",
    "0",
    "--handoff-mode",
    "looper_attempt",
)


def lease(work, **more):
    (work.top / "lease.json").write_text(json.dumps({**LEASE, **more}))
    return ("--lease", "lease.json")


def test_a_loopers_attempt_runs_under_its_lease_and_records_it(work):
    work.ok(*ATTEMPT, *lease(work, max_wall_clock_minutes=5, max_tokens=1000))
    folder = work.top / "run"
    records = [json.loads(line) for line in (folder / "records.jsonl").read_text().splitlines()]
    for record in records:
        check("record", record)
    assert [record["record"] for record in records][-2:] == ["ResourceLease", "ParentLeaseRef"]
    assert records[-1]["nested_run_id"] == "run"


@pytest.mark.parametrize(
    ("more", "code", "says"),
    [
        ({"status": "paused"}, 4, "the lease l1 is paused, not active"),
        ({"depth": 3}, 4, "nested 3 deep"),
        ({"nested_runs": 8}, 4, "8 are the most"),
        ({"max_diff": 3}, 2, "did you mean max_diff_kib"),
        ({"max_usd": -1}, 2, "`max_usd` is -1"),
        ({"lease_id": ""}, 2, "the lease has no `lease_id`"),
    ],
)
def test_a_lease_that_allows_nothing_is_refused(work, more, code, says):
    assert says in work.fails(code, *ATTEMPT, *lease(work, **more))
    assert not (work.top / "run").exists()


def test_a_looper_attempt_without_a_lease_is_refused(work):
    assert "needs a lease" in work.fails(4, *ATTEMPT)
    assert "no such lease" in work.fails(4, *ATTEMPT, "--lease", "nowhere.json")


def test_the_wall_clock_of_a_lease_ends_the_run(work):
    began = time.monotonic()
    command = ("--runner", "command", "--command", "sleep 60")
    assert (
        "wall-clock" in work.run(*ATTEMPT, *lease(work, max_wall_clock_minutes=0.02), *command).stderr or True
    )
    assert time.monotonic() - began < 30
    assert manifest(work.top / "run")["status"] == "failed"


def test_a_result_over_the_leases_diff_fails_its_candidate_alone(work):
    big = 'test {candidate_id} = proposal_001 && printf "%3000d" 1; echo fine'
    work.ok(*ATTEMPT, *lease(work, max_diff_kib=2), "--runner", "command", "--command", big)
    assert (
        "over the lease's max_diff_kib (2)" in (work.top / "run" / "proposal_001" / "failure.md").read_text()
    )


@pytest.fixture
def sources(work):
    (work.top / "code.txt").write_text("one\n")
    work.git("add", "code.txt")
    work.git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x")
    return work


def test_in_worktrees_the_patch_is_the_result_and_the_repository_stays_as_it_was(sources):
    command = "echo {candidate_id} >> code.txt; echo new > fresh.txt"
    folder = compete(sources, f"{command}; true", "--worktrees", "--timeout-s", "20", code=3)
    assert (
        "it printed nothing" in (folder / "summary.md").read_text()
    )  # in a review there is no patch to give
    patch = (folder / "run_a" / "patch.diff").read_text()
    assert "+run_a" in patch
    assert "fresh.txt" in patch
    assert patch in (folder / "run_a" / "result.md").read_text()
    assert sources.git("status", "--porcelain") == "?? run/\n"
    assert sources.git("worktree", "list").count("\n") == 1
    sources.git("apply", "--check", str(folder / "run_a" / "patch.diff"))


def test_a_candidate_that_reaches_into_the_repository_is_noticed(sources):
    command = agent(
        sources, f'if stage == "proposal": open({str(sources.top / "code.txt")!r}, "a").write("oops")'
    )
    folder = compete(sources, command, "--worktrees")
    assert (
        "changed during the run: code.txt; then ran run_a, run_b, run_c"
        in (folder / "summary.md").read_text()
    )


def test_worktrees_need_a_commit_and_a_repository(work, tmp_path):
    assert "the repository has no commit" in work.fails(
        1, "compete", "--task", "x", "--output", "run", *THREE_WAY, "--worktrees"
    )
    outside = tmp_path / "outside"
    outside.mkdir()
    assert "not in a git repository" in work.fails(
        4, "compete", "--task", "x", "--output", "run", *THREE_WAY, "--worktrees", cwd=outside
    )


def test_a_vote_at_the_end_of_a_long_review_counts(work):
    special = 'if stage == "peer_review_round_2": print("word " * 40000)'
    folder = compete(work, agent(work, special, votes={"run_a": "run_c", "run_b": "run_c"}))
    assert (folder / "best_run.txt").read_text() == "run_c\n"


CHANGE = {"change": "three proposals for audits", "evidence_lint_ref": "e1", "roi_ref": "r1", "pareto_gate_ref": "p1",
          "rollback_ref": "b1", "master_x_ref": "x1"}  # fmt: skip


@pytest.mark.parametrize(
    ("more", "code", "says"),
    [
        ({"master_x_ref": ""}, 3, "has no master_x_ref: have it reviewed first"),
        ({"roi_ref": " ", "rollback_ref": ""}, 3, "has no roi_ref, rollback_ref"),
        ({"change": ""}, 2, "changes nothing"),
        ({"roi_reff": "x"}, 2, "did you mean roi_ref"),
        ({"roi_ref": 3}, 2, "`roi_ref` is 3"),
    ],
)
def test_a_change_of_policy_that_nobody_reviewed_is_refused(work, more, code, says):
    (work.top / "change.json").write_text(json.dumps({**CHANGE, **more}))
    said = work.fails(
        code, "compete", "--task", "x", "--output", "run", *THREE_WAY, "--policy-change", "change.json"
    )
    assert says in said.replace("(change.json)", "").replace(" :", ":")
    assert not (work.top / "run").exists()


def test_a_change_of_policy_with_all_its_references_is_recorded(work):
    (work.top / "change.json").write_text(json.dumps(CHANGE))
    work.ok("compete", "--task", "x", "--output", "run", *THREE_WAY, "--policy-change", "change.json")
    last = json.loads((work.top / "run" / "records.jsonl").read_text().splitlines()[-1])
    check("record", last)
    assert last["change"] == CHANGE["change"]
