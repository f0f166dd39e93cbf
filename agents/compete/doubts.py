"""What of a run's options is likely no intention: told before it begins, and no reason to refuse it."""

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from ...parsers.names import nearest
from ...workspace.repository import find_repository
from .claim import Settings
from .layout import WORK
from .outputs import flat
from .quoting import VARIABLES


def doubts(settings: Settings, output: Path) -> Iterator[str]:
    """Say in a line each which options of a run into that folder are likely no intention."""
    plan = settings.plan
    if plan.misfit:
        yield plan.misfit
    repository = find_repository(output) if settings.worktrees else None
    folder = repository.root if repository else output.resolve() / plan.candidate_ids[0] / WORK
    for template in (settings.command, settings.oracle):
        for word in re.findall(r"(?<!\$)\{([A-Za-z][\w-]{2,})\}", template):
            near = nearest(word, VARIABLES)
            if near and word not in VARIABLES:
                yield f"{{{word}}} is left as it is: did you mean {{{near}}}?"
        if word := missing(template, folder):
            yield f"candidates will find no {flat(word)}: give an absolute path, or one on PATH"


def missing(template: str, folder: Path) -> str:
    """Give the first word of a template where a shell in that folder plainly finds no command of that name."""
    try:
        word = (shlex.split(template) or [""])[0]
    except ValueError:
        return ""
    if not re.fullmatch(r"[\w@%+,./ -]+", word):
        return ""  # the shell makes something else of it, or there is none
    if "/" in word:
        return "" if shutil.which(os.path.normpath(folder / word)) else word
    builtin = ("/bin/sh", "-c", 'command -v -- "$1"', "sh", word)
    found = (
        shutil.which(word) or subprocess.run(builtin, stdout=subprocess.DEVNULL, check=False).returncode == 0
    )
    return "" if found else word
