"""Findings: `FINDING: location | claim | evidence | severity`, and how those of several candidates are one list."""

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from .sections import fences

SEVERITIES = ("critical", "high", "medium", "low", "info")


class Finding(NamedTuple):
    """One finding; `severity` is one of SEVERITIES, or empty where it names none of them."""

    location: str
    claim: str
    evidence: str = ""
    severity: str = ""
    found_by: tuple[str, ...] = ()


def findings_of(text: str) -> tuple[Finding, ...]:
    """Read the findings in a candidate's text; lines in code fences and quotations are none."""
    lines = text.replace("\r\n", "\n").split("\n")
    fenced = fences(lines)
    found = []
    until = -1
    for number, line in enumerate(lines):
        if number > until:
            until = max(until, fenced.get(number, -1))
        read = re.match(r" {0,3}(?:[-*+•] +)?(?:\*\*)?FINDING:(?:\*\*)?[ \t]*(.*)", line)
        if number > until and read:
            parts = [part.strip() for part in read[1].split("|", 3)]
            location, claim, evidence, severity = [*parts, "", "", ""][:4]
            if location and claim:
                found.append(Finding(location, claim, evidence, _severity(severity)))
    return tuple(found)


def _severity(word: str) -> str:
    said = word.strip(" *.`").casefold()
    return said if said in SEVERITIES else ""


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
            merged[key] = first._replace(
                evidence=first.evidence or one.evidence,
                severity=min((first.severity, one.severity), key=rank),
                found_by=tuple(dict.fromkeys((*first.found_by, candidate))),
            )
    return tuple(sorted(merged.values(), key=lambda one: rank(one.severity)) if ranked else merged.values())


def rank(severity: str) -> int:
    """Give the place of a severity, the worst 0; one that is not known comes last."""
    return SEVERITIES.index(severity) if severity in SEVERITIES else len(SEVERITIES)


def _plain(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(".")
