"""Tokens: what stands at a text's top level counts; what is quoted, fenced, listed or commented out does not."""

import subprocess
import sys
import time
from types import SimpleNamespace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from moot.parsers.tokens import Token, _comment_end, outline, tokens_of, top_lines, unclosed

AUTHOR = "ANT"


def names(body):
    return [token.name for token in tokens_of(body, AUTHOR)]


COUNTS = {
    "alone": "[DONE]",
    "after words": "Tea is ready.\n[DONE]",
    "with words behind": "[DONE] - agreed",
    "as a heading": "## [DONE]",
    "in bold": "**[DONE]**",
    "indented a little": "   [DONE]",
    "signed by the author": "[DONE - ANT]",
    "what would be a link definition": "[DONE]: finished",
    "what would be a definition over two lines": "[DONE]:\nfinished",
    "what would be a setext heading": "[DONE]\n---",
    "what would be another": "[DONE]\n===",
    "below a rule": "---\n[DONE]",
    "after a byte order mark": "\ufeff[DONE]",
    "with CRLF": "Tea.\r\n[DONE]\r\n",
    "beside a NUL": "Tea.\0\n[DONE]\n\0",
    "below a lone CR": "Tea.\r```\n[DONE]",
    "below other line breaks": "Tea.\u2028```\u2028\n[DONE]",
    "lazily below a quote": "> You said tea.\n[DONE]",
    "lazily below a deep quote": "> > > > You said tea.\n[DONE]",
    "lazily below a list": "- tea\n[DONE]",
    "lazily below a numbered list": "7. tea\n  [DONE]",
    "lazily below a nested list": "- tea\n  - green\n[DONE]",
    "lazily below a list in a quote": "> - tea\n [DONE]",
    "lazily below a quote in a list": "- > tea\n[DONE]",
    "less indented than the wide item above": "-    tea\n  [DONE]",
    "below an item without words": "-\n [DONE]",
    "below an empty item": "-\n\n  [DONE]",
    "below an item that is code": "-      tea\n [DONE]",
    "below a tab in an item": "-\ttea\n  [DONE]",
    "below a list and a blank line": "- tea\n\n[DONE]",
    "below a closed fence": "```\ntea\n```\n[DONE]",
    "below a fence in a list": "- ```\n  tea\n[DONE]",
    "below a fence in a quote": "> ```\n> tea\n[DONE]",
    "below what is no fence": "``` tea ` cake\n[DONE]",
    "below two backticks": "``\n[DONE]\n``",
    "below an open comment": "<!-- tea\n[DONE]",
    "below an open comment in a line": "Tea <!-- or not\n[DONE]",
    "below a closed comment": "<!-- tea -->\n[DONE]",
    "below the shortest comment": "<!-->\n[DONE]\n-->",
    "below a comment in code": "    <!--\n\n[DONE]\n\n-->",
    "between comments": "<!-- tea -->\n[DONE]\n<!-- cake -->",
    "between comments in lines": "a <!-- tea --> b\n[DONE]\nc <!-- cake -->",
    "in another element of HTML": "<div>\n[DONE]\n</div>",
    "below a script": "<script>\n[DONE]",
    "below an indented line of code": "    tea\n[DONE]",
    "among conflict markers": "<<<<<<< ours\n[DONE]\n=======\n>>>>>>> theirs",
    "below a conflict marker": ">>>>>>> theirs\n[DONE]",
}  # fmt: skip

TEXT = {
    "nothing": "",
    "lower case": "[done]",
    "in a sentence": "Reply with [DONE] when you agree.",
    "a word": "DONE!",
    "signed by somebody else": "[DONE - BEE]",
    "a tag that is none here": "[WINNER]\n[ANT]\n[NOTE]",
    "a link": "[DONE](https://example.org)",
    "in a fence": "```\n[DONE]\n```",
    "in a fence with words": "```text\n[DONE]\n```",
    "in a fence of tildes": "~~~\n[DONE]\n~~~",
    "in a longer fence": "````\n```\n[DONE]\n```\n````",
    "in a fence of the other kind": "~~~\n```\n~~~\n~~~\n[DONE]\n~~~",
    "in a fence that is never closed": "```\n[DONE]",
    "in a fence that a shorter one does not close": "````\n```\n[DONE]",
    "in a fence that words do not close": "```\n``` tea\n[DONE]\n```",
    "in a fence that code does not close": "```\n    ```\n[DONE]\n```",
    "in a fence with CRLF": "```\r\n[DONE]\r\n```\r\n",
    "in a fence after a byte order mark": "\ufeff```\n[DONE]\n```",
    "in a fence right below a list": "- tea\n```\n[DONE]\n```",
    "in a quote": "> [DONE]",
    "in a deep quote": "> > [DONE]\n>> [DONE]\n>[DONE]",
    "in a list": "- [DONE]\n* [DONE]\n+ [DONE]\n1. [DONE]\n2) [DONE]",
    "in an item's second line": "- tea\n  [DONE]",
    "in an item's second paragraph": "1. tea\n\n   [DONE]",
    "in the outer item": "- - tea\n  [DONE]",
    "in an item, below a quote": "- > tea\n  [DONE]",
    "in a fence in an item": "- ```\n  [DONE]\n  ```",
    "in an item without a first line": "-\n  [DONE]",
    "in an item with CRLF": "-  \r\n  [DONE]",
    "in an item that is code": "-      tea\n  [DONE]",
    "in the last of many items": "1. tea\n2. cake\n10. more\n    tea\n   [DONE] x\n\n\n3. t\n   [DONE]",
    "as code": "    [DONE]",
    "behind a tab": "\t[DONE]",
    "in a comment": "<!--\n[DONE]\n-->",
    "in a comment with blank lines": "<!-- tea\n\n[DONE]\n\n-->",
    "on a comment's last line": "<!--\n[DONE] -->",
    "in a comment within a paragraph": "Tea <!-- or\n[DONE]\n--> cake",
    "in the second comment of a line": "a <!-- x --> b <!--\n[DONE]\n--> c <!-- y\n[DONE]\n-->",
    "in a comment below a list": "- tea\n<!--\n\n[DONE]\n-->",
    "in a comment below a quote": "> tea\n<!--\n\n[DONE]\n-->",
    "in a comment with a fence": "<!--\n```\n-->\n<!--\n[DONE]\n-->",
    "behind an escape": "\\[DONE]",
}  # fmt: skip


@pytest.mark.parametrize("where", COUNTS)
def test_a_token_counts(where):
    assert names(COUNTS[where]) == ["DONE"]
    assert names(COUNTS[where].replace("DONE", "INCOMPLETE")) == ["INCOMPLETE"]


@pytest.mark.parametrize("where", TEXT)
def test_text_is_no_token(where):
    # The last of many items has, on purpose, one line that is indented too little to belong to its item.
    assert names(TEXT[where]) == (["DONE"] if where == "in the last of many items" else [])


def test_tokens_come_in_order_with_their_lines_and_words():
    body = "[ACK]\n\nTea.\n\n**[INCOMPLETE]** no milk\n\n> [DONE]\n\n[DONE] - after all"
    assert tokens_of(body) == (
        Token("ACK", 0),
        Token("INCOMPLETE", 4, "no milk"),
        Token("DONE", 8, "- after all"),
    )


@pytest.mark.parametrize("author", ["", "BEE"])
def test_nobody_speaks_for_another(author):
    assert tokens_of("[DONE - ANT]", author) == ()
    assert tokens_of("[DONE]", author) == (Token("DONE", 0),)


# -- open fences -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("```\n[ANT]", [1]),
        ("```x\n~~~ y\n````z\n[ANT]", [3]),
        ("~~~\n```\n[ANT]\n```\n[BEE]", [4]),
        ("````\n```\n[ANT]\n```\n[BEE]", [4]),
        ("```\n[ANT]\n```\n```\n[BEE]", [4]),
        ("```\n[ANT]\n``` x\n[BEE]\n", [1, 3]),
        ("words\n```\n[ANT]", [2]),
        ("- tea\n```\n[ANT]", [2]),
        ("- ```\n  [ANT]\n[BEE]", [2]),
        ("> ```\n[BEE]", [1]),
        ("- ```\n  <!--\n[BEE]\n-->", [2]),  # the fence in the item ends with it, and is no comment
        ("```\n    ```\n[ANT]", [2]),
        ("~~~\r\n[ANT]\r\n~~~\r\n[BEE]", [3]),
        ("``` ` ```\n[ANT]", [1]),
        ("no header", []),
    ],
)
def test_a_fence_that_is_never_closed_hides_nothing_where_asked(text, lines):
    assert [number for number, _ in top_lines(text, read_open_fences=True)] == lines


def test_lines_are_given_as_they_stand():
    assert top_lines("\ufefftea\n [ANT]  \r\n[ not ]\n## [x]") == ((1, " [ANT]  \r"), (3, "## [x]"))


def test_an_outline_holds_the_fences_at_top_level():
    read = outline("```py x\na\n```\n- ```\n  b\n  ```\n~~~~\nc\n~~~\n")
    assert [(one.opens, list(one.lines), one.info) for one in read.fences] == [
        (0, [1], "py x"),
        (6, [7, 8, 9], ""),
    ]
    assert read.lines[7] == "c"


# -- closers ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "closer"),
    [
        ("", ""),
        ("a < b", ""),
        ("```", "```"),
        ("tea\n\n````py\n```\n", "````"),
        ("~~~ x\ny", "~~~"),
        ("```\n    ```", "```"),
        ("```\n```", ""),
        ("```\n```\nmore", ""),
        ("```\ntea\r\n```\r", ""),
        ("tea\r```\rcake", "```"),  # a page reads a lone CR as the end of a line
        ("\ufeff```", "```"),
        ("- ```\n  tea", ""),
        ("> ```\n> tea", ""),
        ("<!-- tea", "-->"),
        ("<!-- tea\n\ncake", "-->"),
        ("<!-->", ""),
        ("  <!-- tea", "-->"),
        ("    <!-- tea", ""),
        ("words <!-- tea", ""),
        ("<? php", "?>"),
        ("<!DOCTYPE html", ">"),
        ("<!DOCTYPE html>", ""),
        ("<![CDATA[ x > y", "]]>"),
        ("<script>\ntea", "</script>"),
        ("<PRE\nx", "</pre>"),
        ("<style>x</style>", ""),
        ("<style>x</script>", ""),
        ("<textarea>\n\n```", "</textarea>"),
        ("<div>\n```", ""),
        ("<div>\n\n```", "```"),
        ("</p>", ""),
        ("<b>", ""),
        ("[a]: <\n```", "```"),
        ("[a]: x\n</b>\n```", ""),  # below a link definition, a tag alone begins a block
    ],
)
def test_what_a_body_leaves_open_has_a_closer(body, closer):
    assert unclosed(body) == closer


chunks = st.sampled_from(
    [
        *"`~<>-!?[]*_#=\t \r\0:.1x",
        *(
            "```",
            "````",
            "~~~",
            "<!--",
            "-->",
            "<!-->",
            "<?",
            "?>",
            "<!A",
            "<![CDATA[",
            "]]>",
            "<pre>",
            "</script>",
        ),
        *(
            "<div>",
            "</div>",
            "- ",
            "1. ",
            "2) ",
            "> ",
            "   ",
            "    ",
            "[DONE]",
            "[ACK - ANT]",
            "**[DONE]**",
            "\u2028",
        ),
        *("words", "\ufeff", "# ", "---", "===", "[a]: x", "٣. ", "artifact", "Updated:"),
    ]
)
markdown = st.lists(st.lists(chunks, max_size=5).map("".join), max_size=9).map("\n".join)
texts = st.one_of(markdown, st.text(), st.text(st.characters()))


@given(texts)
def test_a_closer_really_closes(body):
    closer = unclosed(body)
    assert unclosed(f"{body}\n{closer}") == ""
    assert "\n" not in closer


@given(markdown)
def test_a_page_shows_what_stands_behind_a_body_and_its_closer(body):
    page = f"{body}\n{unclosed(body)}\n\n<!-- /moot id=x -->\n\nWHAT FOLLOWS\n"
    *_, last, _ = MarkdownIt("commonmark").parse(page)
    assert (last.level, last.content) == (1, "WHAT FOLLOWS")


# -- any text --------------------------------------------------------------------------------------


@given(texts, st.booleans())
def test_any_text_is_read_without_an_error(text, read_open_fences):
    found = top_lines(text, read_open_fences=read_open_fences)
    lines = text.removeprefix("\ufeff").split("\n")
    assert all(lines[number] == line for number, line in found)
    assert [number for number, _ in found] == sorted({number for number, _ in found})
    assert {token.line for token in tokens_of(text, AUTHOR)} <= {number for number, _ in top_lines(text)}


@given(markdown)
def test_tokens_do_not_depend_on_what_stands_above_a_blank_line(body):
    assume(not body.startswith("\ufeff"))
    below = tokens_of("Tea is ready.\n\n" + body, AUTHOR)
    assert [token._replace(line=token.line - 2) for token in below] == list(tokens_of(body, AUTHOR))


@given(markdown)
def test_nothing_in_a_longer_fence_a_comment_a_quote_or_an_item_is_a_token(body):
    lines = body.split("\n")
    assert names("`" * 60 + "\n" + body + "\n" + "`" * 60) == []
    assert names("<!--\n" + body.replace("-->", "") + "\n-->") == []
    assert names("\n".join("> " + line for line in lines)) == []
    assert names("- tea\n" + "\n".join("  " + line.replace("\t", " ") for line in lines)) == []


@given(markdown, st.sampled_from(["\r\n", "\n"]))
def test_tokens_do_not_depend_on_the_kind_of_line_end(body, end):
    body = body.replace("\r", "")
    assert names(body.replace("\n", end)) == names(body)


@given(st.text(st.sampled_from("-> ")), st.lists(st.integers(0, 30)))
def test_the_end_of_a_comment_is_found_in_whatever_order_it_is_asked_for(text, places):
    state = SimpleNamespace(src=text, env={})
    assert [_comment_end(state, at) for at in places] == [text.find("-->", at) for at in places]


# -- hostile texts ---------------------------------------------------------------------------------

_SIZE = 60_000
_UNITS = [
    "```x\n", "~~~x\n```y\n", "<!--\n", "a <!-- -->\n", "<!-- --> x <!--\n", "a\n", "[", "- ", "> ", ">", "* ", "1. ",
    "**[A\n", "# [A\n", "<a\n", "<pre>\n", "\t", " ", "`", "> a\n", "[a]: b\n", "[a]: b 'c\n", "[a\n",
    "\n", "\r", "\0", "-->\n",
    "- <!--\n", "- a\n  <!--\n", "> <!--\n", "[DONE]\n",
]  # fmt: skip
HOSTILE = {unit: unit * (_SIZE // len(unit)) + "\n[DONE]" for unit in _UNITS}
HOSTILE["shorter and shorter fences"] = (
    "".join("`" * length + "x\n" for length in range(600, 3, -1)) + "[DONE]"
)
HOSTILE["deep quote, lazy lines"] = "[DONE]\n\n" + "> " * 30 + "a\n" * (_SIZE // 2)
HOSTILE["deep list, lazy lines"] = "[DONE]\n\n" + "- " * 9 + "a\n" * (_SIZE // 2)
HOSTILE["fences, then their closer"] = "```x\n" * (_SIZE // 5) + "~~~\n[DONE]\n```"


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_text_costs_little_time(name):
    text = HOSTILE[name]
    before = time.process_time()
    tokens_of(text)
    top_lines(text, read_open_fences=True)
    unclosed(text)
    assert time.process_time() - before < 4


def test_no_markdown_parser_is_loaded_before_a_text_needs_one():
    code = (
        "import sys, moot.parsers.loose, moot.parsers.artifact, moot.parsers.attachment\n"
        "from moot.parsers.tokens import tokens_of, unclosed\n"
        "assert tokens_of('no token') == () and unclosed('no fence') == ''\n"
        "assert 'markdown_it' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
