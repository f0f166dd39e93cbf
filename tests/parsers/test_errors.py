"""Errors: one line that says what is wrong, where, and what to do."""

import pytest

from moot.parsers import errors
from moot.parsers.errors import MootError


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (MootError("it broke"), "it broke"),
        (MootError("it broke", where="a.md"), "it broke (a.md)"),
        (MootError("it broke", then="mend it"), "it broke: mend it"),
        (MootError("it broke", where="a.md", then="mend it"), "it broke (a.md): mend it"),
    ],
)
def test_an_error_reads_as_what_where_and_what_next(error, line):
    assert str(error) == line


def test_each_kind_of_error_has_the_exit_code_that_the_design_gives_it():
    kinds = {
        "MootError": 1, "StoreError": 1, "UsageError": 2, "Refused": 3,
        "NotFound": 4, "IntegrityError": 5, "TimeIsUp": 6,
    }  # fmt: skip
    found = {name: kind for name, kind in vars(errors).items() if isinstance(kind, type)}
    assert {name: kind.exit_code for name, kind in found.items()} == kinds
    assert all(issubclass(kind, MootError) for kind in found.values())
