"""Scores: marks as people write them; a number out of 10 or none, never a guess."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.parsers.score import Mark, Score, _marks, plain, points_of, scores_of, total_of, write_score

from .test_tokens import texts

names = st.from_regex(r"[A-Za-z][a-z0-9 ]{0,8}[a-z0-9]", fullmatch=True)
values = st.one_of(
    st.integers(0, 10).map(str),
    st.integers(0, 100).map(lambda tenths: f"{tenths / 10}/10"),
    st.just("9/10 - sharp"),
)
words = st.text("abc .,\u2028'", min_size=1, max_size=20).map(str.strip)


def test_a_body_holds_a_part_for_each_entry():
    body = (
        "My scores:\n\nENTRY: Entry-2\nWarm: 7/10 - a bit stiff\nShort: 9/10\nTOTAL: 16/20\n"
        "NOTES: Cut the last line.\nThe first is good.\n\nENTRY: Entry-1\nWarm: 8.5\nNOTES: Fine.\nREASON: read twice"
    )
    assert scores_of(body) == (
        Score(
            "Entry-2",
            (Mark("Warm", "7/10 - a bit stiff"), Mark("Short", "9/10")),
            "16/20",
            "Cut the last line.\nThe first is good.",
        ),
        Score("Entry-1", (Mark("Warm", "8.5"),), "", "Fine.", "read twice"),
    )


@pytest.mark.parametrize(
    "name", ["ANT", "**ANT**", "`ANT`", " *ANT*. ", "ANT\t", "\nANT", "\t\u00a0ANT\u00a0"]
)
def test_the_name_of_an_entry_is_read_through_its_ornaments(name):
    assert [score.entry for score in scores_of(f"ENTRY: {name}\nWarm: 3")] == ["ANT"]
    assert scores_of(f"ENTRY: {name}\nWarm: 3")[0].marks == (Mark("Warm", "3"),)


@pytest.mark.parametrize(
    "line",
    [
        "Warm: 8/10",
        "Warm:8/10",
        "  Warm :  8/10 ",
        "- Warm: 8/10",
        "* Warm: 8/10",
        "*Warm*: 8/10",
        "+ Warm: 8/10",
        "• Warm: 8/10",
        "1. Warm: 8/10",
        "12) Warm: 8/10",
        "1.Warm: 8/10",
        "**Warm**: 8/10",
        "**Warm:** 8/10",
        "- **Warm:** 8/10",
        "1. **Warm** : 8/10\r",
    ],
)
def test_a_mark_is_read_in_any_plain_form(line):
    assert list(_marks([line])) == [Mark("Warm", "8/10")]


@pytest.mark.parametrize(
    ("line", "marks"),
    [
        ("", []),
        (":", []),
        (": 8", []),
        ("**: 8", []),
        ("- : 8", []),
        ("1.: 8", []),
        ("Warm 8/10", []),
        ("Warm\uff1a 8", []),
        ("w" * 201 + ": 8", []),
        ("w" * 200 + ": 8", [Mark("w" * 200, "8")]),
        ("Warm:", [Mark("Warm", "")]),
        ("Warm: 8: or so", [Mark("Warm", "8: or so")]),
        ("Warm: **8**", [Mark("Warm", "**8**")]),
        ("2.5D look: 8", [Mark("2.5D look", "8")]),
        ("-1 rule: 8", [Mark("-1 rule", "8")]),
        ("Wa\u2028rm: 8", [Mark("Wa\u2028rm", "8")]),
    ],
)
def test_a_mark_has_a_name_and_keeps_what_follows(line, marks):
    assert list(_marks([line])) == marks


def test_a_line_in_a_fence_is_no_key():
    (score,) = scores_of("ENTRY: ANT\nNOTES: As you wrote:\n```\nENTRY: BEE\nTOTAL: 3\n```\n")
    assert score == Score("ANT", notes="As you wrote:\n```\nENTRY: BEE\nTOTAL: 3\n```")


def test_keys_in_bold_and_headings_count_and_those_before_an_entry_do_not():
    body = "\ufeffNOTES: nobody's\r\n## ENTRY: ANT\r\nWarm: 3\r\n**TOTAL:** 3/10\r\n**NOTES**: Cold.\r\n[DONE]\r\n"
    assert scores_of(body) == (Score("ANT", (Mark("Warm", "3"),), "3/10", "Cold."),)
    assert scores_of("Warm: 3\nTOTAL: 3\nREASON: none") == scores_of("") == ()


@pytest.mark.parametrize(
    ("value", "points"),
    [
        ("8", 800),
        ("8/10", 800),
        ("8 / 10", 800),
        ("8/10 - plain", 800),
        ("8/10.", 800),
        ("8. Plain", 800),
        ("8, plain", 800),
        ("8: plain", 800),
        ("8.5", 850),
        ("8.5/10", 850),
        ("8.25/10", 825),
        ("08", 800),
        ("0", 0),
        ("10", 1000),
        ("10/10", 1000),
        ("**8**", 800),
        ("**8**/10", 800),
        ("**8/10** - plain", 800),
        ("8**", 800),
        ("-1", -100),
        ("-0.5/10", -50),
        ("11", 1100),
        ("9999", 999900),
        ("", None),
        ("eight", None),
        ("8points", None),
        ("8/12", None),
        ("27/30", None),
        ("8/100", None),
        ("8/", None),
        ("8/ten", None),
        ("8/10/10", None),
        ("8/10%", None),
        ("80%", None),
        ("8,5", None),
        ("8,5/10", None),
        ("8.567", None),
        ("8/10.5", None),
        ("1e1", None),
        ("+8", None),
        (".5", None),
        ("--1", None),
        ("٣", None),
        ("8٣", None),
        ("\u22121", None),
        ("\uff18", None),
        ("99999", None),
        ("9" * 100_000, None),
    ],
)
def test_points_are_a_number_out_of_10_or_none(value, points):
    assert points_of(value) == points


@pytest.mark.parametrize(
    ("value", "total"),
    [
        ("24", 2400),
        ("24/30", 2400),
        ("24 of 30", 2400),
        ("24.", 2400),
        ("24.5/30", 2450),
        ("24.25", 2425),
        ("**24/30**", 2400),
        ("0/30", 0),
        ("", None),
        ("about 24", None),
        ("-24", None),
        ("24,5", None),
        ("24.567", None),
        ("1.2.3", None),
        ("٣", None),
        ("9" * 100_000, None),
    ],
)
def test_a_total_is_a_number_or_none(value, total):
    assert total_of(value) == total


@pytest.mark.parametrize(
    ("hundredths", "text"),
    [
        (0, "0"),
        (5, "0.05"),
        (100, "1"),
        (870, "8.7"),
        (867, "8.67"),
        (1000, "10"),
        (866.666, "8.67"),
        (-50, "-0.5"),
    ],
)
def test_points_are_written_without_needless_digits(hundredths, text):
    assert plain(hundredths) == text


def test_a_written_score_adds_up_its_numbers():
    assert write_score(
        "ANT", [("Warm", "8"), ("Short", "7.5/10"), ("Odd", "no idea")], "Good.", "a slip"
    ) == ("ENTRY: ANT\nWarm: 8/10\nShort: 7.5/10\nOdd: no idea\nTOTAL: 15.5/30\nNOTES: Good.\nREASON: a slip")
    assert write_score("ANT", [], "Good.") == "ENTRY: ANT\nTOTAL: 0/0\nNOTES: Good."


@given(st.integers(0, 1000))
def test_points_come_back_as_they_were_written(points):
    assert points_of(plain(points)) == total_of(plain(points)) == points
    assert points_of(f"{plain(points)}/10 - why") == points


@given(st.text(), st.one_of(st.none(), texts))
def test_any_text_is_scored_without_an_error(value, body):
    assert points_of(value) is None or value.strip("*- ")[:1].isdigit()
    assert total_of(value) is None or total_of(value) >= 0
    for score in scores_of(value if body is None else body):
        assert all(mark.name == mark.name.strip() != "" for mark in score.marks)


@given(names, st.dictionaries(names, values, max_size=4), words, words)
def test_a_written_score_is_read(entry, marks, notes, reason):
    (score,) = scores_of(write_score(entry, marks.items(), notes, reason))
    assert (score.entry, score.notes, score.reason) == (entry, notes, reason)
    assert [mark.name for mark in score.marks] == list(marks)
    assert [points_of(mark.value) for mark in score.marks] == [points_of(value) for value in marks.values()]
    assert total_of(score.total) == sum(points_of(value) for value in marks.values())


@given(st.lists(st.tuples(names, st.integers(0, 10)), min_size=1, max_size=4), words)
def test_several_written_scores_are_read_in_order(given_points, notes):
    body = "\n\n".join(write_score(name, [("Warm", str(points))], notes) for name, points in given_points)
    read = [(score.entry, points_of(score.marks[0].value)) for score in scores_of(body)]
    assert read == [(name, points * 100) for name, points in given_points]


@pytest.mark.parametrize(
    "unit", ["*", " ", "* ", "-", "1. ", "1", ":", ": ", "*:", " *", "\t", "x", "\u2028", "\r"]
)
@pytest.mark.parametrize("end", ["", ":", "x: 8", "8"])
def test_a_hostile_line_of_100_kilobytes_costs_little_time(unit, end):
    line = unit * (100_000 // len(unit)) + end
    before = time.process_time()
    list(_marks([line, f"Warm: {line}", f"- **{line}"]))
    points_of(line), points_of(f"8{line}"), points_of(f"8/{line}"), total_of(line), total_of(f"8{line}")
    assert time.process_time() - before < 1
