"""Text from others made safe to show on a terminal: what would move, hide or recolour is made visible."""

import re
from functools import cache


@cache
def _unsafe() -> re.Pattern[str]:
    controls = r"\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029"
    bidi = r"\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
    invisible = r"\xad\u180e\u200b-\u200d\u2060-\u2065\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff"
    return re.compile(rf"[{controls}{bidi}{invisible}\ud800-\udfff]")


def visible(text: str) -> str:
    """Give `text` with control, bidi and zero-width characters as escapes; newlines and tabs stay."""
    return _unsafe().sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    code = ord(match.group())
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def one_line(text: str, limit: int = 80) -> str:
    """Give the first words of a text on one line of at most `limit` characters."""
    words = visible(" ".join(text.split()))
    return words if len(words) <= limit else words[: limit - 1] + "…"
