"""A debater's verdict: what the last `VERDICT:` line of its own says, and why.

    VERDICT: AGREE
    VERDICT: DISAGREE: what must change
    VERDICT: PARTIAL: what is accepted / what is contested

In any case and markup, numbered or not; the word may stand on the next line, and a word that is the line's first
counts with no `VERDICT:` before it where no line has one. Lines that are quoted or fenced are somebody else's; so
are the prompt's own lines (`ASKED`), which some programs print again. The first word decides: AGREE is not found
in DISAGREE, and `I would not AGREE` is no verdict.
"""

import re
from typing import NamedTuple

from .sections import fences, unfenced

VERDICTS = ("AGREE", "DISAGREE", "PARTIAL")
UNPARSED = "UNPARSED"
ASKED = """\
VERDICT: one of
- AGREE — you accept the current synthesis
- DISAGREE: your objection, and what must change
- PARTIAL: what you accept / what you contest"""

_MARKS = r"[*_`#>~ \t]*+"  # possessive: a line of a million of them is looked at once
_WORD = r"(?P<word>AGREE|DISAGREE|PARTIAL)(?![\w-])"
# Seed's and ours: a list of all three words is a question, not an answer to it.
_CHOICE = re.compile(
    r"(?i)AGREE\W+(?:or\W+)?DISAGREE\W|DISAGREE\W+(?:or\W+)?(?:AGREE|PARTIAL)\W*(?:or|/|\||$)"
)


class Verdict(NamedTuple):
    """One of VERDICTS, or nothing; the reason is what follows it, of PARTIAL the part that is contested."""

    word: str
    reason: str = ""
    accepted: str = ""


def verdict_in(text: str) -> Verdict:
    """Give the verdict of a text; its word is empty where it has none."""
    lines = _own_lines(text)
    for at in reversed(range(len(lines))):
        said = re.match(
            rf"{_MARKS}(?:[0-9]{{1,2}}[.)][ \t]+|[-+*][ \t]+)?{_MARKS}VERDICT{_MARKS}(?::|[\u2014\u2013-]|$)(.*)",
            lines[at],
            re.IGNORECASE,
        )
        if said is None:
            continue
        rest = said[1].strip(" \t*_`:\u2014\u2013-") or _next(lines, at)
        if rest and not _CHOICE.match(rest) and not re.match(r"(?i)one of\b", rest):
            return _read(rest, flags=re.IGNORECASE)
    bare = (_read(line, ending=r"(?=\W*$|[*_`]*(?::|[ \t]+[\u2014\u2013-]))") for line in reversed(lines))
    return next((verdict for verdict in bare if verdict.word), Verdict(""))


def _own_lines(text: str) -> list[str]:
    """Give the lines that nobody else wrote: not fenced, not quoted, not the prompt's."""
    lines = unfenced(text.replace("\r\n", "\n")).split("\n")
    fenced, own, until = fences(lines), [], -1
    asked = {_plain(line) for line in ASKED.split("\n")}
    for number, line in enumerate(lines):
        if number > until:
            until = max(until, fenced.get(number, -1))
        if number > until and not _is_anothers(line) and _plain(line) not in asked:
            own.append(line)
    return own


def _is_anothers(line: str) -> bool:
    """Tell whether a line is a quotation, or a form that nobody has filled in: `DISAGREE: <why>`."""
    return line.lstrip().startswith(">") or re.search(r":[*_]*[ \t]+<[^<>]+>", line) is not None


def _plain(line: str) -> str:
    """Give the words of a line, less markup, numbers and case."""
    return " ".join(re.findall(r"[^\W\d_]+", line.casefold()))


def _next(lines: list[str], at: int) -> str:
    return next((line.strip() for line in lines[at + 1 :] if line.strip()), "")


def _read(line: str, *, ending: str = "", flags: int = 0) -> Verdict:
    """Read a verdict that begins a line."""
    found = re.match(rf"{_MARKS}(?:[-+*][ \t]+)?{_MARKS}{_WORD}{ending}", line, flags)
    if found is None or _CHOICE.match(line[found.start("word") :]):
        return Verdict("")
    word = found["word"].upper()
    reason = line[found.end() :].strip(" \t*_`:\u2014\u2013-.").strip()
    if word == "PARTIAL":
        accepted, slash, contested = reason.partition(" / ")
        return Verdict(word, contested.strip() if slash else reason, accepted.strip() if slash else "")
    return Verdict(word, reason)
