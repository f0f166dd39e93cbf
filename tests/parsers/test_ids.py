"""Block ids: they sort by time, never go back, and nothing else is taken for one."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.parsers.ids import (
    ALPHABET,
    LENGTH,
    RANDOM_BITS,
    from_number,
    is_id,
    mint,
    stamped_ms,
    time_ms,
    to_number,
)

HIGHEST = (1 << 88) - 1
times = st.integers(0, (1 << 48) - 1)
randoms = st.integers(0, (1 << RANDOM_BITS) - 1)
numbers = st.integers(0, HIGHEST)


@given(numbers)
def test_a_number_and_its_id_are_two_spellings_of_one_thing(number):
    block_id = from_number(number)
    assert is_id(block_id)
    assert to_number(block_id) == number


@given(numbers, numbers)
def test_ids_sort_as_their_numbers_do(one, other):
    assert (from_number(one) < from_number(other)) == (one < other)


@given(times, randoms)
def test_an_id_holds_its_time_and_its_random_bits(now_ms, random40):
    number = to_number(mint(now_ms, random40))
    assert number >> RANDOM_BITS == now_ms
    assert number & (1 << RANDOM_BITS) - 1 == random40


@given(times, randoms, st.integers(0, HIGHEST - 1))
def test_an_id_is_above_the_last_one_wherever_the_clock_stands(now_ms, random40, last):
    assert mint(now_ms, random40, from_number(last)) > from_number(last)


def test_where_the_clock_went_back_an_id_is_the_last_one_plus_one():
    last = mint(5_000, 17)
    assert to_number(mint(4_000, 99, last)) == to_number(last) + 1


def test_bits_that_do_not_fit_are_dropped_before_they_reach_the_time():
    assert mint(-1, 1 << 41) == mint((1 << 48) - 1, 0)


def test_above_the_highest_id_there_is_none():
    assert from_number(HIGHEST) == "7" + "Z" * 17
    with pytest.raises(ValueError, match="no block id"):
        mint(0, 0, from_number(HIGHEST))
    with pytest.raises(ValueError, match="no block id"):
        from_number(-1)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "0" * 17,
        "0" * 19,
        "0" * 17 + "I",
        "0" * 17 + "u",
        "0" * 17 + "٣",
        "8" + "0" * 17,
        "Z" * 18,
        " " * 18,
    ],
)
def test_what_is_no_id_is_said_to_be_none(text):
    assert not is_id(text)
    with pytest.raises(ValueError, match="not a block id"):
        to_number(text)


def test_letters_that_are_easily_misread_are_left_out():
    assert len(set(ALPHABET)) == 32
    assert not set("ILOU") & set(ALPHABET)
    assert LENGTH * 5 >= 88


@given(st.integers(0, 4_000_000_000_000))
def test_a_stamp_is_read_as_the_time_that_it_was_written_at(ms):
    seconds = datetime.fromtimestamp(ms // 1000, tz=UTC)
    assert stamped_ms(seconds.strftime("%Y-%m-%dT%H:%M:%S") + f".{ms % 1000:03}Z") == ms


@pytest.mark.parametrize(
    "stamp",
    [
        "",
        "today",
        "2026-11-30T19:22:11Z",
        "2026-13-30T19:22:11.123Z",
        "2026-11-32T19:22:11.123Z",
        "2026-11-30T24:22:11.123Z",
        "2026-11-30T19:60:11.123Z",
        "2026-11-30T19:22:61.123Z",
        "1969-11-30T19:22:11.123Z",
        "2026-11-30T19:22:11.123Z ",
        "\u0662026-11-30T19:22:11.123Z",
    ],
)
def test_what_is_no_stamp_has_no_time(stamp):
    assert stamped_ms(stamp) is None


def test_an_id_tells_its_time():
    assert time_ms(mint(1_796_066_531_007, 5)) == 1_796_066_531_007
