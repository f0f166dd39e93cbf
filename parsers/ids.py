"""Block ids: 48 bits of time in milliseconds and 40 random ones, as 18 letters that sort by time.

And the stamps beside them, `2026-11-30T19:22:11.123Z`: the clock as it was, where an id's time never goes back.
"""

import re

ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"  # Crockford's: no I, L, O, U to misread
LENGTH = 18
TIME_BITS = 48
RANDOM_BITS = 40
_VALUES = {letter: value for value, letter in enumerate(ALPHABET)}
_HIGHEST = (1 << TIME_BITS + RANDOM_BITS) - 1
LATEST_TIME = "4" + "0" * (LENGTH - 1)  # the year 6429: an id from then on leaves too little room above
_FIRST_LETTERS = ALPHABET[: (_HIGHEST >> 5 * (LENGTH - 1)) + 1]  # 18 letters could hold two bits more


def mint(now_ms: int, random40: int, last: str = "") -> str:
    """Give an id for a block written at `now_ms`, above `last` even where the clock went back.

    Raises ValueError where `last` is no id, or the highest one: then there is none above it.
    """
    number = (now_ms & (1 << TIME_BITS) - 1) << RANDOM_BITS | random40 & (1 << RANDOM_BITS) - 1
    if last:
        number = max(number, to_number(last) + 1)
    return from_number(number)


def to_number(block_id: str) -> int:
    """Read an id as a number; ValueError where it is none."""
    if not is_id(block_id):
        raise ValueError(f"not a block id: {block_id!r}")
    number = 0
    for letter in block_id:
        number = number << 5 | _VALUES[letter]
    return number


def from_number(number: int) -> str:
    """Write a number of at most 88 bits as an id of 18 letters; ValueError for any other."""
    if not 0 <= number <= _HIGHEST:
        raise ValueError(f"no block id has the number {number}")
    return "".join(ALPHABET[number >> shift & 31] for shift in range(5 * (LENGTH - 1), -1, -5))


def is_id(text: str) -> bool:
    """Tell whether `text` has the form of a block id."""
    return len(text) == LENGTH and text[0] in _FIRST_LETTERS and all(letter in _VALUES for letter in text)


def time_ms(block_id: str) -> int:
    """Give the time in an id, in milliseconds since 1970; ValueError where it is none."""
    return to_number(block_id) >> RANDOM_BITS


def stamped_ms(stamp: str) -> int | None:
    """Read a stamp, in milliseconds since 1970; None where it is none."""
    read = re.fullmatch(r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)\.(\d{3})Z", stamp, re.ASCII)
    if read is None:
        return None
    year, month, day, hour, minute, second, ms = (int(digits) for digits in read.groups())
    if not (
        year >= 1970 and 1 <= month <= 12 and 1 <= day <= 31 and hour < 24 and minute < 60 and second < 61
    ):
        return None
    # Days are counted in years that begin in March, so that the leap day is the last one.
    year, month = (year, month - 3) if month > 2 else (year - 1, month + 9)
    days = 365 * year + year // 4 - year // 100 + year // 400 + (153 * month + 2) // 5 + day - 1 - 719_468
    return (((days * 24 + hour) * 60 + minute) * 60 + second) * 1000 + ms
