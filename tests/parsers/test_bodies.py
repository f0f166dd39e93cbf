"""Bodies: each tag has its grammar, and what has none is text."""

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.parsers.absent import absent_of
from moot.parsers.bodies import GRAMMARS, read_body
from moot.parsers.challenge import challenge_of
from moot.parsers.entry import entry_of
from moot.parsers.position import position_of, rebuttal_of
from moot.parsers.score import scores_of
from moot.parsers.stage import selection_of, stage_of
from moot.parsers.winner import winner_of

from .test_tokens import texts

READERS = {
    "CHALLENGE": challenge_of, "ENTRY": entry_of, "SCORE": scores_of, "WINNER": winner_of, "STAGE": stage_of,
    "SELECTION": selection_of, "POSITION": position_of, "REBUTTAL": rebuttal_of, "ABSENT": absent_of,
}  # fmt: skip
BODY = "TASK: Name it.\nSUBMISSION: Leaf\nENTRY: ANT\nWarm: 8\nSELECTED: ANT\nREASON: warm"


def test_every_grammar_is_one_of_these():
    assert set(GRAMMARS) == set(READERS)


@pytest.mark.parametrize("tag", sorted(READERS))
def test_a_tag_is_read_by_its_grammar(tag):
    assert read_body(tag, BODY) == READERS[tag](BODY)
    assert type(read_body(tag, BODY)) is not str


@pytest.mark.parametrize("tag", ["", "PEER_A", "DONE", "entry", "ENTRY ", "os.path", ".entry"])
def test_a_tag_without_a_grammar_leaves_the_text(tag):
    assert read_body(tag, f"\n {BODY} \r\n") == BODY


@given(st.one_of(st.sampled_from([*READERS, "PEER_A"]), st.text()), texts)
def test_any_body_of_any_tag_is_read_without_an_error(tag, body):
    assert read_body(tag, body) == (READERS[tag](body) if tag in READERS else body.strip())


def test_a_grammar_is_loaded_when_it_is_first_needed():
    code = (
        "import sys; from moot.parsers.bodies import read_body; read_body('PEER_A', 'x');"
        " assert 'moot.parsers.score' not in sys.modules; read_body('SCORE', 'x');"
        " assert 'moot.parsers.score' in sys.modules and 'moot.parsers.winner' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
