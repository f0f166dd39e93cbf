"""What kind of question a task is, how many propose, how many are chosen, and by which rule. Pure.

The counts, for n workers:

    question_type        m (proposals)  k (chosen)                  selection_mode
    precision            min(n,4)       1                           best_one
    coverage             n              all_valid                   coverage_union
    audit                n              all_valid                   risk_union
    blueprint, seo       min(n,5)       min(m,3)                    top_k
    execution_choice     min(n,3)       1                           best_one
    repair               min(n,4)       min(m,2), primary, fallback repair_queue
    three_way_challenge  3              1                           vote_then_tiebreak

Source of the rules: seed `compete-cron-builder`, Inputs and m/k Policy.
"""

import re
from collections.abc import Callable
from typing import NamedTuple

from ...parsers.errors import UsageError
from ...parsers.names import did_you_mean

AUTO, ALL_VALID = "auto", "all_valid"
QUESTION_TYPES = ("precision", "coverage", "audit", "blueprint", "seo", "execution_choice", "repair")
THREE_WAY = "three_way_challenge"
SHAPES = (THREE_WAY, "parallel_proposals", "coverage_sweep", "repair_search", "top_k_synthesis")
MODES = ("best_one", "top_k", "coverage_union", "risk_union", "vote_then_tiebreak", "repair_queue")
OLD_LAYOUT = "old_three_way"
LAYOUTS = ("native", OLD_LAYOUT)
UNIONS = ("coverage_union", "risk_union")

# question type -> how many propose, of n workers
PROPOSALS: dict[str, Callable[[int], int]] = {
    "precision": lambda n: min(n, 4),
    "coverage": lambda n: n,
    "audit": lambda n: n,
    "blueprint": lambda n: min(n, 5),
    "seo": lambda n: min(n, 5),
    "execution_choice": lambda n: min(n, 3),
    "repair": lambda n: min(n, 4),
}
MODE_OF = {
    "precision": "best_one",
    "coverage": "coverage_union",
    "audit": "risk_union",
    "blueprint": "top_k",
    "seo": "top_k",
    "execution_choice": "best_one",
    "repair": "repair_queue",
}
SHAPE_OF = {
    "coverage": "coverage_sweep",
    "audit": "coverage_sweep",
    "repair": "repair_search",
    "blueprint": "top_k_synthesis",
    "seo": "top_k_synthesis",
}
# selection mode -> how many are chosen, of m proposals; 0 stands for all that are valid
CHOSEN: dict[str, Callable[[int], int]] = {
    "best_one": lambda _: 1,
    "vote_then_tiebreak": lambda _: 1,
    "top_k": lambda m: min(m, 3),
    "repair_queue": lambda m: min(m, 2),
    "coverage_union": lambda _: 0,
    "risk_union": lambda _: 0,
}
# The first type with a word in the task decides: what asks for most care comes first.
WORDS = {
    "seo": ("seo", "serp", "backlinks", "keywords"),
    "repair": ("fix", "repair", "bug", "bugs", "broken", "failing", "regression"),
    "audit": ("audit", "risk", "risks", "vulnerability", "vulnerabilities", "threats", "compliance"),
    "coverage": ("coverage", "enumerate", "every", "all", "list", "find"),
    "blueprint": ("blueprint", "architecture", "roadmap", "plan", "design"),
    "execution_choice": ("choose", "decide", "alternatives", "options", "versus", "vs"),
}


class Wishes(NamedTuple):
    """What was asked for on the command line; counts are None and words `auto` where nothing was said."""

    budget_workers: int = 3
    proposal_count: int | str | None = None
    choose_count: int | str | None = None
    question_type: str = AUTO
    competition_shape: str = AUTO
    selection_mode: str = AUTO
    artifact_layout: str = "native"


class Plan(NamedTuple):
    """What a run is; `choose_count` is 0 for all that are valid, `reasons` say how each automatic choice came."""

    question_type: str
    competition_shape: str
    selection_mode: str
    artifact_layout: str
    budget_workers: int
    proposal_count: int
    choose_count: int
    candidate_ids: tuple[str, ...]
    reasons: tuple[tuple[str, str], ...] = ()

    @property
    def chosen(self) -> int | str:
        """How many are chosen, as files say it: a number, or `all_valid`."""
        return self.choose_count or ALL_VALID

    @property
    def is_count_asked(self) -> bool:
        """Whether a person said how many are chosen: the automatic choice has its reason."""
        return bool(self.choose_count) and "choose_count" not in dict(self.reasons)

    @property
    def misfit(self) -> str:
        """Say how proposals and workers do not fit each other; empty where they do."""
        if self.proposal_count > self.budget_workers:
            return (
                f"{self.proposal_count} proposals are more than the budget of {self.budget_workers} workers"
            )
        if self.competition_shape == THREE_WAY and self.proposal_count < self.budget_workers:
            return f"a {THREE_WAY} has 3 proposals: {self.budget_workers - 3} of {self.budget_workers} workers idle"
        return ""


def plan_for(task: str, wishes: Wishes) -> Plan:
    """Decide what a run is; every option overrides what the task's words would give.

    Raises UsageError for an unknown word (with the nearest), a count that is no positive number, more chosen than
    proposed, a three-way challenge of another number, or options that contradict each other.
    """
    _known("--question-type", wishes.question_type, (AUTO, *QUESTION_TYPES))
    _known("--competition-shape", wishes.competition_shape, (AUTO, *SHAPES))
    _known("--selection-mode", wishes.selection_mode, (AUTO, *MODES))
    _known("--artifact-layout", wishes.artifact_layout, LAYOUTS)
    for option, count in (
        ("--budget-workers", wishes.budget_workers),
        ("--proposal-count", wishes.proposal_count),
        ("--choose-count", None if wishes.choose_count == ALL_VALID else wishes.choose_count),
    ):
        if count is not None and (not isinstance(count, int) or count < 1):
            raise UsageError(f"{option} is {count}", then="give a positive whole number")
    reasons = []
    kind = wishes.question_type
    if kind == AUTO:
        kind, why = question_type_of(task)
        reasons.append(("question_type", why))
    three = wishes.competition_shape == THREE_WAY or wishes.artifact_layout == OLD_LAYOUT
    if three and wishes.competition_shape not in (AUTO, THREE_WAY):
        raise UsageError(
            f"--artifact-layout {OLD_LAYOUT} is for a {THREE_WAY}, not a {wishes.competition_shape}",
            then="leave one of the two options out",
        )
    shape = THREE_WAY if three else wishes.competition_shape
    if shape == AUTO:
        shape = SHAPE_OF.get(kind, "parallel_proposals")
        reasons.append(("competition_shape", f"{kind} is a {shape}"))
    mode = wishes.selection_mode
    if mode == AUTO:
        mode = "vote_then_tiebreak" if three else MODE_OF[kind]
        why = f"{shape if three else kind} selects by {mode}"
        if mode == "best_one" and isinstance(wishes.choose_count, int) and wishes.choose_count > 1:
            mode, why = "top_k", f"{wishes.choose_count} are to be chosen: top_k"
        reasons.append(("selection_mode", why))
    proposals = wishes.proposal_count
    if three and proposals not in (None, 3):
        raise UsageError(f"--proposal-count is {proposals}", then="a three-way challenge has three proposals")
    if proposals is None:
        proposals = 3 if three else PROPOSALS[kind](wishes.budget_workers)
        reasons.append(
            (
                "proposal_count",
                f"{proposals} of {wishes.budget_workers} workers for {shape if three else kind}",
            )
        )
    assert isinstance(proposals, int)
    choose = _choose(wishes, mode, proposals, reasons)
    names = (
        ("run_a", "run_b", "run_c") if three else tuple(f"proposal_{n:03}" for n in range(1, proposals + 1))
    )
    return Plan(
        kind,
        shape,
        mode,
        wishes.artifact_layout,
        wishes.budget_workers,
        proposals,
        choose,
        names,
        tuple(reasons),
    )


def _choose(wishes: Wishes, mode: str, proposals: int, reasons: list[tuple[str, str]]) -> int:
    """Give how many are chosen, 0 for all that are valid."""
    asked = wishes.choose_count
    if asked is None:
        count = CHOSEN[mode](proposals)
        reasons.append(("choose_count", f"{mode} chooses {count or ALL_VALID} of {proposals}"))
        return count
    if asked == ALL_VALID:
        if mode not in UNIONS:
            raise UsageError(
                f"{mode} cannot choose all that is valid", then="add --selection-mode coverage_union"
            )
        return 0
    assert isinstance(asked, int)
    if asked > proposals:
        raise UsageError(f"--choose-count is {asked} of {proposals} proposals", then="choose at most as many")
    if mode in ("vote_then_tiebreak", "best_one") and asked != 1:
        then = "a vote has one winner" if mode != "best_one" else "choose one, or add --selection-mode top_k"
        raise UsageError(f"--choose-count is {asked}", then=then)
    return asked


def question_type_of(task: str) -> tuple[str, str]:
    """Give the type of a task by its whole words, and the reason, which names the word."""
    said = re.findall(r"[a-z]+", task.casefold())
    for kind, words in WORDS.items():
        found = [word for word in said if word in words]
        if found:
            return kind, f"the task says {', '.join(dict.fromkeys(found))}: {kind}"
    return "precision", "no word of the task names another type: precision"


def _known(option: str, word: str, words: tuple[str, ...]) -> None:
    if word not in words:
        raise UsageError(f"{option} is {word!r}", then=did_you_mean(word, words))
