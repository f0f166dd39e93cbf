"""A headless agent's turn: whatever the command does, an answer comes in time and nothing stays behind."""

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import moot.agents.runners
from moot.agents.runners import Answer, CommandRunner, _Group, parse_agent_spec
from moot.parsers.errors import UsageError

PYTHON = (sys.executable, "-ISc")

# Notes the numbers of its processes, so that a test can look for them when all is over.
NOTING = """
import os, signal, subprocess, sys, time
def note():
    with open("pids", "a") as pids: print(os.getpid(), file=pids)
note()
"""


def runner(cwd: Path, code: str, *, timeout_s: float = 30, **limits: float) -> CommandRunner:
    return CommandRunner([*PYTHON, code], cwd=cwd, env=os.environ, timeout_s=timeout_s, **limits)  # type: ignore[arg-type]


def noted(cwd: Path) -> list[int]:
    path = cwd / "pids"
    return [int(line) for line in path.read_text().split()] if path.exists() else []


def await_noted(cwd: Path, count: int) -> None:
    deadline = time.monotonic() + 20
    while len(noted(cwd)) < count:
        assert time.monotonic() < deadline, "the command never came so far"
        time.sleep(0.005)


def is_running(pid: int) -> bool:
    """Say whether it does; a zombie does not, and stays where process 1 collects nobody's children."""
    try:
        os.kill(pid, 0)
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except ProcessLookupError:
        return False
    except FileNotFoundError:
        return not Path("/proc/self").exists()
    return state not in {"Z", "X"}


@pytest.fixture(autouse=True)
def _nothing_stays_behind(tmp_path: Path) -> Iterator[None]:
    pipes = len(os.listdir("/dev/fd"))
    yield
    assert not [pid for pid in noted(tmp_path) if is_running(pid)]
    assert len(os.listdir("/dev/fd")) == pipes


# Answers


def test_the_prompt_goes_in_and_the_answer_comes_out(tmp_path: Path) -> None:
    code = "import sys; print('Grüße,', sys.stdin.read().upper()); print('thinking', file=sys.stderr)"
    answer = runner(tmp_path, code).run("zoë")
    assert answer._replace(elapsed_s=0) == Answer("Grüße, ZOË\n", 0, False, "", 0)
    assert 0 < answer.elapsed_s < 30


def test_the_command_sees_its_folder_and_its_environment_and_nothing_more(tmp_path: Path) -> None:
    code = "import os; print(os.getcwd(), sorted(os.environ))"
    (tmp_path / "here").mkdir()
    env = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}
    answer = CommandRunner([*PYTHON, code], cwd=tmp_path / "here", env=env, timeout_s=30).run("")
    assert answer.text == f"{tmp_path / 'here'} ['LC_ALL', 'PATH']\n"


def test_arguments_meet_no_shell(tmp_path: Path) -> None:
    words = ("$(touch owned)", "`touch owned`", "; touch owned", "a  b")
    command = CommandRunner(["printf", "%s|", *words], cwd=tmp_path, env=os.environ, timeout_s=30)
    assert command.run("").text == "$(touch owned)|`touch owned`|; touch owned|a  b|"
    assert not (tmp_path / "owned").exists()


def test_bytes_that_are_not_utf_8_are_replaced(tmp_path: Path) -> None:
    answer = runner(tmp_path, r"import os; os.write(1, b'a\xffb\xc3')").run("")
    assert (answer.text, answer.error) == ("a\ufffdb\ufffd", "")


def test_a_prompt_that_is_no_unicode_is_sent_all_the_same(tmp_path: Path) -> None:
    assert runner(tmp_path, "import sys; print(sys.stdin.read())").run("a\ud800b").text == "a?b\n"


def test_a_long_prompt_and_a_long_answer_pass_each_other(tmp_path: Path) -> None:
    code = """
import os
while chunk := os.read(0, 1 << 16):
    while chunk: chunk = chunk[os.write(1, chunk):]
"""
    prompt = "0123456789abcdef" * 62_500
    answer = runner(tmp_path, code, max_output_bytes=2_000_000).run(prompt)
    assert (answer.text == prompt, answer.error) == (True, "")


def test_one_runner_serves_many_turns_at_once(tmp_path: Path) -> None:
    echo = runner(tmp_path, "import sys; print(sys.stdin.read(), end='')")
    answers: dict[str, Answer] = {}
    turns = [threading.Thread(target=lambda n=n: answers.update({n: echo.run(n)})) for n in "abc"]
    for turn in turns:
        turn.start()
    for turn in turns:
        turn.join()
    assert {n: answer.text for n, answer in answers.items()} == {n: n for n in "abc"}


# Prompts that are not read


@pytest.mark.parametrize(
    "code",
    [
        pytest.param("print('done')", id="exits without reading"),
        pytest.param("import os, time; os.close(0); time.sleep(0.1); print('done')", id="closes early"),
        pytest.param("import os, time; time.sleep(0.3); print('done')", id="never reads"),
        pytest.param("import sys; sys.stdin.read(10); print('done')", id="reads a little"),
    ],
)
def test_a_long_prompt_that_is_not_read_neither_blocks_nor_raises(tmp_path: Path, code: str) -> None:
    answer = runner(tmp_path, code).run("x" * 5_000_000)
    assert answer._replace(elapsed_s=0) == Answer("done\n", 0, False, "", 0)


def test_a_command_that_leaves_off_reading_is_ended_in_time(tmp_path: Path) -> None:
    code = f"{NOTING}\nos.read(0, 10_000)\ntime.sleep(60)"
    answer = runner(tmp_path, code, timeout_s=1).run("x" * 5_000_000)
    assert (answer.timed_out, answer.exit_code) == (True, -15)
    assert answer.elapsed_s < 20


# Commands that fail


def test_a_command_that_is_missing_is_an_answer(tmp_path: Path) -> None:
    answer = CommandRunner(["no-such-agent"], cwd=tmp_path, env=os.environ, timeout_s=30).run("hello")
    assert answer.error == "cannot start no-such-agent: No such file or directory"
    assert (answer.text, answer.exit_code, answer.timed_out) == ("", None, False)


def test_a_folder_that_is_missing_is_named(tmp_path: Path) -> None:
    answer = runner(tmp_path / "gone", "pass").run("hello")
    assert answer.error == f"cannot start {sys.executable}: No such file or directory: {tmp_path / 'gone'}"


def test_arguments_that_no_command_can_have_are_an_answer(tmp_path: Path) -> None:
    answer = CommandRunner(["agent\n\0"], cwd=tmp_path, env=os.environ, timeout_s=30).run("hello")
    assert answer.error == r"cannot start agent\n\x00: embedded null byte"


def test_an_empty_argument_vector_is_the_callers_mistake(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        CommandRunner([], cwd=tmp_path, env=os.environ, timeout_s=30)


def test_a_failure_is_told_by_its_code_and_the_last_line_of_standard_error(tmp_path: Path) -> None:
    code = r"import os; os.write(1, b'half'); os.write(2, b'noise\nno \x1b[31mkey\xff\n \n'); os._exit(1)"
    answer = runner(tmp_path, code).run("")
    assert answer._replace(elapsed_s=0) == Answer("half", 1, False, "exit code 1: no \\x1b[31mkey\ufffd", 0)


def test_a_failure_without_words_is_told_by_its_code(tmp_path: Path) -> None:
    assert runner(tmp_path, "raise SystemExit(7)").run("").error == "exit code 7"


def test_a_command_ended_by_a_signal_says_which(tmp_path: Path) -> None:
    answer = runner(tmp_path, "import os; os.kill(os.getpid(), 9)").run("")
    assert (answer.exit_code, answer.error) == (-9, "ended by signal 9 (Killed)")


def test_of_a_long_standard_error_only_the_end_is_kept(tmp_path: Path) -> None:
    code = "import sys; print('x' * 3_000_000 + 'the end', file=sys.stderr); raise SystemExit(1)"
    error = runner(tmp_path, code).run("").error
    assert error.startswith("exit code 1: xxx")
    assert error.endswith("xthe end")
    assert len(error) < 4200


# Commands that do not end


def test_a_command_whose_time_is_up_is_asked_to_end_and_keeps_what_it_said(tmp_path: Path) -> None:
    code = f"""{NOTING}
def bye(*_):
    print("saved", flush=True)
    raise SystemExit(0)
signal.signal(signal.SIGTERM, bye)
print("working", flush=True)
time.sleep(60)
"""
    answer = runner(tmp_path, code, timeout_s=1.5).run("")
    assert (answer.text, answer.timed_out, answer.error) == ("working\nsaved\n", True, "time-out after 1.5 s")
    assert 1.5 <= answer.elapsed_s < 20


DEAF_FAMILY = f"""{NOTING}
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = '''{NOTING}
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("grandchild", flush=True)
time.sleep(60)
'''
subprocess.Popen([sys.executable, "-ISc", child])
time.sleep(60)
"""


def test_a_command_and_its_children_that_are_deaf_to_asking_are_killed(tmp_path: Path) -> None:
    answer = runner(tmp_path, DEAF_FAMILY, timeout_s=1.5, grace_s=0.3).run("")
    assert len(noted(tmp_path)) == 2
    assert (answer.text, answer.exit_code, answer.timed_out) == ("grandchild\n", -9, True)
    assert 1.8 <= answer.elapsed_s < 20


def test_a_child_gets_its_grace_where_the_command_itself_ends_at_once(tmp_path: Path) -> None:
    code = f"""{NOTING}
child = '''{NOTING}
def bye(*_):
    time.sleep(0.5)
    print("cleaned up", flush=True)
    raise SystemExit
signal.signal(signal.SIGTERM, bye)
note()
time.sleep(60)
'''
subprocess.Popen([sys.executable, "-ISc", child]).wait()
"""
    command = runner(tmp_path, code)
    stopper = threading.Thread(target=lambda: (await_noted(tmp_path, 3), command.stop()))
    stopper.start()
    answer = command.run("")
    stopper.join()
    assert (answer.text, answer.error) == ("cleaned up\n", "stopped")


@pytest.mark.parametrize("holds", ["both pipes", "no pipe"])
def test_children_left_behind_by_a_command_that_is_done_do_not_hold_up_its_answer(
    tmp_path: Path, holds: str
) -> None:
    where = "None" if holds == "both pipes" else "subprocess.DEVNULL"
    code = f"""{NOTING}
child = subprocess.Popen(["sleep", "60"], stdout={where}, stderr={where})
open("pids", "a").write(f"{{child.pid}}\\n")
print("done")
"""
    answer = runner(tmp_path, code).run("")
    assert answer._replace(elapsed_s=0) == Answer("done\n", 0, False, "", 0)
    assert len(noted(tmp_path)) == 2
    assert answer.elapsed_s < 20


def test_time_does_not_run_out_on_a_command_that_is_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(moot.agents.runners, "LINGER_S", 1.5)
    code = f"{NOTING}\nsubprocess.Popen(['sleep', '60'])\nprint('done')"
    answer = runner(tmp_path, code, timeout_s=1).run("")
    assert answer._replace(elapsed_s=0) == Answer("done\n", 0, False, "", 0)
    assert answer.elapsed_s >= 1.5


def test_a_command_that_closes_its_outputs_is_waited_for(tmp_path: Path) -> None:
    code = "import os, time; os.write(1, b'x'); os.close(1); os.close(2); time.sleep(0.3); os._exit(4)"
    answer = runner(tmp_path, code).run("")
    assert (answer.text, answer.exit_code) == ("x", 4)
    assert answer.elapsed_s >= 0.3


# Commands that say too much


def test_output_up_to_the_cap_is_whole(tmp_path: Path) -> None:
    answer = runner(tmp_path, "print('x' * 100_000, end='')", max_output_bytes=100_000).run("")
    assert (len(answer.text), answer.error) == (100_000, "")


def test_output_a_byte_over_the_cap_is_an_error(tmp_path: Path) -> None:
    answer = runner(tmp_path, "print('x' * 100_001, end='')", max_output_bytes=100_000).run("")
    assert (len(answer.text), answer.error) == (100_000, "output over the cap of 100000 bytes")


def test_output_without_end_is_cut_and_the_command_ended(tmp_path: Path) -> None:
    import resource

    code = f"{NOTING}\nwhile True: print('x' * 100_000)"
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    answer = runner(tmp_path, code).run("")
    grown_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert (len(answer.text), answer.timed_out) == (262_144, False)
    assert answer.error == "output over the cap of 262144 bytes"
    assert grown_kib < 8_000


def test_a_flood_that_is_deaf_to_asking_is_not_kept(tmp_path: Path) -> None:
    code = f"{NOTING}\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nwhile True: print('x' * 100_000)"
    answer = runner(tmp_path, code, grace_s=0.3, max_output_bytes=1000).run("")
    assert (answer.text, answer.exit_code) == ("x" * 1000, -9)


# Stops and interrupts


def test_stop_from_another_thread_ends_the_turn(tmp_path: Path) -> None:
    command = runner(tmp_path, DEAF_FAMILY, grace_s=0.2)
    stopper = threading.Thread(target=lambda: (await_noted(tmp_path, 2), command.stop()))
    stopper.start()
    answer = command.run("")
    stopper.join()
    assert (answer.exit_code, answer.timed_out, answer.error) == (-9, False, "stopped")


def test_stop_from_a_signal_handler_ends_the_turn(tmp_path: Path) -> None:
    command = runner(tmp_path, f"{NOTING}\ntime.sleep(60)")
    me = threading.get_ident()
    before = signal.signal(signal.SIGUSR1, lambda *_: command.stop())
    ringer = threading.Thread(
        target=lambda: (await_noted(tmp_path, 1), signal.pthread_kill(me, signal.SIGUSR1))
    )
    try:
        ringer.start()
        answer = command.run("")
        ringer.join()
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert (answer.exit_code, answer.error) == (-15, "stopped")


def test_after_a_stop_no_turn_begins(tmp_path: Path) -> None:
    command = runner(tmp_path, NOTING)
    command.stop()
    assert command.run("")._replace(elapsed_s=0) == Answer("", None, False, "stopped", 0)
    assert noted(tmp_path) == []


@pytest.fixture
def interrupts() -> Iterator[None]:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interrupts")
def test_an_interrupt_passes_on_and_leaves_no_process(tmp_path: Path) -> None:
    command = runner(tmp_path, DEAF_FAMILY, grace_s=0.2)
    me = threading.get_ident()
    ringer = threading.Thread(
        target=lambda: (await_noted(tmp_path, 2), signal.pthread_kill(me, signal.SIGINT))
    )
    ringer.start()
    with pytest.raises(KeyboardInterrupt):
        command.run("")
    ringer.join()
    assert len(noted(tmp_path)) == 2


@pytest.mark.usefixtures("interrupts")
def test_an_interrupted_command_may_put_its_house_in_order(tmp_path: Path) -> None:
    code = f"""{NOTING}
def bye(*_):
    open("saved", "w").close()
    raise SystemExit
signal.signal(signal.SIGTERM, bye)
note()
time.sleep(60)
"""
    command = runner(tmp_path, code)
    me = threading.get_ident()
    ringer = threading.Thread(
        target=lambda: (await_noted(tmp_path, 2), signal.pthread_kill(me, signal.SIGINT))
    )
    ringer.start()
    with pytest.raises(KeyboardInterrupt):
        command.run("")
    ringer.join()
    assert (tmp_path / "saved").exists()


@pytest.mark.usefixtures("interrupts")
def test_a_second_interrupt_ends_the_grace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command = runner(tmp_path, DEAF_FAMILY, grace_s=600)
    me = threading.get_ident()
    in_grace = threading.Event()
    send = _Group.send

    def send_and_tell(group: _Group, number: int) -> None:
        send(group, number)
        in_grace.set()

    def ring_twice() -> None:
        await_noted(tmp_path, 2)
        signal.pthread_kill(me, signal.SIGINT)
        assert in_grace.wait(20)
        signal.pthread_kill(me, signal.SIGINT)

    monkeypatch.setattr(_Group, "send", send_and_tell)
    ringer = threading.Thread(target=ring_twice)
    ringer.start()
    with pytest.raises(KeyboardInterrupt):
        command.run("")
    ringer.join()


@pytest.mark.parametrize("has_group", [True, False], ids=["in its group", "not yet in its group"])
def test_an_interrupt_while_the_command_is_being_started_leaves_no_process(
    tmp_path: Path, has_group: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nobody(group: int, number: int) -> None:
        raise ProcessLookupError

    def interrupted(descriptor: int, size: int) -> bytes:
        patch.undo()
        if not has_group:
            patch.setattr(os, "killpg", nobody)
        await_noted(tmp_path, 1)
        raise KeyboardInterrupt

    command = runner(tmp_path, f"{NOTING}\ntime.sleep(60)", grace_s=0.1)
    with monkeypatch.context() as patch:
        patch.setattr(os, "read", interrupted)  # by which subprocess waits for the command to be there
        with pytest.raises(KeyboardInterrupt):
            command.run("")
    assert len(noted(tmp_path)) == 1


def test_a_parent_that_ignores_its_childrens_end_costs_no_answer(tmp_path: Path) -> None:
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        answer = runner(tmp_path, "print('done')").run("")
    finally:
        signal.signal(signal.SIGCHLD, before)
    assert (answer.text, answer.error) == ("done\n", "")


def test_a_system_without_waitid_is_served_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "waitid")
    answer = runner(tmp_path, DEAF_FAMILY, timeout_s=1.5, grace_s=0.2).run("")
    assert (answer.exit_code, answer.timed_out) == (-9, True)
    left_behind = f"""{NOTING}
child = subprocess.Popen(["sleep", "60"])
print(child.pid, file=open("pids", "a"))
raise SystemExit(3)
"""
    assert runner(tmp_path, left_behind).run("").exit_code == 3
    assert len(noted(tmp_path)) == 4


# Who is run by what


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("CC=mock", ("CC", "mock", ())),
        ("CX=cmd:python agent.py", ("CX", "cmd", ("python", "agent.py"))),
        (" CX = cmd: python 'my agent.py' --x=a:b ", ("CX", "cmd", ("python", "my agent.py", "--x=a:b"))),
        ("CX=cmd:echo $(id) `id` ; #", ("CX", "cmd", ("echo", "$(id)", "`id`", ";", "#"))),
    ],
)
def test_an_agent_spec_gives_name_kind_and_arguments(
    text: str, spec: tuple[str, str, tuple[str, ...]]
) -> None:
    assert parse_agent_spec(text) == spec


@pytest.mark.parametrize(
    "text",
    [
        "",
        "CC",
        "=mock",
        "CC=",
        "CC=mocks",
        "CC=mock:x",
        "CC=cmd",
        "CC=cmd:",
        "CC=cmd: ",
        "CC=cmd:''",
        "CC=cmd:'open",
        "a\nb=c\nd",
    ],
)
def test_any_other_agent_spec_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_agent_spec(text)
    assert len(str(caught.value).splitlines()) == 1
