"""A debater's verdict: what the last `VERDICT:` line of its own says, and why.

    VERDICT: AGREE
    VERDICT: DISAGREE: what must change
    VERDICT: PARTIAL: what is accepted / what is contested

In any case and markup, numbered or not; the word may stand on the next line. An answer without such a line may
begin or end with one of the words in capitals. Lines that are quoted, fenced, indented as code or commented out are
somebody else's; so is the form that the prompt asks to be filled in, whole or in part, since some programs print
their prompt again.

Consent is never guessed: an AGREE with a condition, a doubt, a negation or another verdict behind it is none, and
costs one question more.
"""

import re
from typing import NamedTuple

from .sections import own_lines, unfenced

VERDICTS = ("AGREE", "DISAGREE", "PARTIAL")
UNPARSED = "UNPARSED"
ASKED = """\
VERDICT: one of
- AGREE — you accept the current synthesis
- DISAGREE: your objection, and what must change
- PARTIAL: what you accept / what you contest"""
_FORMS = (ASKED, ASKED.replace("your objection", "specific objection"))  # ours, and the seed's

_MARKS = (
    r"[*_`#>~ \t'\"\u2018\u2019\u201c\u201d()\[\]|]*+"  # possessive: a million of them are looked at once
)
_LEAD = rf"{_MARKS}(?:[0-9]{{1,2}}[.)][ \t]+|[-+*][ \t]+)?{_MARKS}"
_LINE = rf"(?i){_LEAD}(?:(?:my|our|final)[ \t]+){{0,2}}VERDICT[*_` \t]*+(?:[:=|\uff1a\u2014\u2013-]|$)(.*)"
_WORD = rf"{_LEAD}(?P<word>AGREE|DISAGREE|PARTIAL)(?![\w-])"
_NO_CONSENT = re.compile(
    r"(?i)\b(?:almost|although|but|can|cannot|could|condition\w*|disagree\w*|doubt\w*|except|however|if|in|insofar|may|"
    r"maybe|might|mostly|must|neither|never|no|nobody|none|nor|not|nothing|only|or|part\w*|perhaps|premature|provided|"
    r"reject\w*|reservations?|should|\w+n['\u2019]t|though|unless|until|would)\b|\?"
)
_NO_OBJECTION = re.compile(
    r"(?i)\bno (?:further |more |remaining |other )?(?:objections?|changes?|reservations?|concerns?|doubts?)\b"
)


class Verdict(NamedTuple):
    """One of VERDICTS, or nothing; the reason is what follows it, of PARTIAL the part that is contested."""

    word: str
    reason: str = ""
    accepted: str = ""


def verdict_in(text: str) -> Verdict:
    """Give the verdict of a text; its word is empty where it has none."""
    lines = [line for line in own_lines(unfenced(text)) if line.strip()]
    is_form = False
    for at in reversed(range(len(lines))):
        said = re.match(_LINE, lines[at])
        if said is None:
            continue
        rest = said[1].strip(" \t*_`:=|\u2014\u2013-") or "".join(lines[at + 1 : at + 2])
        if not _is_of_the_form(rest) and not re.match(r"(?i)[*_ ]*one of\b", rest):
            return _read(rest, flags=re.IGNORECASE)
        is_form = True
    if is_form or not lines:  # what stands below the form may be the rest of it
        return Verdict("")
    edges = [line for line in (lines[-1], lines[0]) if not _is_of_the_form(line)]
    bare = (_read(line, ending=r"(?=\W*$|[*_`]*(?::|[ \t]+[\u2014\u2013-]))") for line in edges)
    return next((one for one in bare if one.word), Verdict(""))


def _is_of_the_form(line: str) -> bool:
    """Tell whether a line is a part of the form, of two words at least, wherever it was cut or wrapped."""
    words = _plain(line)
    if " " not in words:
        return False
    in_form = any(f" {words}" in f" {_plain(form)}" for form in _FORMS)
    blanks = re.fullmatch(rf"{_WORD}[^<>]*(?:<[^<>]*>[ \t/]*)+", line, re.IGNORECASE)
    return in_form or blanks is not None


def _plain(line: str) -> str:
    """Give the words of a line, less markup, numbers and case."""
    return " ".join(re.findall(r"[^\W\d_]+", line.casefold()))


def _read(line: str, *, ending: str = "", flags: int = 0) -> Verdict:
    """Read a verdict that begins a line; one that is struck out is none."""
    found = re.match(rf"{_WORD}{ending}", line, flags)
    if found is None or "~~" in line:
        return Verdict("")
    word = found["word"].upper()
    reason = line[found.end() :].strip(" \t*_`:|\u2014\u2013-.'\"\u201c\u201d)]").strip()
    if word == "AGREE" and not _is_consent(line[found.end() :]):
        return Verdict("")
    if re.match(
        r"(?i)(?:\W|or\b)*(?:AGREE|DISAGREE|PARTIAL)\W*(?:(?:\W|or\b)*(?:DISAGREE|PARTIAL)\W*)?$", reason
    ):
        return Verdict("")  # a choice of words is a question
    if word == "PARTIAL":
        accepted, slash, contested = reason.partition(" / ")
        return Verdict(word, contested.strip() if slash else reason, accepted.strip() if slash else "")
    return Verdict(word, reason)


def _is_consent(rest: str) -> bool:
    """Tell whether what follows AGREE leaves it as it is."""
    return rest.strip(" *_`") != ":" and _NO_CONSENT.search(_NO_OBJECTION.sub("", rest)) is None
