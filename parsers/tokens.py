"""Which lines of a text stand at its top level, and the tokens among them.

Read with markdown-it-py's commonmark rules, less those that would hide a token: `[DONE]: x` is no link
definition, `---` makes no heading, an open `<!--` swallows nothing. Lines inside a closed HTML comment
are text. A text without a line that could be a header or token is not parsed at all.
"""

import re
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from .headers import LETTERS, Vocabulary, read_header

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock
    from markdown_it.token import Token as MarkdownToken

HTML_CLOSERS = {
    "<!--": "-->",
    "<?": "?>",
    "<![cdata[": "]]>",
    "<script": "</script>",
    "<pre": "</pre>",
    "<style": "</style>",
    "<textarea": "</textarea>",
}
_LESS = ("html_block", "html_inline", "reference", "lheading", "autolink", "link", "image")


class Token(NamedTuple):
    """A token on a line of its own; `line` counts from 0, `rest` is the text behind it."""

    name: str
    line: int
    rest: str = ""


@cache
def _candidate() -> re.Pattern[str]:
    return re.compile(r"^ {0,3}(?:#{1,6}[ \t]+)?(?:\*\*|__)?\[[A-Za-z0-9]", re.MULTILINE)


def tokens_of(body: str, author: str = "") -> tuple[Token, ...]:
    """Give the `[DONE]`, `[INCOMPLETE]` and `[ACK]` lines of a body, in order.

    `[DONE - CX]` in a body by somebody else is text: nobody speaks for another.
    """
    words = Vocabulary(LETTERS, ())
    found = []
    for number, line in top_lines(body):
        header = read_header(line, words)
        if header is not None and header.tag in LETTERS and header.name in ("", author):
            found.append(Token(header.tag, number, header.rest))
    return tuple(found)


def unclosed(body: str) -> str:
    """Give the line that would close a fence or an HTML block that `body` leaves open, or nothing."""
    if not any(opener in body for opener in ("```", "~~~", "<")):
        return ""
    tokens = [token for token in _renderer().parse(_plain(body)) if token.level == 0]
    if not tokens or tokens[-1].map is None:
        return ""
    last = tokens[-1]
    if last.type == "fence" and not _is_closed(body.split("\n"), last):
        return last.markup
    if last.type == "html_block":
        return _html_closer(last.content)
    return ""


def top_lines(text: str, *, read_open_fences: bool = False) -> tuple[tuple[int, str], ...]:
    """Give number and text of each line that could be a header and stands at top level.

    With `read_open_fences` a fence that nothing closes hides nothing: its opening line is text.
    """
    if _candidate().search(text) is None:
        return ()
    lines = text.split("\n")
    hidden, open_fence = _hidden_lines(lines)
    while read_open_fences and open_fence is not None:
        lines[open_fence] = ""
        hidden, open_fence = _hidden_lines(lines)
    return tuple((n, line) for n, line in enumerate(lines) if n not in hidden and _candidate().match(line))


def _hidden_lines(lines: list[str]) -> tuple[set[int], int | None]:
    """Give the numbers of the lines below top level, and where a fence opens that nothing closes."""
    hidden: set[int] = set()
    open_fence = None
    for token in _reader().parse(_plain("\n".join(lines))):
        if token.map is None:
            continue
        if token.type in ("fence", "code_block", "moot_comment"):
            hidden.update(range(*token.map))
            if token.type == "fence" and token.level == 0 and not _is_closed(lines, token):
                open_fence = token.map[0]
        elif token.type == "inline":
            hidden.update(_nested(lines, token))
            hidden.update(_commented(token))
    return hidden, open_fence


def _plain(text: str) -> str:
    """Take out what the parser would treat as a line end or a character of its own (NUL, CR)."""
    return text.replace("\r\n", " \n").replace("\r", " ").replace("\0", " ").removeprefix("\ufeff")


def _nested(lines: list[str], token: "MarkdownToken") -> set[int]:
    """Give the lines of a paragraph in a list or quote, less its lazy continuation lines."""
    assert token.map is not None
    if token.level <= 1:
        return set()
    start, stop = token.map
    lazy = {number for number in range(start + 1, stop) if lines[number][:1] in ("[", "#", "*", "_")}
    return set(range(start, stop)) - lazy


def _commented(token: "MarkdownToken") -> set[int]:
    """Give the lines that begin inside a closed comment which opened within the paragraph."""
    assert token.map is not None
    hidden: set[int] = set()
    at = 0
    while (at := token.content.find("<!--", at)) >= 0 and (end := token.content.find("-->", at + 4)) >= 0:
        first, last = token.content.count("\n", 0, at), token.content.count("\n", 0, end)
        hidden.update(range(token.map[0] + first + 1, token.map[0] + last + 1))
        at = end
    return hidden


def _is_closed(lines: list[str], token: "MarkdownToken") -> bool:
    assert token.map is not None
    start, stop = token.map
    last = lines[stop - 1].strip(" \t\r") if stop - 1 > start else ""
    return len(last) >= len(token.markup) and last.strip(token.markup[0]) == ""


def _html_closer(block: str) -> str:
    """Give what ends an HTML block of the kinds that a blank line does not end (CommonMark 4.6)."""
    text = block.lstrip().lower()
    for opener, closer in HTML_CLOSERS.items():
        if text.startswith(opener) and closer not in text[len(opener) :]:
            return closer
    return ""


@cache
def _renderer() -> "MarkdownIt":
    """Make a parser that sees a body as a page that renders it does."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark")
    parser.core.ruler.disable(["inline"])
    return parser


@cache
def _reader() -> "MarkdownIt":
    """Make the parser that the protocols' tokens are read with."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark").disable(list(_LESS))
    parser.core.ruler.disable(["inline"])
    parser.block.ruler.before("fence", "moot_comment", _comment, {"alt": ["paragraph", "blockquote", "list"]})
    return parser


def _comment(state: "StateBlock", start_line: int, end_line: int, silent: bool) -> bool:
    """Take a closed HTML comment that begins a line as one block, so that nothing in it counts."""
    begin = state.bMarks[start_line] + state.tShift[start_line]
    if state.is_code_block(start_line) or not state.src.startswith("<!--", begin):
        return False
    close = state.src.find("-->", begin + 4, state.eMarks[end_line - 1])
    if close < 0:
        return False
    if silent:
        return True
    line = start_line
    while state.eMarks[line] < close:
        line += 1
    token = state.push("moot_comment", "", 0)
    token.map = [start_line, line + 1]
    state.line = line + 1
    return True
