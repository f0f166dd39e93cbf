"""Criteria: what entries are judged by, in a prompt, in a challenge, and as an opening pins them."""

import re
from collections.abc import Iterable, Sequence

from .errors import UsageError
from .names import shown
from .seats import Criterion

_NUMBER = r"(?<![0-9.])([0-9]{1,6}(?:\.[0-9]{1,6})?)\s*"
_WEIGHT = (
    rf"[(\[]\s*{_NUMBER}(?:%\s*[)\]]|[)\]]$)|(?<=[\s:=–—-]){_NUMBER}%$|[:=]\s*{_NUMBER}$|^{_NUMBER}%(?:\s|$)"
)


def criterion_of(item: str) -> tuple[Criterion, str]:
    """Give one criterion and what else its item says: `Clarity - is it plain? (30%)`, `Clarity 30%`.

    Raises UsageError for one without a name.
    """
    weighed = re.search(_WEIGHT, item)
    weight = None
    if weighed:
        weight = float(next(filter(None, weighed.groups())))
        item = item[: weighed.start()].rstrip(" :=-–—") + item[weighed.end() :]
    name, *about = re.split(r"\s[-–—]+\s|:\s", item, maxsplit=1)
    name = name.strip().strip(' *_`:"“”').strip()
    if not name:
        raise UsageError(f"a criterion without a name, {shown(item)}", then="write `Clear 60%, Short 40%`")
    return Criterion(name, weight), "".join(about).strip()


def check_criteria(criteria: Sequence[Criterion]) -> None:
    """Raise UsageError for a criterion named twice, or weights that are incomplete or do not add up to 100."""
    names: set[str] = set()
    for one in criteria:
        if one.name.casefold() in names:
            raise UsageError(f"the criterion {shown(one.name)} is named twice", then="keep one")
        names.add(one.name.casefold())
    weights = [one.weight for one in criteria if one.weight is not None]
    if weights and len(weights) < len(criteria):
        bare = next(one.name for one in criteria if one.weight is None)
        raise UsageError(f"{shown(bare)} has no weight", then="give every criterion a weight, or none")
    if weights and abs(sum(weights) - 100) > 0.5:
        raise UsageError(f"the weights add up to {sum(weights):g}%", then="make them add up to 100%")


def write_criteria(criteria: Iterable[Criterion]) -> str:
    """Write criteria on one line, as an opening holds them: `Clear 60% | Short 40%`."""
    names = ((one.name.replace("|", "/"), one.weight) for one in criteria)
    return " | ".join(name if weight is None else f"{name} {_digits(weight)}%" for name, weight in names)


def _digits(weight: float) -> str:
    return f"{weight:.6f}".rstrip("0").rstrip(".")


def read_criteria(text: str) -> tuple[Criterion, ...]:
    """Read what `write_criteria` wrote; since all have a weight or none, `Fits 80% | Clear` holds two names."""
    items = [item for item in text.split(" | ") if item]
    weighed = [re.fullmatch(r"(.+) ([0-9]{1,6}(?:\.[0-9]{1,6})?)%", item) for item in items]
    if all(weighed):
        return tuple(Criterion(one[1], float(one[2])) for one in weighed if one)
    return tuple(Criterion(item, None) for item in items)
