"""The one tree of errors: whose fault it is, where it stands, what to do next.

An error carries fields. The command line alone turns them into a sentence and an exit code.
"""


class MootError(Exception):
    """Anything that a command can fail with; `exit_code` is what the process answers."""

    exit_code = 1

    def __init__(self, what: str, *, where: str = "", then: str = "") -> None:
        """Say `what` is wrong, `where` (a path, a line, a block), and what to do `then`."""
        super().__init__(what)
        self.what = what
        self.where = where
        self.then = then

    def __str__(self) -> str:
        """Give the one line that a person or an agent reads."""
        place = f" ({self.where})" if self.where else ""
        return f"{self.what}{place}" + (f": {self.then}" if self.then else "")


class UsageError(MootError):
    """The caller's: a wrong argument, an empty body, an unknown setting."""

    exit_code = 2


class Refused(MootError):
    """The rules': a turn out of order, a session that is closed. Nothing was written."""

    exit_code = 3


class NotFound(MootError):
    """No such agent, session or block, or something that is not available now."""

    exit_code = 4


class StoreError(MootError):
    """The disk's: no space, no permission, a lock that nobody gives back."""

    exit_code = 1


class IntegrityError(MootError):
    """The record does not fit its own hashes."""

    exit_code = 5


class TimeIsUp(MootError):
    """Something was waited for and did not come in the time allowed."""

    exit_code = 6
