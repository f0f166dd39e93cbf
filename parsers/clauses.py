"""The clauses of a prompt: the grammar, and the reading that takes them out of the task."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from .criteria import criterion_of
from .errors import UsageError
from .names import check_name, shown
from .seats import Criterion, Seat
from .sections import fences

# The grammar, as text: `re` compiles a pattern when it is first used and keeps it, so that a command which
# reads no prompt pays for none. The possessive `*+` keeps long hostile lines linear.

PEERS = ("PEER_A", "PEER_B")
_ROLES = {"competitors": "COMPETITOR", "competitor": "COMPETITOR", "judges": "JUDGE", "judge": "JUDGE"}
_ROLES |= {role.lower(): role for role in PEERS}
_TEAMS = ("agents", "participants", "peers")
_LISTS = ("criteria", "criterion", *_TEAMS, *_ROLES)
_PATHS = ("output", "work")
_COUNTS = ("deadline", "max_turns")
OPTIONS = (
    "min_score", "tie_break", "turn_timeout", "max_rounds", "budget_workers", "proposal_count",
    "choose_count", "question_type", "competition_shape", "selection_mode", "artifact_layout",
    "verifier_agent",
)  # fmt: skip
_KEYS = "|".join((*_LISTS, *_PATHS, *_COUNTS, *OPTIONS)).replace("_", "[ _-]")

_SHUT = r"[*_`\"')\]]*"  # what may close after a sentence's dot
_END = rf"[.!?](?={_SHUT}(?:\s++(?!\()|$))"
_WHOLE = r"`[^`]*`|(?<!\w)\"[^\"]*\"(?!\w)|\([^()]*\)"  # a dot in there ends nothing
_ITEM = r"\s*(?:[-*+•]|[0-9]{1,3}[.)])\s+"
_BULLET = rf"(?:{_ITEM}|\s*#{{1,6}}\s+|\s*)"

_BOLD = r"(?:\*{1,3}|_{2,3})?"
_TASK = rf"^{_BOLD}(?i:task){_BOLD}\s*:{_BOLD}\s*"
_KEY = rf"(?P<mark>{_BOLD})(?i:(?P<key>{_KEYS})){_BOLD}\s*(?P<sign>[:=]){_BOLD}\s*"
_NEXT_KEY = rf"(?:[,;]|\sand)\s+{_BOLD}(?i:{_KEYS}){_BOLD}\s*[:=]"
_SENTENCE = rf"(?:{_WHOLE}|(?!{_END}|(?=;){_NEXT_KEY}).)*+(?:[.!?]+{_SHUT}|;)?\s*"
_VALUE = rf"(?P<value>(?:{_WHOLE}|(?!{_END}|{_NEXT_KEY}).)*+)(?:[.!?]+{_SHUT}|[,;]|\sand\b)?\s*"

_NAME = r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,62}[A-Za-z0-9_-])?"
_WORD = rf"@?(?=[A-Za-z]){_NAME}"
_CAPS = r"[A-Z][A-Z0-9]+(?:[._-][A-Za-z0-9]+)*"  # a name that nobody takes for a word
_AND = r"(?:\s*[,;&+]\s*(?:and\s+)?|\s+and\s+)"
_TEAM = rf"(?:@?{_CAPS}(?:{_AND}@?{_CAPS})+|{_WORD}(?:\s*\+\s*{_WORD})+)(?![\w-])"
_ROLE = r"(?i:peer[ _-][ab]|competitors?|judges?)"
_SEAT = (
    rf"@?(?P<name>{_NAME}) ?(?:\((?P<aside>{_ROLE})\)"
    rf"|(?: (?i:is|are|as) | ?[:=] ?)(?i:(?:the|an?) )?(?P<role>{_ROLE}))"
)
_SEAT_OF = rf"(?P<role>{_ROLE}) (?i:is) @?(?P<name>{_NAME})"
_CAST = (
    rf"(?:@?{_NAME}{_AND}){{0,8}}@?{_NAME}"
    rf"(?:\s+(?i:is|are|as)\s+(?i:(?:the|an?)\s+)?{_ROLE}|\s*\({_ROLE}\))"
)
_CAST = rf"{_CAST}(?:{_AND}{_CAST})*"
_WHO = rf"(?:{_CAST}(?:{_AND}@?{_CAPS})*|{_TEAM})"
_WITH = r"(?i:with|between|among|by)"
_BESIDE = rf"(?:\s*(?:[,(:]\s*|\s{_WITH}\s+)?(?P<who>{_WHO})\)?)?"

_PROTOCOL = r"(?<![\w-])(?i:peer[-_ ‐‑–]collaboration|competition|compete|debate)(?![\w-])"
_KIND = r"(?:\s+(?i:protocol|skill))?"
_USE = (
    r"(?i:(?:please|let's|let us|we|you|should|must|will|now|then),?\s+){0,3}"
    r"(?i:use:?\s+(?:(?:the|an?)\s+)?(?:(?:protocol|skill)\s+)?|(?:protocol|skill)[*_]*\s*:[*_]*\s*)"
)
_HOLD = r"(?:(?i:(?:run|hold|start|open|using)\s+(?:(?:an?|the)\s+)?)|(?P<label>))"
_ON = r"$|[:,–—]|(?<=\s)-+\s|(?<=\s)(?i:to|for|on|about|over|and)\b:?"
_LEAD = (
    rf"(?P<mark>{_BOLD})(?:(?P<first>{_TEAM}),?\s+)?%s[`\"'*_]*(?P<protocol>{_PROTOCOL})[`\"'*_]*"
    rf"(?:(?:\s*,\s*|\s+(?i:and|or|then)\s+)(?P<other>{_PROTOCOL}))?{_KIND}"
    rf"{_BESIDE}"
    rf"{_SHUT}\s*(?:[.!?;]+{_SHUT}(?=\s|$)|(?P<on>{_ON}))\s*"
)
_STOP = rf"(?P<stop>[.!?]*{_SHUT}\s*)$"
_TAIL = (
    r"(?<!not)(?<!without),?\s(?i:(?:by\s)?(?:using|via)\s+(?:(?:the|an?)\s+)?|(?:in|as|by|with)\s+(?:the|an?)\s+)"
    rf"(?P<protocol>{_PROTOCOL}){_KIND}{_BESIDE}{_STOP}"
)
_THIS = r"(?i:(?:do )?(?:this|that|it|so)(?: task)?)[.!]?"


class _Team(NamedTuple):
    """Names without roles; `words` are theirs in `line`, words of the task where every role is taken."""

    names: list[str]
    line: list[str]
    words: str


class Reading:
    """One pass over a prompt: clauses go into fields, words stay in their lines."""

    def __init__(self, lines: Sequence[str], *, generous: bool) -> None:
        self.protocols: list[tuple[int, str]] = []  # how loosely it was named (0: `Use ...`), and which
        self.criteria: list[Criterion] = []
        self.fields: dict[str, str] = {}
        self._seats: list[Seat] = []
        self._teams: list[_Team] = []
        self._kept: list[list[str]] = []
        self._bullet = ""
        self._mark = ""  # the stars that a bold `**Use ...` opened
        self._on: str | None = None  # how a `Use ...` just read goes on, e.g. "to"; "" where its line ended
        self._fragment = ""
        self._generous = generous
        self._lines = lines
        self._at = 0  # the next line to read
        closed = fences(lines)
        while self._at < len(lines):
            if self._at in closed:
                end = closed[self._at] + 1
                self._kept.append(["\n".join(lines[self._at : end])])
                self._at = end
            else:
                self._line()

    def task(self) -> str:
        """Join what was kept, less the lines that were clauses; blank lines come one at a time."""
        out: list[str] = []
        for pieces in self._kept:
            line = "".join(pieces).rstrip()
            if pieces and (line or (out and out[-1])):
                out.append(line)
        task = "\n".join(out).strip()
        return re.sub(r"(?<!\.)[.;]$", "", task) if task == self._fragment else task

    def settle(self, protocol: str) -> list[Seat]:
        """Give every seat, those of a team without roles last; peers take the free seats in order."""
        seats = list(self._seats)
        seated = {seat.name.casefold() for seat in seats}
        roles = {seat.role for seat in seats}
        wanted = {"peer-collaboration": PEERS, "competition": ("COMPETITOR",)}.get(protocol, ("",))
        team: list[str] = []
        for names, line, words in self._teams:
            folded = {name.casefold() for name in names}
            if words and roles.issuperset(wanted) and not folded <= seated:
                continue
            if words:
                line.remove(words)
            if team and folded != {name.casefold() for name in team}:
                both = f"{shown(' + '.join(team))} and {shown(' + '.join(names))}"
                raise UsageError(f"{both} both read as the roster", then="say who plays, once")
            team = team or names
        late = [name for name in team if name.casefold() not in seated]
        free = [role for role in PEERS if role not in roles and protocol == "peer-collaboration"]
        free += [""] * len(late)
        return seats + [Seat(check_name(name), role) for name, role in zip(late, free, strict=False)]

    def _line(self) -> None:
        """Read the next line, and those below that continue a list in it."""
        line = self._lines[self._at]
        self._at += 1
        rest = re.sub(f"^{_BULLET}", "", line, count=1)
        self._bullet = line[: len(line) - len(rest)]
        kept: list[str] = [] if rest else [line]
        self._kept.append(kept)
        while rest:
            rest = self._sentence(rest, kept)
        if "".join(kept) != line and not re.search(r"\w", "".join(kept)):
            kept.clear()  # the dash or the stars that a clause left behind

    def _sentence(self, rest: str, kept: list[str]) -> str:
        """Read one sentence off `rest`, keep it if it is words, and give what follows."""
        rest = re.sub(_TASK, "", rest, count=1)
        on, self._on = self._on, None
        for clause in (self._protocol_clause, self._key_clause):
            after = clause(rest)
            if after is not None:
                return after
        read = re.match(_SENTENCE, rest)
        words = read[0] if read else rest
        after = rest[len(words) :]
        plain = _plain(words).removesuffix(".")
        seats, others = _seats(plain)
        if seats and not others:
            self._seats += seats
            return after
        words = self._tails(words)
        if on is not None:
            words = self._after_use(words, on)
        if words.strip():
            words, self._bullet = self._bullet + words, ""
            kept.append(words)
            if team := re.fullmatch(rf"(?:{_WITH} )?({_TEAM})", plain):
                self._teams.append(_Team(_seats(team[1])[1], kept, words))
        return after

    def _protocol_clause(self, rest: str) -> str | None:
        """Read `Use competition to`, up to the words that say for what."""
        lead = re.match(_LEAD % (_HOLD if self._generous else _USE), rest)
        if not lead or (lead.groupdict().get("label") is not None and lead["on"] not in (None, "", ":")):
            return None
        self.protocols += [(int(self._generous), one) for one in (lead["protocol"], lead["other"]) if one]
        self._players(lead["first"])
        self._players(lead["who"])
        self._mark, self._on = lead["mark"], lead["on"]
        return rest[lead.end() :]

    def _after_use(self, words: str, on: str) -> str:
        """Give the task in the rest of a `Use ... to` sentence, nothing where that only says `do this`."""
        wrapped = re.match(r"(?:to|for|on|about)\s+", words)
        if not on and not wrapped:
            return words
        words = words[wrapped.end() :] if wrapped else words
        if self._mark and words.count(self._mark) % 2 and words.rstrip().endswith(self._mark):
            words = words.rstrip().removesuffix(self._mark)
        if re.fullmatch(_THIS, words.strip()):
            return ""
        self._fragment = words.strip()
        return words

    def _tails(self, words: str) -> str:
        """Cut off a cast or a protocol that a sentence of the task ends in; note one named in passing."""
        cast = re.search(rf",?\s(?i:with|where)\s+({_CAST}){_STOP}", words)
        if cast and not _seats(_plain(cast[1]))[1]:
            self._players(cast[1])
            words = words[: cast.start()] + cast["stop"]
        if not self._generous:
            return words
        if tail := re.search(_TAIL, words):
            self.protocols.append((1, tail["protocol"]))
            self._players(tail["who"])
            return words[: tail.start()] + tail["stop"]
        if named := re.search(rf"(?<!not )(?<!without )(?=(?i:peer)){_PROTOCOL}", words):
            self.protocols.append((2, named[0]))
        return words

    def _players(self, words: str | None) -> None:
        """Take names that stand where only players can."""
        if words:
            seats, others = _seats(_plain(words), sure=True)
            self._seats += seats
            self._teams += [_Team(others, [], "")] if others else []

    def _key_clause(self, rest: str) -> str | None:
        """Read `Key: value`; None where the words only look like it."""
        clause = re.match(_KEY + _VALUE, rest)
        if not clause:
            return None
        said, key = clause["key"], _slug(clause["key"])
        if clause["sign"] == "=" and "_" not in key:
            return None  # "Work = force times distance"
        value = clause["value"].strip().removesuffix(clause["mark"]).strip()
        value = re.sub(r"^(\*{2,3})(.*)\1$", r"\2", value)
        if key in _LISTS:
            return self._list_clause(said, value, rest, rest[clause.end() :])
        if key in _PATHS:
            value = _path(said, value)
        elif key in _COUNTS:
            value = _count(said, value)
        if not value.strip("`\"' "):
            raise UsageError(f"`{said}:` says nothing", then="give a value, or leave it out")
        if self.fields.setdefault(key, value) != value:
            both = f"{shown(self.fields[key])} and {shown(value)}"
            raise UsageError(f"`{said}:` is given twice, {both}", then="keep one")
        return rest[clause.end() :]

    def _list_clause(self, said: str, value: str, rest: str, after: str) -> str | None:
        """Read the names or criteria after a key: on its line, wrapped at a comma, or as bullets below."""
        more = "".join(self._lines[self._at : self._at + 1]).strip()
        if more and not after and value.endswith(","):
            self._at += 1
            return f"{rest.rstrip()} {more}"
        key, end = _slug(said), self._at
        items = _split(value, names=key not in ("criteria", "criterion"))
        if not value and not after:
            items, end = _items(self._lines, end)
        if key in _TEAMS:
            words = ", ".join(_plain(item) for item in items)
            if not all(re.fullmatch(_NAME, name) for name in _seats(words, sure=True)[1]):
                return None
            self._players(words)
        elif not items:
            raise UsageError(f"`{said}:` lists nothing", then="name at least one, or leave it out")
        elif key in _ROLES:
            self._seats += [_player(said, item) for item in items]
        else:
            for criterion, about in map(criterion_of, items):
                self.criteria.append(criterion)
                self._kept += [[f"{criterion.name}: {about}"]] if about else []
        self._at = end
        return after


def _slug(key: str) -> str:
    return re.sub("[ -]", "_", key.lower())


def _plain(words: str) -> str:
    return " ".join(re.sub(r"[*`]", "", words).split())


def _items(lines: Sequence[str], at: int) -> tuple[list[str], int]:
    """Read the bulleted or numbered lines from `at` on, skipping blank ones; give them and where they end."""
    items: list[str] = []
    end = at
    while end < len(lines):
        bullet = re.match(_ITEM, lines[end])
        if bullet and not re.match(_KEY, lines[end][bullet.end() :]):
            items.append(lines[end][bullet.end() :].strip().removesuffix("."))
        elif lines[end].strip() or items:
            break
        end += 1
    return items, end if items else at


def _split(value: str, *, names: bool) -> list[str]:
    """Split a list at its commas, one of names also at `+` and `and`, but never within brackets."""
    apart = r"(?:\([^()]*\)|(?!\sand\s)[^,;+&])++" if names else r"(?:\([^()]*\)|[^,;])++"
    items = (re.sub(r"^and\s", "", item.strip()).strip() for item in re.findall(apart, value))
    return [item for item in items if item]


def _player(said: str, item: str) -> Seat:
    """Read one name under a role's key, with a judge's lens in brackets."""
    player = re.fullmatch(r"@?(\S+?) ?(?:\(([^()]*)\))?", _plain(item))
    if not player:
        raise UsageError(f"`{said}:` lists {shown(item)}, no name", then="give names, separated by commas")
    role, lens = _ROLES[_slug(said)], (player[2] or "").strip()
    return Seat(check_name(player[1]), role, "" if _ROLES.get(_slug(lens)) == role else lens)


def _path(said: str, value: str) -> str:
    """Give a path as written, less the quotes or backticks around it."""
    if len(value) > 2 and value[0] + value[-1] in ("``", '""', "''", "“”") and value[0] not in value[1:-1]:
        return value[1:-1]
    if re.search(r"\s", value):
        then = "end the path with a full stop or a new line; put one with spaces in backticks"
        raise UsageError(f"`{said}:` gives {shown(value)}, no path", then=then)
    return value


def _count(said: str, value: str) -> str:
    """Give a number of turns as its plain digits."""
    turns = re.fullmatch(r"(?i)0*([1-9][0-9]{0,8})(?:\s*turns?)?(?:\s+after\s+the\s+challenge)?", value)
    if not turns:
        raise UsageError(f"`{said}:` is {shown(value)}", then="give a positive whole number of turns")
    return turns[1]


def _seats(words: str, *, sure: bool = False) -> tuple[list[Seat], list[str]]:
    """Read `CC is PEER_A, CX is PEER_B` and its like; give the seats, and the parts that give none.

    Unless it is `sure` that players are meant, a judge or competitor has a name that is no word.
    """
    seats: list[Seat] = []
    others: list[str] = []
    for part in re.split(_AND, words):
        seat = re.fullmatch(_SEAT, part) or re.fullmatch(_SEAT_OF, part)
        if not seat:
            others.append(part.removeprefix("@"))
            continue
        said = seat.groupdict()
        role = _ROLES[_slug(said["role"] or said["aside"])]
        names = [seat["name"]]
        if role not in PEERS:
            names, others = [*others, *names], []  # "CC and CX are competitors"
        if not sure and not all(re.fullmatch(_NAME if role in PEERS else _CAPS, name) for name in names):
            return [], [words]
        seats += [Seat(check_name(name), role) for name in names]
    return seats, others
