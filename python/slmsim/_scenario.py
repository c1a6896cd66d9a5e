"""A scenario and its verbs."""
from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Union

from . import _core
from ._results import Explanation, Fit, Plan, Run, Sweep

Value = Union[str, int, float, bool, Sequence[Any], Mapping[str, Any]]
"""What a key may be set to: text as `--set` takes it ("57.4 ms", "[gat, amst/0]"), or a number, list or mapping."""
Names = Union[str, Sequence[str], None]
"""One name, several, or None for all."""
Progress = Union[Callable[[int, int], object], None]
"""Called at intervals with the work done and the total. An exception that it raises ends the work."""


def _override(key: str, value: Value) -> str:
    return f"{key}={value if isinstance(value, str) else json.dumps(value)}"


def _overrides(set: Mapping[str, Value] | None) -> list[str]:
    return [_override(key, value) for key, value in (set or {}).items()]


def _names(names: Names) -> list[str]:
    return [] if names is None else [names] if isinstance(names, str) else list(names)


def load(file: str | os.PathLike[str], set: Mapping[str, Value] | None = None) -> Scenario:
    """A scenario from its YAML file, or a shipped one by its name ("gat-amst"), with overrides by their paths:

        slmsim.load("gat-amst", {"models": "gpt2m", "platform.links.wan.rtt": "57.4 ms"})

    Raises InputError with everything that is wrong.
    """
    return Scenario(_core.Scenario(os.fspath(file), _overrides(set)))


class Scenario:
    """Everything a prediction needs, loaded and checked. It never changes: `override` makes another one.

    Work that takes long runs without the interpreter's lock, and Ctrl-C ends it.
    """

    def __init__(self, core: _core.Scenario) -> None:
        self._core = core

    @property
    def name(self) -> str:
        return self._core.name

    @property
    def description(self) -> str:
        return self._core.description

    @property
    def file(self) -> Path:
        return Path(self._core.file)

    @property
    def set(self) -> tuple[str, ...]:
        """The overrides, as `slmsim run --set` takes them."""
        return tuple(self._core.set)

    @property
    def models(self) -> tuple[str, ...]:
        return tuple(self._core.models)

    @property
    def groups(self) -> tuple[str, ...]:
        """Groups of GPUs, as "gat+amst"."""
        return tuple("+".join(names) for names in self._core.groups)

    @property
    def techniques(self) -> tuple[str, ...]:
        return tuple(self._core.techniques)

    def __repr__(self) -> str:
        return f"<slmsim.Scenario {self.name}: {', '.join(self.models)} on {', '.join(self.groups)}>"

    def override(self, set: Mapping[str, Value]) -> Scenario:
        """The same with further overrides; of two for one key the later one counts. Files are not read again."""
        return Scenario(self._core.override(_overrides(set)))

    def run(self, models: Names = None, groups: Names = None, techniques: Names = None, *, links: bool = False,
            intervals: bool = False, level: float = 0.8, seed: int = 1,
            fitted: Fit | str | os.PathLike[str] | None = None) -> Run:
        """Predicts every technique on every group for every model, or those that are named, and picks.

        `links` measures the use of links, which doubles the time. `intervals` reports an interval for each prediction, from the
        scenario's unknowns; `fitted` does so from a fit, and uses its values.
        """
        if isinstance(fitted, Fit):
            with tempfile.TemporaryDirectory(prefix="slmsim-") as folder:
                return self.run(models, groups, techniques, links=links, level=level, fitted=fitted.save(Path(folder, "fit")))
        return Run(_core.run(self._core, _names(models), _names(groups), _names(techniques), links, intervals, level, seed,
                             "" if fitted is None else os.fspath(fitted)))

    def explain(self, models: Names = None, groups: Names = None, techniques: Names = None, *,
                progress: Progress = None) -> Explanation:
        """The limits of each technique, and the settings that would help."""
        return Explanation(*_core.explain(self._core, _names(models), _names(groups), _names(techniques), progress))

    def plan(self, models: Names = None, *, objective: str | None = None, technique: str | None = None, list: int = 5,
             effort: float = 1.0, time_limit: float | None = None, jobs: int | None = None,
             progress: Progress = None) -> Plan:
        """Searches for the best technique, GPUs and settings, over `jobs` processes (one for each core).

        `objective` is time, gpu_hours or dollars, `list` the number of plans, `effort` the search effort on large clusters.
        With `time_limit` (seconds) the search stops with the results so far, which then depend on the machine.
        """
        output = _core.plan(self._core, _names(models), objective, technique, list, effort, time_limit or 0.0, jobs or 0,
                            progress)
        return Plan(self, *output)

    def sweep(self, axes: Mapping[str | tuple[str, ...], Sequence[Any]], *,
              output: str | os.PathLike[str] | None = None, jobs: int | None = None, restart: bool = False,
              progress: Progress = None) -> Sweep:
        """Predicts at every combination of the axes' values. Keys that move together share an axis, as a tuple:

            scenario.sweep({"platform.links.wan.rtt": ["1 ms", "10 ms"], "training.batch": [8, 16]})
            scenario.sweep({("training.batch", "training.epochs"): [(8, 20), (16, 40)]})

        `output` keeps the results as FILE.csv and FILE.jsonl; the same call resumes after interruption.
        """
        written = {"scenario": str(self.file.resolve()),
                   "set": [_axis_free(text) for text in self._core.set],
                   "axes": [_axis(keys, values) for keys, values in axes.items()]}
        with tempfile.TemporaryDirectory(prefix="slmsim-") as folder:
            file = Path(folder, "sweep.yaml")
            file.write_text(_yaml(written), encoding="utf-8")
            return sweep(file, output=output, jobs=jobs, restart=restart, progress=progress)

    def fit(self, measured: str | os.PathLike[str], *, seed: int = 1, points: int = 256, time_limit: float | None = None,
            progress: Progress = None) -> Fit:
        """Fits the scenario's unknowns to measured runs: a CSV table with the columns model, technique, group,
        what, value and noise (docs/commands/fit.md)."""
        return Fit(*_core.fit(self._core, os.fspath(measured), seed, points, time_limit or 0.0, progress))


def sweep(file: str | os.PathLike[str], set: Mapping[str, Value] | None = None, *,
          output: str | os.PathLike[str] | None = None, jobs: int | None = None, restart: bool = False,
          progress: Progress = None) -> Sweep:
    """Runs a sweep's YAML file (docs/scenario.md), with overrides that hold at every point; see Scenario.sweep."""
    with tempfile.TemporaryDirectory(prefix="slmsim-") as folder:
        files = _core.sweep(os.fspath(file), _overrides(set), str(Path(folder, "sweep")) if output is None else os.fspath(output),
                            jobs or 0, restart, progress)
        return Sweep(Path(files[0]).read_text(encoding="utf-8"), None if output is None else (Path(files[0]), Path(files[1])))


def _axis_free(text: str) -> tuple[str, str]:
    key, _, value = text.partition("=")
    return key, value


def _axis(keys: str | tuple[str, ...], values: Sequence[Any]) -> dict[str, Any]:
    if isinstance(keys, str):
        return {"key": keys, "values": list(values)}
    return {"zip": [{"key": key, "values": [value[i] for value in values]} for i, key in enumerate(keys)]}


def _yaml(sweep: dict[str, Any]) -> str:
    """Overrides are YAML already; what is Python's is written as JSON, which is YAML too, an axis on a line."""
    lines = [f"scenario: {json.dumps(sweep['scenario'])}"]
    if sweep["set"]:
        lines.append("set:")
        lines += [f"  {json.dumps(key)}: {value}" for key, value in sweep["set"]]
    lines.append("axes:")
    lines += [f"  - {json.dumps(axis)}" for axis in sweep["axes"]]
    return "\n".join(lines) + "\n"
