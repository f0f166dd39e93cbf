"""Prompts: plain words give the session that a person would expect, or one clear line that says why not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.parsers.errors import UsageError
from moot.parsers.prompts import parse_prompt
from moot.parsers.seats import PROTOCOLS, Criterion, Prompt, Seat

CC_CX = (Seat("CC", "PEER_A"), Seat("CX", "PEER_B"))


def peers(text: str) -> Prompt:
    """Read a prompt that says by itself neither protocol nor peers."""
    return parse_prompt(f"Use peer-collaboration.\nCC + CX.\n{text}")


def refusal(text: str) -> str:
    with pytest.raises(UsageError) as caught:
        parse_prompt(text)
    line = str(caught.value)
    assert line.isprintable()
    assert caught.value.then
    return line


# The forms of the two skills' own examples, each field.


def test_the_shortest_peer_prompt_gives_task_protocol_and_peers():
    assert parse_prompt("Draft a backup plan. Use peer-collaboration. CC + CX.") == Prompt(
        protocol="peer-collaboration", task="Draft a backup plan.", seats=CC_CX
    )


def test_a_peer_prompt_with_output_gives_roles_and_a_path_without_the_dot():
    prompt = parse_prompt(
        "Use peer-collaboration to write a limerick about locks.\n"
        "CC is PEER_A, GM is PEER_B.\n"
        "Output: poems/locks/limerick.md"
    )
    assert prompt == Prompt(
        protocol="peer-collaboration",
        task="write a limerick about locks",
        seats=(Seat("CC", "PEER_A"), Seat("GM", "PEER_B")),
        output="poems/locks/limerick.md",
    )


def test_a_peer_prompt_with_a_work_file_needs_no_task():
    prompt = parse_prompt(
        "Use peer-collaboration.\n"
        "Work: plans/cache/wishes.md\n"
        "CC is PEER_A, CX is PEER_B.\n"
        "Output: plans/cache/spec.md"
    )
    assert prompt == Prompt(
        protocol="peer-collaboration",
        task="",
        seats=CC_CX,
        output="plans/cache/spec.md",
        work="plans/cache/wishes.md",
    )


def test_the_shortest_competition_prompt_gives_competitors_and_a_judge():
    assert parse_prompt(
        "Use competition to name a boat.\nCompetitors: CX, CC-peer-02.\nJudge: CC."
    ) == Prompt(
        protocol="competition",
        task="name a boat",
        seats=(Seat("CX", "COMPETITOR"), Seat("CC-peer-02", "COMPETITOR"), Seat("CC", "JUDGE")),
    )


def test_a_competition_prompt_with_criteria_keeps_their_order_and_their_words():
    prompt = parse_prompt(
        "Use competition for writing a shop sign.\n"
        "Competitors: CC, CX.\n"
        "Judges: CC-peer-02.\n"
        "Criteria: Friendly, Legible, At most 5 words.\n"
        "Output: shop/sign.md"
    )
    assert prompt == Prompt(
        protocol="competition",
        task="writing a shop sign",
        seats=(Seat("CC", "COMPETITOR"), Seat("CX", "COMPETITOR"), Seat("CC-peer-02", "JUDGE")),
        criteria=(
            Criterion("Friendly", None),
            Criterion("Legible", None),
            Criterion("At most 5 words", None),
        ),
        output="shop/sign.md",
    )


def test_a_competition_prompt_with_several_judges_gives_each_its_lens():
    prompt = parse_prompt(
        "Use competition for bridge design.\n"
        "Competitors: CC, CX.\n"
        "Judges: CC-peer-02 (structure), CX-peer-02 (price).\n"
        "Criteria: Strength, Weight, Cost.\n"
        "Output: bridge/winner.md"
    )
    assert prompt == Prompt(
        protocol="competition",
        task="bridge design",
        seats=(
            Seat("CC", "COMPETITOR"),
            Seat("CX", "COMPETITOR"),
            Seat("CC-peer-02", "JUDGE", "structure"),
            Seat("CX-peer-02", "JUDGE", "price"),
        ),
        criteria=(Criterion("Strength", None), Criterion("Weight", None), Criterion("Cost", None)),
        output="bridge/winner.md",
    )


# Which protocol.


@pytest.mark.parametrize(
    ("text", "protocol", "task"),
    [
        ("use the PEER COLLABORATION protocol: draw", "peer-collaboration", "draw"),
        ("Please use `peer_collaboration` to draw", "peer-collaboration", "draw"),
        ("Let's use a debate about tea", "debate", "tea"),
        ("Use debate: is tea better?", "debate", "is tea better?"),
        ("Use compete and find the leak", "compete", "find the leak"),
        ("Protocol: competition\nDraw it.", "competition", "Draw it."),
        ("**Skill:** competition\nDraw it.", "competition", "Draw it."),
        ("Write about debate. Use peer-collaboration.", "peer-collaboration", "Write about debate."),
        ("Debate tea. Use competition.", "competition", "Debate tea."),
        ("Use competition law as a source. Use debate.", "debate", "Use competition law as a source."),
        ("Use competition-runs/a as a source. Use debate.", "debate", "Use competition-runs/a as a source."),
        ("Use debate. Win in a competition.", "debate", "Win in a competition."),
        ("Use debate. Use debate. Go.", "debate", "Go."),
        ("Draw it. Use competition for this.", "competition", "Draw it."),
        ("Draw it. Use competition to do this task.", "competition", "Draw it."),
        ("Use competition\nto draw it.", "competition", "draw it"),
        ("Use competition to:\n- draw\n- paint", "competition", "- draw\n- paint"),
        ("**Use competition** to draw **it**", "competition", "draw **it**"),
        ("**Use competition to draw it.**", "competition", "draw it"),
        ("- Use competition to draw it.\n- Be quick.", "competition", "- draw it.\n- Be quick."),
        ("Use competition\nFor now, draw.", "competition", "For now, draw."),
        ("Use competition to wait...", "competition", "wait..."),
    ],
)
def test_the_protocol_is_the_one_that_a_sentence_says_to_use(text, protocol, task):
    prompt = parse_prompt(text)
    assert (prompt.protocol, prompt.task) == (protocol, task)


@pytest.mark.parametrize(
    ("text", "protocol", "task"),
    [
        ("Run a competition to name a cat.", "competition", "name a cat"),
        ("Hold a debate on tea.", "debate", "tea"),
        ("competition: name a cat", "competition", "name a cat"),
        ("Name a cat. Peer-collaboration.", "peer-collaboration", "Name a cat."),
        ("Name a cat using competition.", "competition", "Name a cat."),
        ("Name a cat, by using the peer-collaboration protocol.", "peer-collaboration", "Name a cat."),
        ("Name a cat in a competition!", "competition", "Name a cat!"),
        ("Start a debate club. Name it in a competition.", "competition", "Start a debate club. Name it."),
        ("Debate, as an art, needs a page; use peer-collaboration", "peer-collaboration", None),
        ("Competition - the history. Hold a debate.", "debate", "Competition - the history."),
        ("Run a competition. Say what peer-collaboration is.", "competition", None),
    ],
)
def test_without_a_use_the_other_plain_forms_count(text, protocol, task):
    prompt = parse_prompt(text)
    assert prompt.protocol == protocol
    assert task is None or prompt.task == task


@pytest.mark.parametrize(
    "text",
    [
        "Write about debate.",
        "Explain how firms use competition to grow",
        "Win without using competition.",
        "Decide, not in a debate.",
        "Do it without peer-collaboration.",
        "Say why the competitive debaters compete.",
        "```\nUse debate.\n```\nand more",
        "> Use debate.",
        "Explain `Use debate.`, please",
        'Explain "Hi. Use debate. Bye." to me',
        "Explain it (as said. Use debate. Really) to me",
    ],
)
def test_a_protocol_word_that_is_only_english_or_quoted_starts_nothing(text):
    assert refusal(text).startswith("the prompt names no protocol")


def test_a_protocol_that_was_mistyped_is_named():
    told = refusal("Draw. Use peer-colaboration to do it.")
    assert told == "the prompt names no protocol: write `Use peer-collaboration.` for 'peer-colaboration'"
    assert "Use peer-collaboration." in refusal("use the peer colaboration")
    assert "Use debate." in refusal("Use pens. Use deabte.")


def test_a_prompt_without_a_protocol_says_what_to_add():
    told = refusal("Draw a map. CC + CX.")
    assert told.startswith("the prompt names no protocol: add `Use peer-collaboration.`")


@pytest.mark.parametrize("text", ["Use debate. Use competition.", "Use competition or debate to draw."])
def test_two_protocols_are_one_too_many(text):
    assert refusal(text) == "the prompt uses competition and debate: name one protocol"


@pytest.mark.parametrize("text", ["", " \n\t", "\ufeff\n", "\r\n"])
def test_an_empty_prompt_says_what_to_write(text):
    assert refusal(text).startswith("the prompt is empty: say what to make")


# Who.


@pytest.mark.parametrize(
    "who",
    [
        "CC + CX",
        "CC + CX.",
        "CC and CX.",
        "CC, CX",
        "CC & CX.",
        "@CC + @CX",
        "- **CC** + `CX`",
        "With CC and CX.",
        "Between CC and CX.",
        "Agents: CC, CX.",
        "Peers: CC and CX",
        "Peers:\n- CC\n- CX",
        "peers: CC (PEER_A), CX (PEER_B)",
        "CC is PEER_A, CX is PEER_B.",
        "CC is PEER_A and CX is peer b.",
        "CC as PEER_A; CX as PEER_B",
        "CC = PEER_A, CX = PEER_B",
        "CC: PEER_A, CX: PEER_B",
        "CC (PEER_A), CX (PEER_B)",
        "PEER_A is CC and PEER_B is CX.",
        "PEER_A: CC\nPEER_B: CX",
        "**PEER_A:** CC, **PEER_B:** CX",
        "PEER_A: CC and Peer B: CX.",
        "PEER_A=CC; PEER_B=CX",
        "CC + CX. CC is PEER_A, CX is PEER_B.",
        "CC is PEER_A. CC + CX.",
        "CC + CX. CX, CC.",
        "PEER_B: CX\nCC + CX.",
    ],
)
def test_two_peers_can_be_named_in_any_plain_way(who):
    prompt = parse_prompt(f"Draw a map. Use peer-collaboration.\n{who}\nKeep it small.")
    assert sorted(prompt.seats) == sorted(CC_CX)
    assert prompt.task == "Draw a map.\nKeep it small."


@pytest.mark.parametrize(
    "use",
    [
        "CC and CX, use peer-collaboration to draw a map.",
        "Use peer-collaboration with CC and CX to draw a map.",
        "Use peer-collaboration between CC and CX: draw a map.",
        "Use peer-collaboration (CC + CX) to draw a map.",
        "Use peer-collaboration, CC + CX, to draw a map.",
        "Use peer-collaboration with CC as PEER_A and CX as PEER_B to draw a map.",
        "Use peer-collaboration with CX (PEER_B) and CC to draw a map.",
        "Use peer-collaboration to draw a map, with CC as PEER_A and CX as PEER_B.",
        "draw a map using peer-collaboration with CC and CX",
        "draw a map via peer-collaboration (CC + CX)",
        "CC and CX should use the peer-collaboration skill to draw a map",
        "You must use: peer-collaboration to draw a map; peers: CC, CX.",
        "Peer-collaboration with CC and CX: draw a map.",
    ],
)
def test_peers_may_stand_beside_the_protocol(use):
    prompt = parse_prompt(use)
    assert sorted(prompt.seats) == sorted(CC_CX)
    assert prompt.task == "draw a map"


@pytest.mark.parametrize(
    "task",
    [
        "Plan our R and D work.",
        "R and D.",
        "Search and replace.",
        "Short, clear.",
        "Write with pen and paper.",
        "Build it with HTML and CSS.",
        "Holmes is a judge.",
        "Write a play with Holmes as the judge.",
        "CC is PEER_A and drafts the first page.",
        "Judges like wine.",
        "Agents: they act for others.",
        "Peers:",
        "Peers:\n\n- they are equal",
        "Work = force times distance.",
        "HTML + CSS.",
        "What is 2 + 2?",
        "AA, BB?",
        "Judge is whoever reads it.",
        "Judge is responsible.",
        "| Output | x.md |",
    ],
)
def test_words_of_the_task_are_no_roster(task):
    prompt = parse_prompt(f"Use peer-collaboration.\nCC is PEER_A, CX is PEER_B.\n{task}")
    assert prompt == Prompt("peer-collaboration", task, CC_CX)


def test_names_in_their_own_place_may_look_like_words():
    assert parse_prompt("Use peer-collaboration. ada + bob.").seats == (
        Seat("ada", "PEER_A"),
        Seat("bob", "PEER_B"),
    )
    assert parse_prompt("Use debate. Participants: ada, bob and CC.").seats == (
        Seat("ada", ""),
        Seat("bob", ""),
        Seat("CC", ""),
    )
    assert parse_prompt("Use debate with ada as the judge on tea.").seats == (Seat("ada", "JUDGE"),)


def test_a_third_peer_is_collected_for_the_protocol_to_refuse():
    assert peers("").seats == CC_CX
    assert parse_prompt("Use peer-collaboration. CC + CX + GM.").seats == (*CC_CX, Seat("GM", ""))


def test_a_team_without_roles_stays_without_roles_outside_peer_collaboration():
    assert parse_prompt("Use competition. CC + CX. Judge: GM.").seats == (
        Seat("GM", "JUDGE"),
        Seat("CC", ""),
        Seat("CX", ""),
    )


@pytest.mark.parametrize(
    "who",
    [
        "CC and CX are competitors. GM is the judge.",
        "Competitors: CC and CX; Judge: GM",
        "Competitors: CC,\n  CX\nJudge: GM (JUDGE)",
        "Competitors:\n- CC\n- @CX.\nJudge:\n\n1. `GM`",
        "Competitor: CC. Competitor: CX. JUDGES: **GM**",
        "CC (COMPETITOR), CX (COMPETITOR), GM (JUDGE)",
    ],
)
def test_competitors_and_judges_can_be_named_in_any_plain_way(who):
    prompt = parse_prompt(f"Use competition.\n{who}\n\nDraw.")
    assert prompt.seats == (Seat("CC", "COMPETITOR"), Seat("CX", "COMPETITOR"), Seat("GM", "JUDGE"))
    assert prompt.task == "Draw."


def test_a_lens_may_hold_commas_and_full_stops():
    prompt = parse_prompt("Use competition. Judges: AG (law, e.g. tax. and duty) and GM(taste).")
    assert prompt.seats == (Seat("AG", "JUDGE", "law, e.g. tax. and duty"), Seat("GM", "JUDGE", "taste"))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Use competition. Competitors: CX, CX.", "CX is named twice"),
        ("Use competition. Judge: CX. Judge: cx.", "cx is named twice"),
        ("Use peer-collaboration. CC + CC.", "CC is named twice"),
        ("Use peer-collaboration. CC is PEER_A, CC is PEER_B.", "CC is named twice"),
        ("Use peer-collaboration. CC is PEER_A, CX is PEER_A.", "PEER_A is given to CC and CX"),
        ("Use peer-collaboration. CC is PEER_A. PEER_A is free.", "PEER_A is given to CC and free"),
        ("Use peer-collaboration. CC + CX. CC + GM.", "'CC + CX' and 'CC + GM' both read as the roster"),
        ("Use competition. Judge:", "`Judge:` lists nothing"),
        ("Use competition. Judge: .", "`Judge:` lists nothing"),
        ("Use competition. Judge: the best one", "`Judge:` lists 'the best one', no name"),
        ("Use competition. Judge: human.", "'human' is reserved"),
        ("Use competition. Judge: ../CC", "'../CC' is no agent's name"),
        ("Use peer-collaboration. ALL is PEER_A.", "'ALL' is reserved"),
        ("Use peer-collaboration. CC + HUMAN.", "'HUMAN' is reserved"),
    ],
)
def test_a_roster_that_cannot_be_meant_is_refused(text, told):
    assert refusal(text).startswith(told)


def test_one_agent_may_stand_in_two_roles_for_the_protocol_to_refuse():
    assert len(parse_prompt("Use competition. Competitors: CC, CX. Judge: CC.").seats) == 3


# Criteria.


@pytest.mark.parametrize(
    "criteria",
    [
        "Clarity 30%, Pull 40%, Truth 30%.",
        "Clarity (30%), Pull [40 %], Truth(30)",
        "Clarity - 30%; Pull — 40%; and Truth: 30%",
        "Clarity: 30, Pull = 40, 30% Truth",
        "\n1. Clarity 30%.\n2. **Pull** (40%)\n3) Truth: 30%",
        "Clarity 30%,\n    Pull 40%,\n    Truth 30%",
    ],
)
def test_weights_are_read_in_any_plain_form(criteria):
    prompt = parse_prompt(f"Use competition.\nCriteria: {criteria}\nJudge: CC")
    assert prompt.criteria == (Criterion("Clarity", 30), Criterion("Pull", 40), Criterion("Truth", 30))
    assert prompt.task == ""


def test_numbers_in_a_criterion_are_no_weights():
    prompt = parse_prompt("Use competition. Criteria: Under 50% jargon, Top 10, Fits 80 (columns).")
    assert [one.name for one in prompt.criteria] == ["Under 50% jargon", "Top 10", "Fits 80 (columns)"]
    assert {one.weight for one in prompt.criteria} == {None}


def test_what_a_criterion_explains_stays_in_the_task():
    prompt = parse_prompt(
        "Use competition to draw a map.\n"
        "Criteria:\n- Clarity - can a child read it? (60%)\n- Truth (40%): no myths"
    )
    assert prompt.criteria == (Criterion("Clarity", 60), Criterion("Truth", 40))
    assert prompt.task == "draw a map.\nClarity: can a child read it?\nTruth: no myths"


def test_a_list_ends_at_the_next_key_even_among_its_bullets():
    prompt = parse_prompt("Use competition\n- Criteria:\n  - Short\n- Judge: CC\n- Output: a.md")
    assert prompt.criteria == (Criterion("Short", None),)
    assert (prompt.seats, prompt.output, prompt.task) == ((Seat("CC", "JUDGE"),), "a.md", "")


def test_a_list_goes_on_below_only_where_its_line_ends_in_a_comma():
    prompt = parse_prompt("Use competition. Judges: CC,. Draw.\nPaint.\nCriteria: Fun,\n\nSmile.")
    assert (prompt.seats, prompt.criteria) == ((Seat("CC", "JUDGE"),), (Criterion("Fun", None),))
    assert prompt.task == "Draw.\nPaint.\n\nSmile."


def test_weights_may_be_rounded():
    assert parse_prompt("Use competition. Criteria: A 33.3%, B 33.3%, C 33.3%.").criteria[0].weight == 33.3


@pytest.mark.parametrize(
    ("criteria", "told"),
    [
        ("Short 50%, Clear 40%", "the weights add up to 90%"),
        ("Short 50%, Clear", "'Clear' has no weight"),
        ("Short, short", "the criterion 'short' is named twice"),
        ("Short 50%, 50%", "a criterion without a name"),
        ("", "`Criteria:` lists nothing"),
    ],
)
def test_criteria_that_cannot_be_summed_are_refused(criteria, told):
    assert refusal(f"Use competition. Criteria: {criteria}").startswith(told)


# Files and limits.


@pytest.mark.parametrize(
    ("clause", "path"),
    [
        ("Output: a/b.c.md", "a/b.c.md"),
        ("output:a/b.md.", "a/b.md"),
        ("OUTPUT: a/b.md. Keep it short.", "a/b.md"),
        ("Output: a/b.md, max_turns: 3", "a/b.md"),
        ("Output: _drafts/b.md", "_drafts/b.md"),
        ("Output: `my notes/a. b.md`.", "my notes/a. b.md"),
        ('Output: "my notes/b.md". Go.', "my notes/b.md"),
        ("Output: 'my notes/b.md'", "my notes/b.md"),
        ("Output: “b.md”", "b.md"),
        ("- Output: b.md", "b.md"),
        ("* **Output:** `b.md`", "b.md"),
        ("**Output**: b.md", "b.md"),
        ("**Output: b.md**", "b.md"),
        ("__Output: b.md__", "b.md"),
        ("Output: **b.md**", "b.md"),
        ("1. Output: b.md", "b.md"),
        ("# Output: b.md", "b.md"),
        ("Output: b.md. Output: b.md.", "b.md"),
        (r"Output: C:\docs\b.md", r"C:\docs\b.md"),
        ("Output: ../../etc/passwd", "../../etc/passwd"),
    ],
)
def test_a_path_comes_as_written_without_dot_quotes_or_marks(clause, path):
    assert peers(clause).output == path
    assert (
        peers(clause.replace("Output", "Work").replace("OUTPUT", "WORK").replace("output", "work")).work
        == path
    )


def test_clauses_may_share_a_line_in_any_case_and_order():
    prompt = parse_prompt(
        "use competition. MAX TURNS: 12 turns. deadline: 04 turns after the challenge; Min-Score: 60%. "
        "tie_break=synthesis, Work: w.md and judge: CC. Task: Draw. Criteria: Fun."
    )
    assert prompt == Prompt(
        protocol="competition",
        task="Draw.",
        seats=(Seat("CC", "JUDGE"),),
        criteria=(Criterion("Fun", None),),
        work="w.md",
        deadline_turns=4,
        max_turns=12,
        options=(("min_score", "60%"), ("tie_break", "synthesis")),
    )


@pytest.mark.parametrize(
    "turns", ["0", "-3", "4.5", "soon", "1e3", "12 days", "٣", "9" * 5000, "4 turns each"]
)
@pytest.mark.parametrize("key", ["Deadline", "max_turns"])
def test_a_limit_is_a_positive_whole_number(key, turns):
    assert refusal(f"Use competition. {key}: {turns}").startswith(f"`{key}:` is ")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Output: a.md. Output: b.md", "`Output:` is given twice, 'a.md' and 'b.md'"),
        ("max_turns: 3. Max turns: 4", "`Max turns:` is given twice, '3' and '4'"),
        ("Output: my notes.md", "`Output:` gives 'my notes.md', no path"),
        ("Output:", "`Output:` says nothing"),
        ('Work: ""', "`Work:` says nothing"),
        ("min_score: .", "`min_score:` says nothing"),
    ],
)
def test_a_value_that_cannot_be_meant_is_refused(text, told):
    assert refusal(f"Use competition. {text}").startswith(told)


def test_the_same_limit_said_twice_is_no_contradiction():
    assert peers("max_turns: 3. max_turns: 3 turns.").max_turns == 3


# The task.


def test_the_task_keeps_its_paragraphs_its_lists_and_its_fences():
    parts = "## Parts\n- the coast\n- a `Judge: x` box"
    task = f"Draw a map.\n\n{parts}\n\n```\nOutput: kept.md\n\n\nCC + CX.\n```\n\nThen rest."
    prompt = parse_prompt(f"{task}\nUse peer-collaboration. CC + CX.\n\n\n\nOutput: map.md\n\nThank you.\n")
    assert prompt == Prompt("peer-collaboration", f"{task}\n\nThank you.", CC_CX, output="map.md")


def test_windows_line_ends_and_a_byte_order_mark_change_nothing():
    text = "Use competition to draw.\nCriteria:\n- Fun\nJudge: CC\nOutput: a.md\n\nPlease."
    assert parse_prompt("\ufeff" + text.replace("\n", "\r\n")) == parse_prompt(text)
    assert parse_prompt(text.replace("\n", "\r")) == parse_prompt(text)


def test_a_prompt_pasted_with_its_fence_is_read():
    assert parse_prompt("```text\nUse peer-collaboration to draw.\nCC + CX\n```") == Prompt(
        "peer-collaboration", "draw", CC_CX
    )


def test_a_fence_that_is_never_closed_hides_nothing():
    assert peers("```\nOutput: a.md").output == "a.md"
    assert peers("~~~\nOutput: a.md\n```").output == "a.md"


def test_marks_that_a_clause_leaves_behind_go_with_it():
    assert peers("Output: a.md. **").task == ""
    assert peers("Draw.\n---\nPaint.").task == "Draw.\n---\nPaint."


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "junk",
    ["AA, " * 9000, "(" * 40000, '" ' * 20000, "Peers: CC" + " " * 40000 + "x", "-" * 40000, "```a\n" * 9000],
)
def test_a_long_hostile_prompt_is_read_in_seconds(junk):
    assert peers(junk).seats == CC_CX


WORDS = """
    Use competition peer-collaboration debate with to for CC CX PEER_A PEER_B HUMAN is are as judge Judge
    Agents Competitors Criteria Output Work max_turns min_score Task a.md the and + , . ; : = ( ) % 0 30 **
    ` " # - 1. ```
"""
WRITTEN = st.lists(st.sampled_from([*WORDS.split(), "\n", "\n\n", "\r\n", "\u2028", "\u202e"]), max_size=40)


def read(text: str) -> Prompt | UsageError:
    try:
        return parse_prompt(text)
    except UsageError as error:
        return error


@given(WRITTEN.map(" ".join) | WRITTEN.map("".join) | st.text())
def test_any_text_is_a_prompt_or_one_clear_line(text):
    got = read(text)
    if isinstance(got, UsageError):
        assert str(got).isprintable()
        assert got.then
        return
    assert got.protocol in PROTOCOLS
    assert got.task == got.task.strip()
    assert "\r" not in got.task
    assert {seat.role for seat in got.seats} <= {"", "PEER_A", "PEER_B", "COMPETITOR", "JUDGE"}


@given(st.text(st.characters(exclude_categories=["Cs", "Cc", "Po", "Ps", "Pe", "Zl", "Zp"]), max_size=60))
def test_no_word_of_a_plain_task_is_lost(words):
    task = " ".join(["make", *words.split(), "now"])
    prompt = parse_prompt(f"Use peer-collaboration to {task}\nCC is PEER_A, CX is PEER_B.")
    assert prompt == Prompt("peer-collaboration", task, CC_CX)
