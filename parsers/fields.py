"""Fields: `KEY: value` lines, as openings and final statuses hold them."""

import re
from collections.abc import Iterable, Mapping
from functools import cache


@cache
def _field() -> re.Pattern[str]:
    return re.compile(r"([A-Z][A-Z0-9_ ]*):[ \t]?(.*)")


def write_fields(pairs: Iterable[tuple[str, str]]) -> str:
    """Write one field a line; only the last value may have several, in the others a newline becomes a blank."""
    lines = [f"{key}: {value}".rstrip() for key, value in pairs]
    return "\n".join([*(line.replace("\n", " ") for line in lines[:-1]), *lines[-1:]])


def read_fields(text: str, *, last: str = "") -> Mapping[str, str]:
    """Read the fields of a text; the key `last` takes everything to the end.

    Lines that are no fields are passed over, and the first of two equal keys counts.
    """
    fields: dict[str, str] = {}
    lines = text.split("\n")
    for number, line in enumerate(lines):
        match = _field().fullmatch(line.rstrip("\r"))
        if match is None:
            continue
        key, value = match.groups()
        if key == last:
            return {**fields, key: "\n".join([value, *lines[number + 1 :]]).strip("\n")}
        fields.setdefault(key, value.strip())
    return fields
