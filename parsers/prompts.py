"""Plain words to a session's wishes: the protocol, who plays what, the criteria, the files, the limits.

A prompt is read sentence by sentence. A sentence that is a clause (`Output: notes/plan.md.`, `CC + CX.`,
`Use competition to ...`) is taken out; every other word stays, in order, and is the task. Closed code fences
and `>` quotes are the task's, whatever stands in them. What might be either is the task's.

**Which protocol.** Only a sentence that begins `Use ...` or `Protocol: ...` decides; "competition" or
"debate" elsewhere are English. A prompt without such a sentence is read once more, generously: `Run a
competition to ...`, `competition: ...`, a sentence that ends in `using ...` or `in a ...`, and last of all
the word peer-collaboration anywhere.

**Who.** `CC + CX` counts as a whole sentence, or right beside the protocol's name. Joined by `and` or commas,
names must look like names there (CC, GM, CC-peer-02), or "Search and replace." would be a roster. After a key
(`Judges:`) and before a peer's role (`ada is PEER_A`) any legal name will do.
"""

import re
from collections.abc import Iterable

from .clauses import OPTIONS, PEERS, Reading
from .criteria import check_criteria
from .errors import UsageError
from .names import nearest, shown
from .seats import PROTOCOLS, Prompt, Seat
from .sections import fences


def parse_prompt(text: str) -> Prompt:
    """Read a prompt (seed: peer-collaboration and competition, Prompt Format Examples).

    The task keeps its paragraphs and its case: `Use competition to draw a map.` asks to `draw a map`; where
    that is the whole task it loses the sentence's final dot. `CC + CX` seats PEER_A and PEER_B, in this
    order, in peer-collaboration, and agents without a role elsewhere.

    Raises UsageError for an empty prompt, no protocol or several, a limit that is no positive whole number,
    a path that is none, weights that are incomplete or do not add up to 100, a criterion or an agent named
    twice, a peer's seat given twice, a name that is not legal, and a key given twice with different values.
    Who is in the workspace, and how many agents a protocol needs, is not asked here.
    """
    lines = text.lstrip("\ufeff").strip().replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if lines == [""]:
        raise UsageError("the prompt is empty", then="say what to make, and `Use peer-collaboration.`")
    if fences(lines).get(0) == len(lines) - 1:
        lines = lines[1:-1]  # pasted with the fence that an example stood in
    said = Reading(lines, generous=False)
    if not said.protocols:
        said = Reading(lines, generous=True)
    protocol = _one_protocol(said.protocols, text)
    seats = said.settle(protocol)
    _check_seats(seats)
    check_criteria(said.criteria)
    fields = said.fields
    return Prompt(
        protocol,
        said.task(),
        tuple(seats),
        tuple(said.criteria),
        fields.get("output", ""),
        fields.get("work", ""),
        int(fields["deadline"]) if "deadline" in fields else None,
        int(fields["max_turns"]) if "max_turns" in fields else None,
        tuple((key, value) for key, value in fields.items() if key in OPTIONS),
    )


def _one_protocol(found: Iterable[tuple[int, str]], text: str) -> str:
    """Pick the protocol that was named most plainly, or raise UsageError."""
    ranked = [(rank, re.sub("[ _‐‑–]", "-", name.lower())) for rank, name in found]
    plainest = min(ranked, default=(0, ""))[0]
    names = sorted({name for rank, name in ranked if rank == plainest})
    if len(names) == 1:
        return names[0]
    if names:
        raise UsageError(f"the prompt uses {' and '.join(names)}", then="name one protocol")
    for tried in re.finditer(r"(?i)\buse\s+(?:the\s+)?(([\w-]+)(?:\s+[\w-]+)?)", text):
        for word in (tried[2], tried[1]):
            if near := nearest(word, PROTOCOLS):
                then = f"write `Use {near}.` for {shown(word)}"
                raise UsageError("the prompt names no protocol", then=then)
    used = re.search(r"(?im)(?:^|[.!?]\s+)use\s+(?:the\s+)?([\w-]+)", text)
    named = f", and {shown(used[1])} is none" if used else ""
    raise UsageError(f"the prompt names no protocol{named}", then="add `Use peer-collaboration.`")


def _check_seats(seats: Iterable[Seat]) -> None:
    named: set[tuple[str, str]] = set()
    holders: dict[str, str] = {}
    for name, role, _ in seats:
        place = (name.casefold(), "PEER" if role in PEERS else role)
        if place in named:
            raise UsageError(f"{name} is named twice", then="give each agent one seat")
        named.add(place)
        if role in PEERS and holders.setdefault(role, name) != name:
            raise UsageError(f"{role} is given to {holders[role]} and {name}", then="give it to one of them")
