"""Which lines of a text stand at its top level, and the tokens among them.

Read with markdown-it-py's commonmark rules, less those that would hide a token: `[DONE]: x` is no link
definition, `---` makes no heading, an open `<!--` swallows nothing. Lines inside a closed HTML comment
are text. A text without a line that could be a header or token is not parsed at all.
"""

import re
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from .headers import TOKENS, read_header

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.ruler import RuleOptionsType
    from markdown_it.rules_block import StateBlock
    from markdown_it.token import Token as MarkdownToken

_LESS = ("html_block", "html_inline", "reference", "lheading", "autolink", "link", "image")


class Token(NamedTuple):
    """A token on a line of its own; `line` counts from 0, `rest` is the text behind it."""

    name: str
    line: int
    rest: str = ""


class Fence(NamedTuple):
    """A code fence at top level: the line that opens it, the lines of its text, its info string."""

    opens: int
    lines: range
    info: str


class Outline(NamedTuple):
    """A text's lines, the numbers of those that are not its own words at top level, and its fences."""

    lines: list[str]
    hidden: set[int]
    fences: tuple[Fence, ...]

    def candidates(self) -> tuple[tuple[int, str], ...]:
        """Give number and text of each line at top level that could be a header."""
        could_be = _candidate().match
        return tuple(
            (n, line) for n, line in enumerate(self.lines) if n not in self.hidden and could_be(line)
        )


@cache
def _candidate() -> re.Pattern[str]:
    return re.compile(r"^ {0,3}(?:#{1,6}[ \t]+)?(?:\*\*|__)?\[[A-Za-z0-9]", re.MULTILINE)


def tokens_of(body: str, author: str = "") -> tuple[Token, ...]:
    """Give the `[DONE]`, `[INCOMPLETE]` and `[ACK]` lines of a body, in order.

    `[DONE - CX]` in a body by somebody else is text: nobody speaks for another.
    """
    read = ((number, read_header(line, TOKENS)) for number, line in top_lines(body))
    return tuple(
        Token(header.tag, number, header.rest)
        for number, header in read
        if header and header.name in ("", author)
    )


def top_lines(text: str, *, read_open_fences: bool = False) -> tuple[tuple[int, str], ...]:
    """Give number and text of each line that could be a header and stands at top level.

    With `read_open_fences` a fence that nothing closes hides nothing: its opening line is text.
    """
    if not _has_candidate(text):
        return ()
    return outline(text, read_open_fences=read_open_fences).candidates()


def _has_candidate(text: str) -> bool:
    return _candidate().search(text.removeprefix("\ufeff")) is not None


def outline(text: str, *, read_open_fences: bool = False) -> Outline:
    """Parse a text; lines are split at LF alone, and a byte order mark is none of it."""
    text = text.removeprefix("\ufeff")
    lines = text.split("\n")
    hidden: set[int] = set()
    fences = []
    source = _plain(text)
    plain = source.split("\n")
    env = {"longest_closers": _longest_closers(plain)} if read_open_fences else {}
    for token in _reader().parse(source + "\n", env):
        if token.map is None:
            continue
        first, stop = token.map
        if token.type == "list_item_open" and token.level == 1:
            indent = _content_indent(plain[first])
            hidden.update(n for n in range(first, stop) if _indent(plain[n]) >= indent)
        elif token.type == "inline":
            hidden.update(_commented(token, first))
        elif token.type in ("fence", "moot_comment"):
            hidden.update(range(first, stop))
            if token.type == "fence" and token.level == 0:
                within = range(first + 1, stop if _is_open(token) else stop - 1)
                fences.append(Fence(first, within, token.info.strip()))
    return Outline(lines, hidden, tuple(fences))


def _plain(text: str) -> str:
    """Take out the CRs, which the parser would take for line ends.

    How deep quotes are nested makes no difference here, but would cost a pass over the text each.
    """
    text = text.replace("\r\n", " \n").replace("\r", " ")
    return _quotes().sub(">", text) if ">" in text else text


@cache
def _quotes() -> re.Pattern[str]:
    return re.compile(r">(?: {0,3}>)+")


@cache
def _item() -> re.Pattern[str]:
    return re.compile(r" {0,3}(?:[-+*]|[0-9]{1,9}[.)])(?=(?P<blanks> *)(?P<text>.?))")


def _content_indent(line: str) -> int:
    """Give the column from which on a line belongs to the list item that begins on `line`.

    A line that is indented less continues the item's paragraph lazily at most, and is read as top level.
    """
    match = _item().match(line.expandtabs(4))
    assert match is not None
    blanks = len(match["blanks"])
    return match.end() + (blanks if match["text"] and 1 <= blanks <= 4 else 1)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _commented(token: "MarkdownToken", line: int) -> set[int]:
    """Give the lines that begin inside a closed comment which opened within the paragraph at `line`."""
    hidden: set[int] = set()
    text, at = token.content, 0
    while (begin := text.find("<!--", at)) >= 0 and (end := text.find("-->", begin + 2)) >= 0:
        first = line + text.count("\n", at, begin)
        line = first + text.count("\n", begin, end)
        hidden.update(range(first + 1, line + 1))
        at = end
    return hidden


def _is_open(fence: "MarkdownToken") -> bool:
    """Tell whether nothing closes a fence, in a source that ends with a newline."""
    assert fence.map is not None
    return fence.content.count("\n") == fence.map[1] - fence.map[0] - 1


def unclosed(body: str) -> str:
    """Give the line that would close a fence or an HTML block that `body` leaves open, or nothing."""
    if not any(opener in body for opener in ("```", "~~~", "<")):
        return ""
    tokens = [token for token in _renderer().parse(body.removeprefix("\ufeff") + "\n") if token.level == 0]
    last = tokens[-1] if tokens else None
    if last is not None and last.type == "fence" and _is_open(last):
        return last.markup
    if last is not None and last.type == "html_block":
        return _html_closer(last.content)
    return ""


def _html_closer(block: str) -> str:
    """Give what ends an HTML block of the kinds that a blank line does not end (CommonMark 4.6, 1 to 5)."""
    from markdown_it.rules_block.html_block import HTML_SEQUENCES

    text = block.lstrip(" ")
    closers = ("", "-->", "?>", ">", "]]>")
    for closer, (begin, end, _) in zip(closers, HTML_SEQUENCES, strict=False):
        if found := begin.search(text):
            return "" if end.search(text) else closer or f"</{found[1].lower()}>"
    return ""


@cache
def _renderer() -> "MarkdownIt":
    """Make a parser that sees a body as a page that renders it does."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark")
    parser.core.ruler.disable(["inline", "text_join"])
    return parser


@cache
def _reader() -> "MarkdownIt":
    """Make the parser that the protocols' tokens are read with."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark").disable(list(_LESS))
    parser.core.ruler.disable(["inline", "text_join"])
    ends: RuleOptionsType = {"alt": ["paragraph", "blockquote", "list"]}
    parser.block.ruler.at("fence", _fence, ends)
    parser.block.ruler.before("fence", "moot_comment", _comment, ends)
    return parser


def _fence(state: "StateBlock", start_line: int, end_line: int, silent: bool) -> bool:
    """Take a fence; where open ones are to be read, only one that is closed, or that stands in a list or quote."""
    from markdown_it.rules_block import fence

    longest = state.env.get("longest_closers")
    if longest is None or state.level > 0:
        return fence(state, start_line, end_line, silent)
    if not fence(state, start_line, end_line, True):
        return False
    begin = state.bMarks[start_line] + state.tShift[start_line]
    mark = state.src[begin]
    if longest[mark][start_line + 1] < state.skipCharsStr(begin, mark) - begin:
        return False
    return silent or fence(state, start_line, end_line, False)


@cache
def _closer() -> re.Pattern[str]:
    return re.compile(r" {0,3}(?P<run>`{3,}|~{3,})[ \t]*")


def _longest_closers(lines: list[str]) -> dict[str, list[int]]:
    """Give for each fence mark, by line, how long the longest run is that could close one on it or below."""
    longest = {mark: [0] * (len(lines) + 1) for mark in "`~"}
    for number in range(len(lines) - 1, -1, -1):
        for runs in longest.values():
            runs[number] = runs[number + 1]
        if match := _closer().fullmatch(lines[number]):
            runs = longest[match["run"][0]]
            runs[number] = max(runs[number], len(match["run"]))
    return longest


def _comment(state: "StateBlock", start_line: int, _: int, silent: bool) -> bool:
    """Take a closed HTML comment that begins a line as one block, so that nothing in it counts.

    Within a list or quote it is left to the paragraph that holds it.
    """
    begin = state.bMarks[start_line] + state.tShift[start_line]
    if state.is_code_block(start_line) or not state.src.startswith("<!--", begin):
        return False
    if state.level > 0 and state.sCount[start_line] >= state.blkIndent:
        return False
    close = _comment_end(state, begin + 2)
    if close < 0 or silent:
        return close >= 0
    line = start_line
    while state.eMarks[line] < close:
        line += 1
    token = state.push("moot_comment", "", 0)
    token.map = [start_line, line + 1]
    state.line = line + 1
    return True


def _comment_end(state: "StateBlock", at: int) -> int:
    """Find the `-->` at or behind `at`, as `str.find` does; no text is searched twice."""
    searched, found = state.env.get("comment", (at + 1, 0))
    if at < searched or 0 <= found < at:
        found = state.src.find("-->", at)
        state.env["comment"] = (at, found)
    return int(found)
