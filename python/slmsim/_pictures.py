"""Figures of results, drawn by the scripts of plots/, which are slmsim.figures here."""
from __future__ import annotations

import importlib
import io
import os
from collections.abc import Mapping
from typing import Any

# Each figure, and the form of a result that it draws.
FIGURES = {
    "technique-comparison": "csv",
    "breakdown": "csv",
    "memory": "json",
    "gantt": "trace",
    "link-use": "trace",
    "sweep": "csv",
    "latency-sweep": "csv",
}


class Picture:
    """A figure. Notebooks show it; `save` writes it, and `figure` is matplotlib's."""

    def __init__(self, figure: Any) -> None:
        self.figure = figure

    def _written(self, form: str) -> bytes:
        from .figures import style

        file = io.BytesIO()
        style.write(self.figure, file, form)
        return file.getvalue()

    def _repr_html_(self) -> str:
        # nbconvert treats an SVG's own contents as dangerous, and those of a page as the author's.
        return f'<div class="slmsim">{self._repr_svg_()}</div>'

    def _repr_svg_(self) -> str:
        text = self._written("svg").decode()
        return text[text.index("<svg"):]

    def _repr_png_(self) -> bytes:
        return self._written("png")

    def save(self, path: str | os.PathLike[str]) -> None:
        """As SVG, PNG or PDF, by the path's ending; the file appears whole or not at all."""
        from .figures import style

        with _refusals():
            style.save(self.figure, os.fspath(path))


class _refusals:
    """Raises ValueError for data that a figure cannot be drawn from."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        from .figures import style

        if isinstance(error, style.BadInput):
            raise ValueError(str(error)) from None


def draw(figure: str, name: str, text: str, options: Mapping[str, Any]) -> Picture:
    """`text` is what the figure's script would read from a file; `options` are those of the script, in Python's spelling."""
    from .figures import style

    module = importlib.import_module(f"slmsim.figures.{figure.replace('-', '_')}")
    parser = style.parser_of(module.__doc__, module.arguments, figure)
    chosen = parser.parse_args(["file"])
    setattr(chosen, FIGURES[figure], style.Held(name, text))
    for option, value in options.items():
        if option in ("output", FIGURES[figure]) or not hasattr(chosen, option):
            known = sorted(set(vars(chosen)) - {"output", FIGURES[figure]})
            raise TypeError(f"the figure {figure} has no option {option!r}; it has: {', '.join(known)}")
        if option == "where" and isinstance(value, Mapping):
            value = [f"{key}={of}" for key, of in value.items()]
        setattr(chosen, option, value)
    with style.in_look(), _refusals():
        return Picture(module.draw(chosen))


def check_figure(figure: str, known: tuple[str, ...]) -> None:
    if figure not in known:
        raise ValueError(f"there is no figure {figure!r} of this; there are: {', '.join(known)}")
