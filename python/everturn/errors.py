"""What every error of this package is."""
from typing import Optional


class EverturnError(Exception):
    """`reason`: one stable word, such as `stale-line`, or None if Everturn gave none. `fix`: what would help, or None."""

    def __init__(self, error: str, reason: Optional[str] = None, fix: Optional[str] = None):
        super().__init__(f"{error}{f' {fix}' if fix else ''}")
        self.error, self.reason, self.fix = error, reason, fix

    def __reduce__(self):
        return type(self), (self.error, self.reason, self.fix)
