"""Text from others made safe to show on a terminal: what would move, hide or recolour is made visible."""

import re
from functools import cache


@cache
def _unsafe() -> re.Pattern[str]:
    controls = r"\x00-\x08\x0b-\x1f\x7f-\x9f"
    return re.compile(rf"[{controls}\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")


def visible(text: str) -> str:
    """Give `text` with control, bidi and zero-width characters as escapes; newlines and tabs stay."""
    return _unsafe().sub(lambda match: f"\\u{ord(match.group()):04x}", text)


def one_line(text: str, limit: int = 80) -> str:
    """Give the first words of a text on one line of at most `limit` characters."""
    words = visible(" ".join(text.split()))
    return words if len(words) <= limit else words[: limit - 1] + "…"
