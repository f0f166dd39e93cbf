"""Where a run keeps what: the seed's file names, native and old. Pure.

Source of the names: seed `compete-cron-builder`, Three-Way Challenge; stages and files of the native layout.
"""

from ..protocols.compete import STAGES

# stage -> the candidate's file in each layout
NATIVE = ("result", "verification", *STAGES[2:])
OLD = ("result", "verification", "critique_round_1", "update_round_1", "critique_round_2", "final_repair")
WORK = "implementation"  # the folder of a candidate that its commands run in


def file_of(layout: str, stage: str) -> str:
    """Give the name of a candidate's file for a stage."""
    names = OLD if layout == "old_three_way" else NATIVE
    return f"{names[STAGES.index(stage)]}.md"


def result_stage(done: dict[str, str]) -> str:
    """Give the stage whose file is a candidate's result now: its revision, where it made one."""
    return "revision_round_1" if done.get("revision_round_1") else "proposal"
