"""What every error of this package is."""
from typing import Optional


class EverturnError(Exception):
    """`reason`: one stable word, such as `stale-line`, or None if Everturn gave none. `fix`: what would help, or None.
    `boundary`: the part of Everturn that refused, or None."""

    def __init__(self, error: str, reason: Optional[str] = None, fix: Optional[str] = None, boundary: Optional[str] = None):
        super().__init__(f"{error}{f' {fix}' if fix else ''}")
        self.error, self.reason, self.fix, self.boundary = error, reason, fix, boundary

    def __reduce__(self):
        return type(self), (self.error, self.reason, self.fix, self.boundary)
