"""What a run leaves at its top: the manifest, the selection, the synthesis, the summary; each written whole."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...parsers.findings import Finding, findings_of, merge, missed_in
from ...parsers.screen import one_line, visible
from ...workspace.files import read_regular
from ..protocols.compete import STAGES
from .frozen import ASIDE, put, remove
from .layout import result_stage
from .policy import UNIONS
from .run import Run
from .selection import Evidence, Selection, number

HANDOFF_ACTIONS = (
    "create_child_items", "enqueue_integration_hint", "write_blueprint_patch_proposal", "write_validation_hint",
    "write_repair_assignment", "request_master_review",
)  # fmt: skip
NO_REAL_WORK = "the built-in mock answered: no real work was done"
ENDS = {"selection", "selection_mode", "runner", "time_is_up"}  # of a manifest: what tells how a run ended
_MARK = re.compile(r"(?<![\w\])])\[[ \t]*[xX][ \t]*\]")  # `list[x]` is code, and accepts nothing


def write_outputs(
    run: Run,
    evidence: Mapping[str, Evidence],
    selection: Selection,
    manifest: dict[str, Any],
    records: list[dict[str, Any]],
) -> dict[str, Any]:
    """Write all top-level files, `best_run.txt` last; give the manifest as it was written."""
    chosen = list(selection.chosen)
    status = "selected" if chosen else "failed"
    manifest = {
        **manifest,
        "status": status,
        "selection": {
            "selected_ids": chosen,
            "tie_break": "stable_candidate_id",
            "reason": reason(run, selection),
            "doubt": selection.doubt,
        },
        "notes": run.notes,
        "refused_marks": [{"candidate_id": name, "stage": stage} for name, stage in marks(run)],
        "missed_findings": missed(run, selection),
        "votes": [ballot._asdict() for ballot in selection.ballots],
        "verdicts": {name: one._asdict() for name, one in evidence.items()},
        "exit_codes": {f"{name}/{stage}": one.exit_code for (name, stage), one in sorted(run.done.items())},
        "elapsed_s": {f"{name}/{stage}": one.elapsed_s for (name, stage), one in sorted(run.done.items())},
    }
    rejected = [{"candidate_id": name, "reason": why} for name, why in selection.rejected]
    texts = {
        "classification.md": _classification(run),
        "verification.md": _verification(evidence),
        "selected.json": _json({"selected_ids": chosen}),
        "rejected.json": _json({"rejected": rejected}),
        "findings.json": _json({"findings": [one._asdict() for one in united(run, selection)]}),
        "synthesis.md": synthesis(run, selection),
        "final_repairs.md": _final_repairs(run, selection),
        "records.jsonl": "".join(json.dumps(record) + "\n" for record in records),
        "compete_manifest.json": _json(manifest),
        "summary.md": summary(run, selection, manifest["runner"]),
    }
    for name, text in texts.items():
        put(run.folder, name, text.encode("utf-8", "replace"))
    best = run.folder / "best_run.txt"
    if chosen:
        put(run.folder, best.name, f"{chosen[0]}\n".encode())
    else:
        remove(best)
    return manifest


def finished(folder: Path) -> dict[str, Any] | None:
    """Give the manifest of a run that has ended, with all that ends it; None where something is left to do."""
    data = read_regular(folder / "compete_manifest.json")
    if data is None or (folder / ASIDE).exists():
        return None
    try:
        manifest = json.loads(data)
    except ValueError:
        return None
    said = manifest if isinstance(manifest, dict) else {}
    return said if said.keys() >= ENDS and "doubt" in said["selection"] else None


def _json(value: object) -> str:
    return json.dumps(value, indent=2) + "\n"


def _classification(run: Run) -> str:
    plan = run.plan
    counts = f"{plan.proposal_count} proposals of {plan.budget_workers} workers, {plan.chosen} chosen"
    lines = [
        f"# {plan.question_type}",
        "",
        f"{counts} by {plan.selection_mode}; shape {plan.competition_shape}.",
        "",
    ]
    lines += [f"- {field}: {why}" for field, why in plan.reasons]
    return "\n".join(lines).rstrip() + "\n"


def _verification(evidence: Mapping[str, Evidence]) -> str:
    rows = []
    for one in evidence.values():
        score = "" if one.score is None else number(one.score)
        rows.append(f"| {one.candidate} | {one.verdict or 'none'} | {one.oracle or 'none'} | {score} |")
    return "\n".join(["| candidate | verifier | oracle | score |", "|---|---|---|---|", *rows]) + "\n"


def accepted_nothing(text: str) -> str:
    """Give a candidate's text with `[x]` marks made `[_]`: only the master accepts."""
    return _MARK.sub("[_]", text)


def marks(run: Run) -> tuple[tuple[str, str], ...]:
    """Give (candidate, stage) for everything handed in that holds an `[x]`."""
    order = sorted(run.done, key=lambda key: (key[0], STAGES.index(key[1])))
    return tuple((name, stage) for name, stage in order if _MARK.search(run.whole(name, stage)))


def united(run: Run, selection: Selection) -> tuple[Finding, ...]:
    """Give the findings of those chosen by a union, merged; nothing where the mode is no union."""
    if run.plan.selection_mode not in UNIONS:
        return ()
    found = {name: findings_of(accepted_nothing(run.result_of(name))) for name in selection.chosen}
    return merge(found, ranked=run.plan.selection_mode == "risk_union")


def missed(run: Run, selection: Selection) -> dict[str, list[int]]:
    """Give, by file, the numbers of the lines that look like findings of a union and were not taken."""
    if run.plan.selection_mode not in UNIONS:
        return {}
    numbers = {name: list(missed_in(run.result_of(name))) for name in selection.chosen}
    return {_result_file(run, name): lines for name, lines in numbers.items() if lines}


def _result_file(run: Run, name: str) -> str:
    stages = {stage: done.sha256 for (who, stage), done in run.done.items() if who == name and not done.error}
    return str(run.path(name, result_stage(stages)).relative_to(run.folder))


def reason(run: Run, selection: Selection) -> str:
    """Say in one line why those were chosen: what a union holds, and the evidence, the best first."""
    said = [_size(run, selection)]
    said += [f"{', '.join(selection.chosen)}: chosen {selection.doubt}"] if selection.doubt else []
    return "; ".join(one for one in (*said, *(f"{name}: {fact}" for name, fact in selection.facts)) if one)


def _size(run: Run, selection: Selection) -> str:
    """Say how much a union holds; empty where there is none."""
    if run.plan.selection_mode not in UNIONS or not selection.chosen:
        return ""
    found, count = len(united(run, selection)), len(selection.chosen)
    return f"{found} finding{'s' * (found != 1)} of {count} candidate{'s' * (count != 1)}"


def synthesis(run: Run, selection: Selection) -> str:
    """Put together what was chosen: the union of findings, or the chosen results in their order."""
    plan, chosen = run.plan, selection.chosen
    if not chosen:
        return "Nothing was chosen: no candidate is valid.\n"
    results = {name: accepted_nothing(run.result_of(name)).strip() for name in chosen}
    if plan.selection_mode not in UNIONS:
        titles = (
            dict(zip(chosen, ("Primary", "Fallback"), strict=False))
            if plan.selection_mode == "repair_queue"
            else {}
        )
        parts = [f"## {titles.get(name, 'Chosen')}: {name}\n\n{text}" for name, text in results.items()]
        return "\n\n".join(parts) + "\n"
    lines = [
        f"{place}. {_severity(one)} | {one.location} | {one.claim} | {one.evidence} |"
        f" found by {', '.join(one.found_by)}"
        for place, one in enumerate(united(run, selection), 1)
    ]
    parts = ["# Findings", "\n".join(lines) or "No candidate gave a `FINDING:` line."]
    free = {name: text for name, text in results.items() if not findings_of(text)}
    parts += [f"## {name}, in its own words\n\n{text}" for name, text in free.items()]
    return "\n\n".join(parts) + "\n"


def _severity(one: Finding) -> str:
    said = f"unrated ({one.severity_said})" if one.severity_said else "unrated"
    return one.severity or said


def _final_repairs(run: Run, selection: Selection) -> str:
    parts = [
        f"## {name}\n\n{accepted_nothing(run.text(name, 'repair_synthesis')).strip()}"
        for name in selection.chosen
    ]
    return "\n\n".join(["# Repairs", *parts]) + "\n"


def summary(run: Run, selection: Selection, runner: str) -> str:
    """Tell a person what came of the run, and why."""
    head = "No valid candidate"
    if selection.chosen:
        how = ", ".join(part for part in (run.plan.selection_mode, selection.doubt) if part)
        head = f"{', '.join(selection.chosen)}: chosen by {how}"
    lines = [f"# {head}", "", f"Task: {one_line(run.task, 2000)}", ""]
    lines += [f"{NO_REAL_WORK[0].upper()}{NO_REAL_WORK[1:]}.", ""] if runner == "mock" else []
    lines += ["What was chosen: [synthesis.md](synthesis.md).", ""] if selection.chosen else []
    return "\n".join([*lines, *(f"- {flat(one)}" for one in _told(run, selection))]) + "\n"


def _told(run: Run, selection: Selection) -> list[str]:
    """Give what a summary lists: the evidence, the best first, who voted for whom, and what was noticed."""
    lines = [f"{name}: {fact}" for name, fact in selection.facts]
    lines += [f"united: {size}" for size in (_size(run, selection),) if size]
    for one in selection.ballots:
        said = f" (`{one.line}`)" if one.line else ""
        lines.append(
            f"void vote of {one.voter}: {one.void}{said}"
            if one.void
            else f"vote: {one.voter} for {one.choice}"
        )
    for file, numbers in missed(run, selection).items():
        where = f"line{'s' * (len(numbers) != 1)} {', '.join(map(str, numbers[:20]))}"
        lines.append(f"{len(numbers)} that look like findings were not taken: {file}, {where}")
    for name, stage in marks(run):
        who = f"the verifier of {name}" if stage == "initial_verification" else name
        lines.append(f"{who} wrote [x] at {stage}, which only the master may: taken as [_]")
    cut = (f"{name}/{stage}" for (name, stage), one in sorted(run.done.items()) if one.cut)
    return [*lines, *(f"output was cut: {where}" for where in cut), *run.notes]


def flat(text: str) -> str:
    """Give any text as one line, with what would break it as escapes."""
    return visible(text).replace("\n", "\\n").replace("\t", "\\t")
