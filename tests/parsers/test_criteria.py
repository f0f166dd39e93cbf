"""Criteria: a name and a weight from an item, checked sums, one line that comes back as it was."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.parsers.criteria import check_criteria, criterion_of, read_criteria, write_criteria
from moot.parsers.errors import UsageError
from moot.parsers.seats import Criterion

names = st.text(
    st.characters(exclude_characters="\n|", exclude_categories=["Cs"]), min_size=1, max_size=20
).map(lambda name: f"{name.strip()}.")
millionths = st.integers(0, 100_000_000).map(lambda number: number / 1_000_000)


@pytest.mark.parametrize(
    ("item", "name", "weight", "about"),
    [
        ("Warm", "Warm", None, ""),
        ("Warm 30%", "Warm", 30, ""),
        ("Warm - 30%", "Warm", 30, ""),
        ("Warm \u2014 30 %", "Warm", 30, ""),
        ("Warm: 30", "Warm", 30, ""),
        ("Warm = 33.5", "Warm", 33.5, ""),
        ("Warm (30%)", "Warm", 30, ""),
        ("Warm [ 30 ]", "Warm", 30, ""),
        ("30% Warm", "Warm", 30, ""),
        ("**Warm** - does it glow? (30%)", "Warm", 30, "does it glow?"),
        ("Warm (30%): does it glow?", "Warm", 30, "does it glow?"),
        ("Warm \u2013 does it glow?", "Warm", None, "does it glow?"),
        ("\u201cWarm\u201d", "Warm", None, ""),
        ("Well-kept", "Well-kept", None, ""),
        ("Ratio 2:1", "Ratio 2", 1, ""),
        ("Under 8 words", "Under 8 words", None, ""),
        ("Top 30", "Top 30", None, ""),
        ("Warm \u0663\u0660%", "Warm \u0663\u0660%", None, ""),
        ("Warm 0.000001%", "Warm", 0.000001, ""),
        ("Warm 1234567%", "Warm 1234567%", None, ""),
    ],
)
def test_an_item_gives_a_name_a_weight_and_what_else_it_says(item, name, weight, about):
    assert criterion_of(item) == (Criterion(name, weight), about)


@pytest.mark.parametrize("item", ["", " ", "30%", "(30%)", "**", "- 30%", ": 30", "\t", "\r", "*\u00a0*"])
def test_a_criterion_without_a_name_is_refused(item):
    with pytest.raises(UsageError, match="without a name"):
        criterion_of(item)


@pytest.mark.parametrize(
    ("criteria", "told"),
    [
        ([("Warm", None), ("WARM", None)], "'WARM' is named twice"),
        ([("Warm", 50), ("Short", None)], "'Short' has no weight"),
        ([("Warm", 50), ("Short", 49.4)], "add up to 99.4%"),
        ([("Warm", 50), ("Short", 50.6)], "add up to 100.6%"),
        ([("Warm", 0)], "add up to 0%"),
    ],
)
def test_criteria_that_do_not_fit_each_other_are_refused(criteria, told):
    with pytest.raises(UsageError, match=told):
        check_criteria([Criterion(*one) for one in criteria])


@pytest.mark.parametrize(
    "criteria",
    [[], [("Warm", None), ("Short", None)], [("Warm", 100)], [("A", 33.3), ("B", 33.3), ("C", 33.3)]],
)
def test_criteria_that_fit_each_other_are_taken(criteria):
    check_criteria([Criterion(*one) for one in criteria])


@pytest.mark.parametrize(
    ("criteria", "line"),
    [
        ((), ""),
        ((Criterion("Warm", None),), "Warm"),
        ((Criterion("Warm", 60), Criterion("Short", 40)), "Warm 60% | Short 40%"),
        ((Criterion("Warm", 33.333333), Criterion("Short", 66.666667)), "Warm 33.333333% | Short 66.666667%"),
        ((Criterion("Warm", 99.99999), Criterion("Short", 0.00001)), "Warm 99.99999% | Short 0.00001%"),
        ((Criterion("Warm", 100), Criterion("Short", 0)), "Warm 100% | Short 0%"),
        ((Criterion("Fits 80%", None), Criterion("Short", None)), "Fits 80% | Short"),
        ((Criterion("Under 5% 60%", 60), Criterion("Short", 40)), "Under 5% 60% 60% | Short 40%"),
    ],
)
def test_criteria_stand_on_one_line_that_is_read_again(criteria, line):
    assert write_criteria(criteria) == line
    assert read_criteria(line) == criteria


def test_a_bar_in_a_name_makes_no_second_criterion():
    assert write_criteria([Criterion("Warm | Short", None)]) == "Warm / Short"


@pytest.mark.parametrize(
    "line",
    [
        "Warm ..%",
        "Warm e%",
        "Warm 1.2.3%",
        "Warm 1e+5%",
        "Warm -5%",
        "Warm 8/10%",
        "5%",
        "Warm " + "9" * 400 + "%",
    ],
)
def test_what_is_no_weight_is_part_of_the_name(line):
    assert read_criteria(line) == (Criterion(line, None),)


@given(st.one_of(st.lists(st.tuples(names, st.none())), st.lists(st.tuples(names, millionths))))
def test_written_criteria_are_read(pairs):
    criteria = tuple(Criterion(*pair) for pair in pairs)
    assert read_criteria(write_criteria(criteria)) == criteria


@given(st.one_of(st.text(), st.text("a1.e+% |")))
def test_any_text_gives_criteria_that_come_back(text):
    criteria = read_criteria(text)
    assert all(one.name for one in criteria)
    assert len({one.weight is None for one in criteria}) < 2
    if not any("|" in one.name for one in criteria):
        assert read_criteria(write_criteria(criteria)) == criteria


@given(st.one_of(st.text(), st.text("ab1(%)[]:=- .*")))
def test_any_item_is_read_or_refused(item):
    try:
        criterion, about = criterion_of(item)
    except UsageError:
        return
    assert criterion.name.strip() == criterion.name != ""
    assert about == about.strip()


@pytest.mark.parametrize(
    "unit", ["(", " ", "1", "1 ", "(1", "(1%", ": ", "-", " -", "%", "*", "9%", ":1 ", "|", " | "]
)
def test_a_hostile_item_of_100_kilobytes_costs_little_time(unit):
    item = "x " + unit * (100_000 // len(unit)) + "x"
    before = time.process_time()
    criterion_of(item)
    read_criteria(item)
    assert time.process_time() - before < 2
