"""What a run leaves at its top: the manifest, the selection, the synthesis, the summary; each written whole."""

import json
import re
from collections.abc import Mapping
from typing import Any

from ...parsers.findings import Finding, findings_of, merge
from ...workspace.files import write_whole
from .policy import UNIONS
from .run import Run
from .selection import Evidence, Selection, number

HANDOFF_ACTIONS = (
    "create_child_items", "enqueue_integration_hint", "write_blueprint_patch_proposal", "write_validation_hint",
    "write_repair_assignment", "request_master_review",
)  # fmt: skip


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
        "selection": {"selected_ids": chosen, "tie_break": "stable_candidate_id"},
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
        "summary.md": summary(run, evidence, selection),
    }
    for name, text in texts.items():
        write_whole(run.folder / name, text.encode("utf-8", "replace"))
    best = run.folder / "best_run.txt"
    if chosen:
        write_whole(best, f"{chosen[0]}\n".encode())
    else:
        best.unlink(missing_ok=True)
    return manifest


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
    return re.sub(r"\[[xX]\]", "[_]", text)


def united(run: Run, selection: Selection) -> tuple[Finding, ...]:
    """Give the findings of those chosen by a union, merged; nothing where the mode is no union."""
    if run.plan.selection_mode not in UNIONS:
        return ()
    found = {name: findings_of(run.result_of(name)) for name in selection.chosen}
    return merge(found, ranked=run.plan.selection_mode == "risk_union")


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
        f"{number}. {one.severity or 'unrated'} | {one.location} | {one.claim} | {one.evidence} |"
        f" found by {', '.join(one.found_by)}"
        for number, one in enumerate(united(run, selection), 1)
    ]
    parts = ["# Findings", "\n".join(lines) or "No candidate gave a `FINDING:` line."]
    free = {name: text for name, text in results.items() if not findings_of(text)}
    parts += [f"## {name}, in its own words\n\n{text}" for name, text in free.items()]
    return "\n\n".join(parts) + "\n"


def _final_repairs(run: Run, selection: Selection) -> str:
    parts = [
        f"## {name}\n\n{accepted_nothing(run.text(name, 'repair_synthesis')).strip()}"
        for name in selection.chosen
    ]
    return "\n\n".join(["# Repairs", *parts]) + "\n"


def summary(run: Run, evidence: Mapping[str, Evidence], selection: Selection) -> str:
    """Tell a person what came of the run, and why."""
    plan = run.plan
    if selection.chosen:
        head = f"# {', '.join(selection.chosen)}: chosen by {plan.selection_mode}"
    else:
        head = "# No valid candidate"
    votes = dict(selection.votes)
    lines = [head, "", f"Task: {run.task.strip()}", ""]
    for name, one in evidence.items():
        said = [f"failed at {one.failure}" if one.failure else "valid", f"votes {votes.get(name, 0)}"]
        said += [f"verifier {one.verdict}"] * bool(one.verdict) + [f"oracle {one.oracle}"] * bool(one.oracle)
        lines.append(f"- {name}: {', '.join(said)}")
    lines += [f"- void vote of {ballot.voter}: {ballot.void}" for ballot in selection.ballots if ballot.void]
    marks = [name for name in run.plan.candidate_ids if re.search(r"\[[xX]\]", run.result_of(name))]
    lines += [f"- {name} wrote [x], which only the master may: taken as [_]" for name in marks]
    cut = [f"{name}/{stage}" for (name, stage), one in sorted(run.done.items()) if one.cut]
    lines += [f"- output was cut: {where}" for where in cut]
    return "\n".join([*lines, *(f"- {note}" for note in run.notes)]) + "\n"
