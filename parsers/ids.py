"""Block ids: 48 bits of time in milliseconds and 40 random ones, as 18 letters that sort by time."""

ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"  # Crockford's: no I, L, O, U to misread
LENGTH = 18
RANDOM_BITS = 40
_VALUES = {letter: value for value, letter in enumerate(ALPHABET)}


def mint(now_ms: int, random40: int, last: str = "") -> str:
    """Give an id for a block written at `now_ms`, above `last` even where the clock went back."""
    number = (now_ms & (1 << 48) - 1) << RANDOM_BITS | random40 & (1 << RANDOM_BITS) - 1
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
    """Write a number as an id of 18 letters."""
    letters = []
    for _ in range(LENGTH):
        letters.append(ALPHABET[number & 31])
        number >>= 5
    return "".join(reversed(letters))


def is_id(text: str) -> bool:
    """Tell whether `text` has the form of a block id."""
    return len(text) == LENGTH and all(letter in _VALUES for letter in text)
