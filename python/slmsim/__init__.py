"""slmsim in Python: predictions of pretraining techniques on few, mixed, distant GPUs.

    import slmsim
    run = slmsim.load("gat-amst", {"models": "gpt2m"}).run()
    run.picks["gpt2m"]
    run.frame[["technique", "group", "minutes"]]

Every number is the one that the program prints. Work runs without the interpreter's lock, Ctrl-C ends it, and wrong input
raises InputError with every error and its place.
"""
from __future__ import annotations as _annotations

import json as _json
from typing import Any as _Any

try:
    from ._core import __version__
except ModuleNotFoundError as _error:
    if _error.name != f"{__name__}._core":
        raise
    from ._missing import advice as _advice

    raise ImportError(_advice(), name=_error.name) from None
from . import _core
from ._errors import InputError, Problem
from ._pictures import Picture
from ._results import Explanation, Fit, Pick, Plan, Run, Sweep
from ._scenario import Scenario, load, sweep

__all__ = ["Explanation", "Fit", "InputError", "Pick", "Picture", "Plan", "Problem", "Run", "Scenario", "Sweep", "__version__",
           "load", "sweep", "techniques"]


def techniques() -> list[dict[str, _Any]]:
    """The available techniques: name, summary, options and looks, as `slmsim list techniques --format json` tells."""
    found: list[dict[str, _Any]] = _json.loads(_core.techniques())
    return found
