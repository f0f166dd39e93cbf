"""Candidates that write where they should not, break their worktree, leave processes behind; leases that lie."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moot.agents.compete.frozen import read_ends
from moot.agents.compete.quoting import exported, filled
from moot.agents.reaper import marked
from moot.tests.conftest import MOOT
from moot.workspace.worktrees import changes_between, lend, patch_of, snapshot, source_at, take_back

PLAIN = """case $MOOT_STAGE in
 initial_verification) echo "VERDICT: pass";;
 peer_review_round_2) [ $MOOT_CANDIDATE_ID = run_a ] && echo "selected_candidate_id: run_b" \
 || echo "selected_candidate_id: run_a";;
 *) echo "$MOOT_CANDIDATE_ID $MOOT_STAGE";;
esac
"""
RUN = ("compete", "--task", "x", "--output", "run", "--min-free-gb", "0")
THREE_WAY = ("--competition-shape", "three_way_challenge")


@pytest.fixture
def work(bare):
    """Give a repository in which commands may be written and runs be made."""
    return bare


@pytest.fixture
def sources(work):
    """Give one with a commit."""
    (work.top / "code.txt").write_bytes(b"one\n\xe9\n")
    work.git("add", "code.txt")
    work.git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x")
    return work


def command(special, *, does):
    """Give a command that behaves, but for what it `does` at a stage as a candidate."""
    stage, name = special
    return f'if [ "$MOOT_STAGE:$MOOT_CANDIDATE_ID" = {stage}:{name} ]; then\n{does}\nfi\n{PLAIN}'


def compete(work, line, *more, code=0):
    done = work.run(*RUN, *THREE_WAY, "--runner", "command", "--command", line, *more)
    assert done.returncode == code, (done.stdout, done.stderr)
    return work.top / "run"


def summary(folder):
    return (folder / "summary.md").read_text()


def manifest(folder):
    return json.loads((folder / "compete_manifest.json").read_text())


# -- what was handed in ---------------------------------------------------------------------------

LAST = ("repair_synthesis", "run_c")


def test_votes_and_verdicts_that_are_rewritten_at_the_last_stage_change_nothing(work):
    does = (
        'for x in run_a run_b; do echo "selected_candidate_id: run_c" > ../../$x/peer_review_round_2.md;'
        ' echo "VERDICT: fail" > ../../$x/verification.md; done'
    )
    folder = compete(work, command(LAST, does=does), "--jobs", "1")
    assert (folder / "best_run.txt").read_text() == "run_a\n"
    assert (folder / "run_a" / "verification.md").read_text() == "VERDICT: pass\n"
    assert {one["voter"]: one["choice"] for one in manifest(folder)["votes"]}["run_b"] == "run_a"


@pytest.mark.parametrize(
    "aside", ["rm -rf ../../.frozen", "for x in $(find ../../.frozen -type f); do echo H > $x; done"]
)
def test_copies_that_are_removed_or_overwritten_are_not_believed(work, aside):
    does = f"{aside}; echo HACKED > ../../run_a/result.md"
    folder = compete(work, command(("peer_review_round_1", "run_c"), does=does), "--jobs", "1")
    assert (folder / "run_a" / "result.md").read_text() == "run_a proposal\n"
    assert "run_a/result.md was changed, and put back; then ran run_c" in summary(folder)


@pytest.mark.parametrize(
    "does",
    [
        "rm -rf ../../run_a",
        "rm -rf ../../*",
        "rm ../../run_a/result.md; mkdir -p ../../run_a/result.md/x",
        "mkdir -p ../../run_a/revision_round_1.md/x ../../summary.md/x ../../best_run.txt",
        "mkdir -p ../../run_a/prompts/revision_round_1.md",
        "rm ../../run_a/result.md; ln -s /etc/hostname ../../run_a/result.md",
        "rm -rf ../../run_b/implementation; touch ../../run_b/implementation",
        "rm -rf ../../run_b/prompts; ln -s /etc ../../run_b/prompts; ln -s /etc ../../run_b/x",
        "rm ../../progress.jsonl; mkdir ../../progress.jsonl",
        "mv ../../run_a ../../gone; ln -s gone ../../run_a",
        "rm -rf ../../../run",
    ],
)
def test_no_candidate_can_end_the_run_of_the_others(work, does):
    folder = compete(work, command(("peer_review_round_1", "run_c"), does=does), "--jobs", "1")
    assert (folder / "best_run.txt").read_text() == "run_a\n"
    assert (folder / "run_a" / "result.md").read_text() == "run_a proposal\n"
    assert not (folder / "run_a").is_symlink()
    assert {
        one["candidate_id"] for one in json.loads((folder / "rejected.json").read_text())["rejected"]
    } == {
        "run_b",
        "run_c",
    }


def test_who_ran_alone_is_out_and_who_ran_beside_others_is_only_named(work):
    does = "echo X > ../../run_a/result.md"
    folder = compete(work, command(("peer_review_round_1", "run_c"), does=does), "--jobs", "1")
    assert "it changed the frozen run_a/result.md" in (folder / "run_c" / "failure.md").read_text()
    assert "then ran run_c\n" in summary(folder)


def test_an_answer_in_the_output_file_counts_where_nothing_was_printed(work):
    line = 'echo "in the file" > {output_file}; [ $MOOT_CANDIDATE_ID = run_b ] && echo printed || true'
    folder = compete(work, line)
    assert (folder / "run_a" / "result.md").read_text() == "in the file\n"
    assert (folder / "run_b" / "result.md").read_text() == "printed\n"


def test_an_output_file_that_others_wrote_before_is_no_answer(work):
    line = (
        "test $MOOT_STAGE:$MOOT_CANDIDATE_ID = proposal:run_c && echo planted > ../../run_a/revision_round_1.md;"
        " test $MOOT_STAGE:$MOOT_CANDIDATE_ID = revision_round_1:run_a || echo said"
    )
    folder = compete(work, line)
    assert "revision_round_1: it printed nothing" in (folder / "run_a" / "failure.md").read_text()


def test_a_file_without_end_is_read_at_its_ends(tmp_path):
    with (tmp_path / "big").open("wb") as file:
        file.write(b"head")
        file.truncate(1 << 40)
    data, size_bytes = read_ends(tmp_path, "big", 100)
    assert size_bytes == 1 << 40
    assert len(data) < 200
    (tmp_path / "link").symlink_to("big")
    assert read_ends(tmp_path, "link", 100) == (b"", 0)


def test_files_of_a_candidates_own_count_against_the_bound_of_the_run(work):
    does = "head -c 3000000 /dev/zero > big"
    folder = compete(work, command(("peer_review_round_1", "run_b"), does=does), "--max-output-mb", "2")
    assert "over --max-output-mb" in (folder / "run_b" / "failure.md").read_text()
    assert "run_b made 3000000 bytes at peer_review_round_1" in summary(folder)
    assert (folder / "run_b" / "implementation" / "big").stat().st_size == 3_000_000
    assert sorted(manifest(folder)["verdicts"]) == ["run_a", "run_b", "run_c"]
    assert not (folder / "run_a" / "failure.md").exists()


# -- a run that was killed ------------------------------------------------------------------------


def test_after_a_kill_the_note_is_kept_and_the_victim_is_not_asked_again(work):
    log = work.top / "log"
    line = (
        f"echo $MOOT_CANDIDATE_ID $MOOT_STAGE >> {log}\n"
        "if [ $MOOT_STAGE:$MOOT_CANDIDATE_ID = peer_review_round_1:run_a ]; then\n"
        "  echo X > ../../run_b/result.md\nfi\n"
        f"if [ $MOOT_STAGE:$MOOT_CANDIDATE_ID = peer_review_round_1:run_b ] && ! [ -e {work.top}/go ]; then\n"
        f"  touch {work.top}/go; echo Y > ../../run_c/result.md; kill -9 $PPID; sleep 60\nfi\n{PLAIN}"
    )
    done = work.run(*RUN, *THREE_WAY, "--runner", "command", "--command", line, "--jobs", "1")
    assert done.returncode == -9
    work.ok("compete", "--resume", "--output", "run", "--jobs", "1")
    folder = work.top / "run"
    assert log.read_text().count("run_b proposal") == 1
    assert log.read_text().count("run_c proposal") == 1
    assert (folder / "run_c" / "result.md").read_text() == "run_c proposal\n"
    assert summary(folder).count("run_b/result.md was changed, and put back; then ran run_a") == 1
    assert "run_c/result.md was changed before the run was killed, and put back" in summary(folder)
    assert "it changed the frozen run_b/result.md" in (folder / "run_a" / "failure.md").read_text()


@pytest.mark.parametrize(
    "does",
    [
        "for x in progress.jsonl settings.json session run_a/result.md; do rm -f ../../$x; mkdir ../../$x; done",
        "rm -rf ../../run_a; ln -s /etc ../../run_a; ln -sf /etc/hostname ../../progress.jsonl",
        "rm -rf ../../.frozen; ln -s /etc ../../.frozen",
    ],
)
def test_a_run_that_was_left_in_pieces_goes_on(work, does):
    line = (
        "if [ $MOOT_STAGE:$MOOT_CANDIDATE_ID = revision_round_1:run_c ] && ! [ -e ../../../go ]; then\n"
        f"touch ../../../go\n{does}\nkill -9 $PPID; sleep 60\nfi\n{PLAIN}"
    )
    done = work.run(*RUN, *THREE_WAY, "--runner", "command", "--command", line, "--jobs", "1")
    assert done.returncode == -9
    work.ok("compete", "--resume", "--output", "run", "--jobs", "1")
    folder = work.top / "run"
    assert (folder / "best_run.txt").read_text() == "run_a\n"
    assert (folder / "run_a" / "result.md").read_text() == "run_a proposal\n"
    assert not (folder / "run_a").is_symlink()
    assert Path("/etc/hostname").is_file()


def test_a_killed_errand_begins_again_on_what_the_last_finished_stage_left(sources):
    line = (
        "if [ $MOOT_STAGE = proposal ]; then echo $MOOT_CANDIDATE_ID > own.txt; fi\n"
        "if [ $MOOT_STAGE:$MOOT_CANDIDATE_ID = revision_round_1:run_b ]; then echo again >> own.txt\n"
        f"  if ! [ -e {sources.top}/go ]; then touch {sources.top}/go; kill -9 $PPID; sleep 60; fi\nfi\n{PLAIN}"
    )
    done = sources.run(
        *RUN, *THREE_WAY, "--runner", "command", "--command", line, "--jobs", "1", "--worktrees"
    )
    assert done.returncode == -9
    sources.ok("compete", "--resume", "--output", "run", "--jobs", "1")
    patch = (sources.top / "run" / "run_b" / "patch.diff").read_text()
    assert patch.count("+run_b") == 1
    assert patch.count("+again") == 1
    assert sources.git("worktree", "list").count("\n") == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_says_in_one_line_how_to_go_on(work, number):
    line = f"touch {work.top}/began; sleep 60"
    process = subprocess.Popen(
        [*MOOT, *RUN, "--runner", "command", "--command", line],
        cwd=work.top, env=work.env, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    await_file(work.top / "began")
    process.send_signal(number)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert said == "moot: interrupted: go on with `moot compete --resume --output run`\n"
    progress = work.top / "run" / "progress.jsonl"
    assert not progress.exists() or "stopped" not in progress.read_text()


def await_file(path: Path):
    deadline = time.monotonic() + 60
    while not path.exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.parametrize("text", ["{}", "nonsense", "[" * 100_000, '{"plan": 5}', "[]", "kept-but-wrong"])
def test_settings_that_cannot_be_read_are_one_line(work, text):
    work.ok(*RUN)
    file = work.top / "run" / "settings.json"
    (work.top / "run" / "compete_manifest.json").unlink()
    if text == "kept-but-wrong":
        text = json.dumps({**json.loads(file.read_text()), "timeout_s": "soon"})
    file.write_text(text)
    assert "its settings cannot be read" in work.fails(4, "compete", "--resume", "--output", "run")


# -- processes ------------------------------------------------------------------------------------


def is_gone(pid: int) -> bool:
    try:
        return b"sleep" not in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return True


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="it takes /proc")
@pytest.mark.parametrize("is_killed", [False, True])
def test_a_child_in_a_session_of_its_own_does_not_outlive_the_run(work, is_killed):
    end = "kill -9 $PPID; sleep 60" if is_killed else "echo said"
    until = f"until [ -s {work.top}/pids ]; do sleep 0.02; done"
    line = f"setsid -f sh -c 'echo $$ >> {work.top}/pids; exec sleep 618' > /dev/null 2>&1; {until}; {end}"
    done = work.run(*RUN, "--runner", "command", "--command", line, "--budget-workers", "1")
    assert done.returncode == (-9 if is_killed else 0)
    await_file(work.top / "pids")
    deadline = time.monotonic() + 30
    for pid in map(int, (work.top / "pids").read_text().split()):
        while not is_gone(pid):
            assert time.monotonic() < deadline
            time.sleep(0.02)


def test_a_marker_finds_its_processes_alone():
    child = subprocess.Popen(["sleep", "60"], env={**os.environ, "MOOT_RUN": "outer.1,inner.2"})
    try:
        if Path("/proc/self/environ").exists():
            assert marked("outer.1") == marked("inner.2") == [child.pid]
        assert marked("inner.3") == []
    finally:
        child.kill()
        child.wait()


# -- the shell ------------------------------------------------------------------------------------

TEXT = st.text(st.characters(blacklist_characters="\0", blacklist_categories=("Cs",)), max_size=12) | st.text(
    "$()`'\"\\ ;&|<>*?~#!{}\nab", max_size=12
)
PLACES = {
    "{stage}": "%s",
    '"{stage}"': "%s",
    "'{stage}'": "%s",
    "--x={stage}": "--x=%s",
    "a'{stage}'b": "a%sb",
    "\"'{stage}'\"": "'%s'",
    "'\"{stage}\"'": '"%s"',
    r"\'{stage}\'": "'%s'",
    '"$(printf %s {stage}; echo .)"': "%s.",
    '"$(printf %s "{stage}"; echo .)"': "%s.",
    "\"$(printf %s '{stage}'; echo .)\"": "%s.",
    '"`printf %s {stage}; echo .`"': "%s.",
    '"$( (printf %s {stage}); echo .)"': "%s.",
}


@settings(max_examples=40, deadline=None)
@given(TEXT)
def test_a_value_is_one_word_of_text_wherever_it_stands(value):
    line = "".join(f"printf '%s\\0' {place}\n" for place in PLACES)
    done = subprocess.run(
        ["/bin/sh", "-c", filled(line, {"stage": value})],
        env={**os.environ, **exported({"stage": value})}, capture_output=True, check=True,
    )  # fmt: skip
    assert done.stdout.decode().split("\0")[:-1] == [want.replace("%s", value) for want in PLACES.values()]


@settings(max_examples=200)
@given(st.text("{}$()`'\"\\# \nsa", max_size=20), TEXT)
def test_any_template_is_filled_and_a_plain_value_stands_as_it_is(template, value):
    assert filled(template.replace("{", "[").replace("}", "]"), {"stage": value}) == template.replace(
        "{", "["
    ).replace("}", "]")
    assert filled("x'{stage}\"{other}", {"stage": "a/b-c.md"}) == "x'a/b-c.md\"{other}"


# -- worktrees ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "does",
    ["git init -q sub; echo x > sub/f", "rm .git", "echo junk > .git", "rm .git; git init -q .; mkdir x"],
)
def test_a_worktree_that_was_broken_gives_its_patch_and_is_taken_back(sources, does):
    line = command(("proposal", "run_b"), does=f"echo more >> code.txt; {does}")
    before = snapshot(sources.top)
    folder = compete(sources, line, "--worktrees")
    assert (folder / "best_run.txt").read_text() == "run_a\n"
    assert b"+more" in (folder / "run_b" / "patch.diff").read_bytes()
    assert not (folder / "run_b" / "implementation").exists()
    assert sources.git("worktree", "list").count("\n") == 1
    assert sources.git("diff", "--cached", "--name-only") == ""
    assert changes_between(before, snapshot(sources.top, without=folder)) == ()
    if "sub" in does:
        assert "run_b/implementation/sub is a repository of its own" in summary(folder)


def test_what_was_lent_does_not_count_against_the_bound_of_the_run(sources):
    (sources.top / "large").write_bytes(bytes(3_000_000))
    sources.git("add", "large")
    sources.git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x")
    folder = compete(sources, PLAIN, "--worktrees", "--max-output-mb", "2")
    assert not list(folder.rglob("failure.md"))


def test_a_candidate_that_commits_keeps_its_patch(sources):
    does = "echo more >> code.txt; git -c user.name=a -c user.email=a@b commit -qam mine"
    folder = compete(sources, command(("proposal", "run_b"), does=does), "--worktrees")
    assert b"+more" in (folder / "run_b" / "patch.diff").read_bytes()
    assert b"+more" in (folder / "run_b" / "result.md").read_bytes()


def test_a_patch_applies_whatever_the_users_git_is_told(sources, tmp_path):
    for key, value in {
        "color.ui": "always", "diff.noprefix": "true", "diff.external": "/bin/false", "diff.x.textconv": "wc",
    }.items():  # fmt: skip
        sources.git("config", key, value)
    (sources.top / ".git" / "info" / "attributes").write_text("* diff=x\n")
    source, folder = source_at(sources.top), tmp_path / 'a : "b'
    lend(source, folder)
    (folder / "code.txt").write_bytes(b"one\n\xe9\xe8\n")
    (folder / "data").write_bytes(bytes(range(256)))
    patch = patch_of(source, folder)
    take_back(source, folder)
    lend(source, folder, patch.data)
    assert (folder / "code.txt").read_bytes() == b"one\n\xe9\xe8\n"
    assert (folder / "data").read_bytes() == bytes(range(256))
    take_back(source, folder)
    assert not folder.exists()


def test_worktrees_are_of_the_current_folders_repository(sources, tmp_path):
    work = (*RUN[:3], "--output", str(tmp_path / "out"), *RUN[5:])
    sources.ok(*work, *THREE_WAY, "--runner", "command", "--command", f"ls\n{PLAIN}", "--worktrees")
    assert (tmp_path / "out" / "run_a" / "result.md").read_text().startswith("code.txt\n")


def test_a_snapshot_names_what_changed_in_files_that_git_does_not_know(sources):
    sources.git("config", "status.showUntrackedFiles", "no")
    folder = sources.top / "new"
    folder.mkdir()
    (folder / "a").write_text("1")
    (sources.top / "out").mkdir()
    before = snapshot(sources.top, without=sources.top / "out")
    (sources.top / "out" / "x").write_text("1")
    assert changes_between(before, snapshot(sources.top, without=sources.top / "out")) == ()
    (folder / "a").write_text("2")
    (sources.top / "code.txt").unlink()
    after = snapshot(sources.top, without=sources.top / "out")
    assert changes_between(before, after) == ("code.txt", "new/a")
    sources.git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qam", "x")
    assert ".git/HEAD" in changes_between(before, snapshot(sources.top))


def test_a_change_in_the_repository_is_named_without_worktrees_too(work):
    (work.top / "notes").write_text("mine")
    folder = compete(work, command(("proposal", "run_b"), does="echo theirs > ../../../notes"))
    assert "changed during the run: notes; then ran" in summary(folder)


@pytest.mark.parametrize(("more", "code"), [(("--as", "nobody"), 4), (("--worktrees",), 1)])
def test_a_run_that_never_began_leaves_its_folder_free(shell, more, code):
    shell.fails(code, *RUN, *more)
    assert not (shell.top / "run").exists()
    shell.ok(*RUN)


def test_of_two_runs_into_one_folder_one_is_refused(work):
    line = "while ! [ -e ../../../go ]; do sleep 0.01; done; echo done"
    arguments = [*MOOT, *RUN, "--runner", "command", "--command", line]
    both = [
        subprocess.Popen(arguments, cwd=work.top, env=work.env, stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    deadline = time.monotonic() + 60
    while all(one.poll() is None for one in both):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    (work.top / "go").touch()
    assert sorted(one.wait() for one in both) == [0, 4]
    for one in both:
        one.communicate()


# -- leases and limits ----------------------------------------------------------------------------

LEASE = {"lease_id": "l1", "loop_id": "loop", "attempt_id": "a1", "status": "active"}
ATTEMPT = (*RUN, "--handoff-mode", "looper_attempt", "--lease", "lease.json")


def lease(work, **more):
    (work.top / "lease.json").write_text(json.dumps({**LEASE, **more}))


@pytest.mark.parametrize(
    "text",
    [
        json.dumps({**LEASE, "max_usd": float("inf")}),
        json.dumps(LEASE)[:-1] + ', "max_wall_clock_minutes": 1e400}',
        json.dumps({**LEASE, "max_tokens": float("nan")}),
        json.dumps({**LEASE, "workspace": 5}),
        json.dumps({**LEASE, "depth": 10**30}),
        "[" * 100_000,
    ],
)
def test_a_lease_that_is_none_is_one_line(work, text):
    (work.top / "lease.json").write_text(text)
    work.fails(2, *ATTEMPT)
    assert not (work.top / "run").exists()


def test_a_policy_change_without_end_is_one_line(work):
    (work.top / "change.json").write_text("[" * 100_000)
    work.fails(2, *RUN, "--policy-change", "change.json")


@pytest.mark.parametrize("option", ["--max-output-mb", "--min-free-gb"])
def test_nan_is_no_size(work, option):
    assert "nan is no size" in work.fails(2, *RUN, option, "nan")


def test_the_wall_clock_is_enforced_in_the_oracle(work):
    lease(work, max_wall_clock_minutes=0.05)
    began = time.monotonic()
    assert "wall-clock time is over" in work.fails(6, *ATTEMPT, "--oracle-command", "sleep 60; echo SCORE: 1")
    assert time.monotonic() - began < 40
    assert manifest(work.top / "run")["time_is_up"] is True


def test_the_wall_clock_is_enforced_for_agents_of_the_roster(shell):
    lease(shell, max_wall_clock_minutes=0.03)
    agents = ("--runner", "agents", "--agents", "CC,CX,GM", "--verifier-agent", "CC")
    began = time.monotonic()
    assert "wall-clock time is over" in shell.fails(6, *ATTEMPT, *THREE_WAY, *agents)
    assert time.monotonic() - began < 40


def test_the_word_wall_clock_in_an_error_is_no_time_that_is_up(work):
    line = "echo the wall-clock stopped >&2; exit 1"
    assert "no valid candidate" in work.fails(3, *RUN, "--runner", "command", "--command", line)


def test_a_resumed_run_keeps_the_clock_of_its_first_start(work):
    lease(work, max_wall_clock_minutes=1, ttl_minutes=2)
    work.run(*ATTEMPT, "--runner", "command", "--command", "kill -9 $PPID; sleep 60")
    file = work.top / "run" / "settings.json"
    values = json.loads(file.read_text())
    file.write_text(json.dumps({**values, "started_at": values["started_at"] - 90}))
    assert "wall-clock time is over" in work.fails(6, "compete", "--resume", "--output", "run")
    (work.top / "run" / "compete_manifest.json").unlink()
    file.write_text(json.dumps({**values, "started_at": values["started_at"] - 150}))
    assert "was for 2 minutes, and they are over" in work.fails(4, "compete", "--resume", "--output", "run")


def test_the_diff_of_a_lease_is_measured_before_anything_is_cut(work):
    lease(work, max_diff_kib=100)
    line = "head -c 200000 /dev/zero | tr '\\0' x"
    work.fails(3, *ATTEMPT, "--max-output-mb", "0.1", "--runner", "command", "--command", line)
    failure = (work.top / "run" / "proposal_001" / "failure.md").read_text()
    assert "over the lease's max_diff_kib (100)" in failure


# -- the oracle -----------------------------------------------------------------------------------


def test_the_oracle_reads_what_would_be_chosen_in_the_candidates_folder(work):
    oracle = (
        'test "$(cat {output_file})" = "$MOOT_CANDIDATE_ID revision_round_1" &&'
        ' test "$PWD" = "$(dirname {output_file})/implementation" && echo "SCORE: 1"'
    )
    folder = compete(work, PLAIN, "--oracle-command", oracle)
    assert {one["oracle"] for one in manifest(folder)["verdicts"].values()} == {"pass"}


@pytest.mark.parametrize(
    ("oracle", "why"),
    [
        ("echo bad >&2; exit 7", "exit code 7: bad"),
        ("echo fine", "no SCORE line"),
        ("sleep 60", "time-out after 2 s"),
    ],
)
def test_why_an_oracle_failed_a_result_is_kept(work, oracle, why):
    folder = compete(work, PLAIN, "--oracle-command", oracle, "--timeout-s", "2")
    assert {one["oracle_failure"] for one in manifest(folder)["verdicts"].values()} == {why}
