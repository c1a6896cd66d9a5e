"""Results of a scenario's verbs: the program's own, as values, data frames and pictures."""
from __future__ import annotations

import csv
import html
import io
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _core
from ._pictures import FIGURES, Picture, check_figure, draw

if TYPE_CHECKING:
    import pandas

    from ._scenario import Scenario


@dataclass(frozen=True)
class Pick:
    """The pick of Algorithm 1 for a model; None where nothing runs."""

    model: str
    technique: str | None
    group: tuple[str, ...]
    algorithm: str
    steps: tuple[str, ...]


def _frame(rows: Iterable[Mapping[str, Any]], columns: list[str]) -> pandas.DataFrame:
    import pandas

    return pandas.DataFrame(list(rows), columns=columns)


def _frame_of_csv(text: str) -> pandas.DataFrame:
    """Texts as they are, numbers to their last digit."""
    import pandas

    columns = next(csv.reader(io.StringIO(text)))
    texts = set(_core.text_columns())
    frame = pandas.read_csv(
        io.StringIO(text), dtype={name: str for name in columns if name in texts}, keep_default_na=False,
        na_values={name: [""] for name in columns if name not in texts}, float_precision="round_trip")
    for name in texts:  # the program prefixes what a spreadsheet would take for a formula with an apostrophe
        frame[name] = frame[name].str.replace(r"^'(?=[=+@-])", "", regex=True)
    return frame


def _page(*parts: str) -> str:
    return f'<div class="slmsim">{"".join(parts)}</div>'


MOST_ROWS = 60  # of a table in a notebook


def _cell(value: Any, is_number: bool) -> str:
    if not is_number:
        return f'<td style="text-align: left">{html.escape(str(value))}</td>'
    return f'<td style="text-align: right">{"" if value != value or value is None else format(value, ".4g")}</td>'


def _table(frame: pandas.DataFrame, columns: list[str]) -> str:
    """Numbers to four digits, at the right; the columns of these that the frame has."""
    from pandas.api.types import is_numeric_dtype

    shown = frame[[name for name in columns if name in frame]]
    numbers = [is_numeric_dtype(shown[name]) for name in shown]
    head = "".join(f'<th style="text-align: {"right" if is_number else "left"}">{html.escape(name)}</th>'
                   for name, is_number in zip(shown, numbers))
    rows = ["".join(map(_cell, row, numbers)) for row in shown.head(MOST_ROWS).itertuples(index=False)]
    more = len(shown) - len(rows)
    return (f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(f'<tr>{row}</tr>' for row in rows)}</tbody></table>"
            + (f"<p>and {more} more rows in the frame</p>" if more > 0 else ""))


class _Output:
    """A result that the program prints as JSON and as a table."""

    def __init__(self, text: str, table: str) -> None:
        self._json, self._text = text, table

    def to_json(self) -> str:
        """As `slmsim ... --format json` prints it, to the byte."""
        return self._json

    def to_table(self) -> str:
        """As slmsim prints it for people."""
        return self._text

    @cached_property
    def data(self) -> dict[str, Any]:
        """The JSON's content."""
        found: dict[str, Any] = json.loads(self.to_json())
        return found

    def __str__(self) -> str:
        return self.to_table()


class Run(_Output):
    """Predictions of a scenario, and Algorithm 1's picks."""

    figures = ("technique-comparison", "breakdown", "memory", "gantt", "link-use")

    def __init__(self, core: _core.Run) -> None:
        self._core = core

    def to_json(self) -> str:
        return self._core.json()

    def to_table(self) -> str:
        return self._table

    @cached_property
    def _table(self) -> str:
        return self._core.table()

    def to_csv(self) -> str:
        """As `slmsim run --format csv` prints it, to the byte."""
        return self._core.csv()

    @cached_property
    def frame(self) -> pandas.DataFrame:
        """A row for each model, technique and group, with the columns of `slmsim run --format csv`."""
        return _frame_of_csv(self.to_csv())

    @property
    def predictions(self) -> list[dict[str, Any]]:
        """All predictions, with the fields of the JSON (docs/commands/run.md)."""
        found: list[dict[str, Any]] = self.data["predictions"]
        return found

    @property
    def picks(self) -> dict[str, Pick]:
        """By model, those of the scenario's own form of Algorithm 1."""
        found: dict[str, Pick] = {}
        for one in self.data["selections"]:
            found.setdefault(one["model"], Pick(one["model"], one["technique"], tuple(one["group"]), one["algorithm"],
                                                tuple(one["steps"])))
        return found

    def plot(self, figure: str = "technique-comparison", **options: Any) -> Picture:
        """One of `figures`, with the options of `slmsim plot FIGURE` (docs/commands/plot.md). Those of an iteration, gantt and
        link-use, take the prediction by model, technique and group; without, the pick's."""
        check_figure(figure, self.figures)
        form = FIGURES[figure]
        if form == "trace":
            chosen = {name: options.pop(name, None) for name in ("model", "technique", "group")}
            return draw(figure, "run", self.trace(**chosen), options)
        return draw(figure, "run", self.to_csv() if form == "csv" else self.to_json(), options)

    def trace(self, model: str | None = None, technique: str | None = None, group: str | None = None) -> str:
        """One iteration of a prediction as a Chrome/Perfetto trace."""
        asked = {"model": model, "technique": technique, "group": group}
        if not any(asked.values()):
            pick = next((pick for pick in self.picks.values() if pick.technique), None)
            if pick:
                asked = {"model": pick.model, "technique": pick.technique, "group": "+".join(pick.group)}
        for index, one in enumerate(self.predictions):
            known = {**one, "group": "+".join(one["group"])}
            if one["status"] == "ok" and all(of is None or known[name] == of for name, of in asked.items()):
                return self._core.trace(index)
        words = ", ".join(f"{name} {of}" for name, of in asked.items() if of)
        raise ValueError(f"no prediction {f'of {words} ' if words else ''}runs, so there is no iteration to show")

    def __repr__(self) -> str:
        picks = ", ".join(f"{one.model}: {_pick_text(one)}" for one in self.picks.values())
        return f"<slmsim.Run of {self.data['scenario']}{f': {picks}' if picks else ''}>"

    def _repr_html_(self) -> str:
        parts = [f"<p><b>{html.escape(self.data['scenario'])}</b>"]
        parts += [f"<br/>{html.escape(one.model)}: pick <b>{html.escape(_pick_text(one))}</b>" for one in self.picks.values()]
        parts.append("</p>")
        parts.append(_table(self.frame, ["model", "technique", "group", "gpus", "status", "minutes", "minutes_low",
                                         "minutes_high", "iteration_s", "tflops_per_gpu", "gpu_hours", "reason"]))
        for model in dict.fromkeys(self.frame[self.frame["status"] == "ok"]["model"]):
            parts.append(self.plot(model=model)._repr_svg_())
        return _page(*parts)


def _pick_text(pick: Pick) -> str:
    return f"{pick.technique} on {'+'.join(pick.group)}" if pick.technique else "nothing runs"


class Explanation(_Output):
    """The limits of each technique, and the settings that would help."""

    @cached_property
    def limits(self) -> pandas.DataFrame:
        """Time saved per iteration without each limit, largest first."""
        rows = ({**_head(one), **limit, "share": limit["given_back_s"] / one["iteration_s"]}
                for one in self.data["explanations"] for limit in one.get("limits", []))
        return _frame(rows, ["model", "technique", "group", "name", "given_back_s", "share", "what"])

    @cached_property
    def what_ifs(self) -> pandas.DataFrame:
        """Settings that help, each with the resulting iteration and job time."""
        rows = ({**_head(one), **change, "set": " ".join(change["set"])}
                for one in self.data["explanations"] for change in one.get("what_ifs", []))
        return _frame(rows, ["model", "technique", "group", "set", "iteration_s", "minutes"])

    def __repr__(self) -> str:
        return f"<slmsim.Explanation of {self.data['scenario']}: {len(self.data['explanations'])} techniques on groups>"

    def _repr_html_(self) -> str:
        parts = []
        for one in self.data["explanations"]:
            parts.append(f"<p><b>{html.escape(_where(one))}</b>: {html.escape(one.get('advice') or one['reason'])}</p>")
        limits = self.limits
        parts.append(_table(limits.assign(share=(100 * limits["share"]).round(1)).rename(columns={"share": "share, %"}),
                            ["model", "technique", "group", "name", "given_back_s", "share, %", "what"]))
        return _page(*parts)


def _head(one: Mapping[str, Any]) -> dict[str, Any]:
    return {"model": one["model"], "technique": one["technique"], "group": "+".join(one["group"])}


def _where(one: Mapping[str, Any]) -> str:
    return f"{one['model']}, {one['technique']} on {'+'.join(one['group'])}"


class Plan(_Output):
    """The best plans that a search found, for each model."""

    def __init__(self, scenario: Scenario, text: str, table: str) -> None:
        super().__init__(text, table)
        self._scenario = scenario

    @cached_property
    def frame(self) -> pandas.DataFrame:
        """A row for each plan, best first; `options` describes it in words."""
        rows = ({"model": model["model"], "rank": rank, **plan, "group": "+".join(plan["group"])}
                for model in self.data["models"] for rank, plan in enumerate(model["plans"], 1))
        return _frame(rows, ["model", "rank", "technique", "group", "gpus", "options", "minutes", "iteration_s", "gpu_hours",
                             "cost", "memory_bytes", "memory_limit_bytes", "behind_by"])

    def scenario(self, model: str | None = None, rank: int = 1) -> Scenario:
        """A plan as a scenario of its own, to run or to vary: of this model, or of the first."""
        known = [one for one in self.data["models"] if model in (None, one["model"])]
        if not known:
            raise ValueError(f"there is no model {model!r}; known are {[one['model'] for one in self.data['models']]}")
        if not 1 <= rank <= len(known[0]["plans"]):
            raise ValueError(f"there is no plan {rank} of {known[0]['model']}; it has {len(known[0]['plans'])}")
        found = {"models": f"[{known[0]['model']}]"}
        for text in known[0]["plans"][rank - 1]["set"]:
            key, _, value = text.partition("=")
            found[key] = value
        return self._scenario.override(found)

    def __repr__(self) -> str:
        best = ", ".join(f"{_where({'model': one['model'], **one['plans'][0]})}: {one['plans'][0]['minutes']:.4g} min"
                         for one in self.data["models"] if one["plans"])
        return f"<slmsim.Plan of {self.data['scenario']}: {best or 'nothing runs'}>"

    def _repr_html_(self) -> str:
        return _page(f"<p><b>{html.escape(self.data['scenario'])}</b></p>",
                     _table(self.frame, ["model", "rank", "technique", "group", "gpus", "options", "minutes", "gpu_hours",
                                         "behind_by"]))


class Sweep:
    """Predictions of a scenario at many points."""

    figures = ("sweep", "latency-sweep", "technique-comparison", "breakdown")

    def __init__(self, text: str, files: tuple[Path, Path] | None) -> None:
        self._csv = text
        self.files = files
        """FILE.csv and FILE.jsonl, where an output was named."""

    def to_csv(self) -> str:
        """As `slmsim sweep` writes it, to the byte."""
        return self._csv

    @cached_property
    def frame(self) -> pandas.DataFrame:
        """A row for each point, model, technique and group: the point's values, then the columns of a run."""
        return _frame_of_csv(self._csv)

    def plot(self, figure: str = "sweep", **options: Any) -> Picture:
        """One of `figures`, with the options of `slmsim plot FIGURE` (docs/commands/plot.md)."""
        check_figure(figure, self.figures)
        return draw(figure, "sweep", self._csv, options)

    def __repr__(self) -> str:
        return f"<slmsim.Sweep: {len(self.frame)} rows of {self.frame['point'].nunique()} points>"

    def _repr_html_(self) -> str:
        keys = list(self.frame.columns[1:list(self.frame.columns).index("scenario")])
        return _page(_table(self.frame, [*keys, "model", "technique", "group", "status", "minutes", "iteration_s", "reason"]))


class Fit(_Output):
    """A fit of a scenario's unknowns to measured runs."""

    def __init__(self, yaml: str, text: str, table: str) -> None:
        super().__init__(text, table)
        self._yaml = yaml

    @cached_property
    def unknowns(self) -> pandas.DataFrame:
        """Each unknown with its value, 80 % interval (base units) and the remaining share of the prior interval."""
        return _frame(self.data["unknowns"], ["path", "value", "median", "low", "high", "shares", "left", "before", "source"])

    @cached_property
    def runs(self) -> pandas.DataFrame:
        """Each run with its measured and fitted values."""
        rows = ({**one, "group": "+".join(one["group"])} for one in self.data["runs"])
        return _frame(rows, ["model", "technique", "group", "what", "measured", "fitted", "low", "high"])

    def to_yaml(self) -> str:
        """As `slmsim fit --output` writes it."""
        return self._yaml

    def save(self, path: str | os.PathLike[str]) -> Path:
        """For `slmsim run --fitted`, and for Scenario.run(fitted=...)."""
        file = Path(path)
        file.write_text(self._yaml, encoding="utf-8")
        return file

    def __repr__(self) -> str:
        return f"<slmsim.Fit of {self.data['scenario']}: {len(self.data['unknowns'])} unknowns, {len(self.data['runs'])} figures>"

    def _repr_html_(self) -> str:
        return _page(_table(self.unknowns, ["path", "value", "low", "high", "left", "before"]),
                     _table(self.runs, ["model", "technique", "group", "what", "measured", "fitted", "low", "high"]))
