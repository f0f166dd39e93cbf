"""Findings: `FINDING: location | claim | evidence | severity`, and how those of several candidates are one list.

In any capitals, in a list or a heading, numbered or not. Lines in code fences and quotations are somebody else's.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from .votes import LEAD, own_lines

SEVERITIES = ("critical", "high", "medium", "low", "info")


class Finding(NamedTuple):
    """One finding; `severity` is one of SEVERITIES, or empty: then `severity_said` is the word that is none."""

    location: str
    claim: str
    evidence: str = ""
    severity: str = ""
    found_by: tuple[str, ...] = ()
    severity_said: str = ""


def findings_of(text: str) -> tuple[Finding, ...]:
    """Read the findings in a candidate's text."""
    return tuple(one for _, one in _read(text))


def missed_in(text: str) -> tuple[int, ...]:
    """Give the numbers of the lines that look like findings and are none: fenced, quoted, or with a part too few."""
    taken = {number for number, _ in _read(text)}
    lines = enumerate(text.replace("\r\n", "\n").split("\n"), 1)
    looks = re.compile(r"(?i)[^\w\n]*+finding\b[ \t]*(?:#?[0-9]+)?[*_` \t]*+(?::|.*\|)")
    return tuple(number for number, line in lines if number not in taken and looks.match(line))


def _read(text: str) -> Iterator[tuple[int, Finding]]:
    for number, line in own_lines(text):
        read = re.match(rf"(?i){LEAD}FINDING(?:[ \t]+#?[0-9]{{1,3}})?[*_`]*+[ \t]*:[*_`]*+(.*)", line)
        parts = [part.strip() for part in read[1].split("|", 3)] if read else []
        location, claim, evidence, said = [*parts, "", "", "", ""][:4]
        if location and claim:
            severity = _severity(said)
            yield number, Finding(location, claim, evidence, severity, (), "" if severity else said)


def _severity(said: str) -> str:
    """Give the one of SEVERITIES that a text begins with: `High (exploitable)`, `Severity: high`."""
    read = re.match(rf"(?i)\W*(?:severity\W+)?({'|'.join(SEVERITIES)})\b", said)
    return read[1].casefold() if read else ""


def merge(found: Mapping[str, Iterable[Finding]], *, ranked: bool) -> tuple[Finding, ...]:
    """Unite the findings of candidates (id to findings): one where location and claim agree, case and blanks aside.

    The worst severity stands, and all who found it are named. `ranked` puts the worst first; else the order is
    that of the candidates and of their texts.
    """
    merged: dict[tuple[str, str], Finding] = {}
    for candidate in sorted(found):
        for one in found[candidate]:
            key = (_plain(one.location), _plain(one.claim))
            first = merged.get(key, one)
            severity = min((first.severity, one.severity), key=rank)
            merged[key] = first._replace(
                evidence=first.evidence or one.evidence,
                severity=severity,
                found_by=tuple(dict.fromkeys((*first.found_by, candidate))),
                severity_said="" if severity else first.severity_said or one.severity_said,
            )
    return tuple(sorted(merged.values(), key=lambda one: rank(one.severity)) if ranked else merged.values())


def rank(severity: str) -> int:
    """Give the place of a severity, the worst 0; one that is not known comes last."""
    return SEVERITIES.index(severity) if severity in SEVERITIES else len(SEVERITIES)


def _plain(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(".")
