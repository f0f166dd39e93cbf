"""An entry: the work, and a few words on it (seed: competition, Entry Format)."""

from typing import NamedTuple

from .sections import sections


class Entry(NamedTuple):
    """What a competitor hands in."""

    submission: str
    approach: str = ""


def entry_of(body: str) -> Entry:
    """Read an entry. A body without `SUBMISSION:` is the work; `APPROACH:` counts where it stands last."""
    found = sections(body, ("SUBMISSION", "APPROACH"))
    approach = ""
    if len(found) > 1 and found[-1][0] == "APPROACH":
        approach = found.pop()[1].strip()
    start = next((at for at, (key, _) in enumerate(found) if key == "SUBMISSION"), 0)
    texts = [found[start][1], *(f"{key}: {text}" for key, text in found[start + 1 :])]
    return Entry("\n\n".join(texts).strip("\n"), approach)


def write_entry(submission: str, approach: str = "") -> str:
    """Write an entry's body; a text that has `SUBMISSION:` already is left as it is."""
    body = submission.strip("\n")
    if not any(key == "SUBMISSION" for key, _ in sections(body, ("SUBMISSION",))):
        body = f"SUBMISSION:\n{body}"
    return f"{body}\n\nAPPROACH: {approach}" if approach else body
