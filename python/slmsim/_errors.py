"""Errors of an input, with their places."""
from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong. `file` is None where it is of no file, `line` and `column` (from 1, in letters) where it is of
    a whole file; overrides are of the file "--set". `shown` is the text as `slmsim` prints it, with the line it speaks of."""

    file: str | None
    line: int | None
    column: int | None
    text: str
    shown: str


class InputError(ValueError):
    """Everything that is wrong with a scenario, with the files that it names, or with an argument: `problems`, all at once.

    `file`, `line` and `column` are those of the first.
    """

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        super().__init__("\n".join(problem.shown for problem in problems))
        self.problems = problems

    def __reduce__(self) -> tuple[type[InputError], tuple[tuple[Problem, ...]]]:
        return type(self), (self.problems,)

    @classmethod
    def _of(cls, errors: list[tuple[str | None, int | None, int | None, str, str]]) -> InputError:
        return cls(tuple(Problem(*error) for error in errors))

    @property
    def file(self) -> str | None:
        return self.problems[0].file if self.problems else None

    @property
    def line(self) -> int | None:
        return self.problems[0].line if self.problems else None

    @property
    def column(self) -> int | None:
        return self.problems[0].column if self.problems else None
