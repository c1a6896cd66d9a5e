"""What the figures have in common: looks that survive grey print, reading of files, errors, and writing.

Techniques differ by lightness, line, marker and hatch, groups of GPUs by filled and hollow markers, never by hue alone;
hues are Okabe and Ito's, which the colour-blind tell apart.
They are the package slmsim.figures too, where they draw what the module holds and not files.
Every script defines `arguments(parser)` and `draw(options)`, which returns a figure, and ends with `style.main(...)`.
"""
import argparse
import csv
import io
import json
import os
import pathlib
import subprocess
import sys
import textwrap

try:
    import matplotlib
except ImportError:
    if __package__:
        raise
    sys.exit(print("error: matplotlib is missing; apt-get install python3-matplotlib", file=sys.stderr) or 2)

import matplotlib.backends.backend_agg  # noqa: E402
import matplotlib.figure  # noqa: E402
import matplotlib.font_manager  # noqa: E402
import matplotlib.lines  # noqa: E402
import matplotlib.text  # noqa: E402
import matplotlib.ticker  # noqa: E402
from matplotlib.textpath import text_to_path  # noqa: E402

WIDTH = 7.5  # inches; 540 points
FULL = 0.95 * 72 * WIDTH  # points, of a line of text
SIZE = 8.5  # points, of all text
MOST_BARS = 60
LOGARITHMIC = 30  # lines over a wider span get a logarithmic axis
FAR = 5  # times the shortest: longer bars are broken
# matplotlib's settings while a figure is drawn and written (in_look); the caller's settings stay unchanged.
LOOK = {
    "font.family": "DejaVu Sans", "font.size": SIZE, "axes.titlesize": SIZE, "axes.labelsize": SIZE,
    "xtick.labelsize": SIZE, "ytick.labelsize": SIZE, "legend.fontsize": SIZE, "figure.titlesize": SIZE,
    "axes.spines.top": False, "axes.spines.right": False, "axes.axisbelow": True, "hatch.linewidth": 0.5,
    "lines.linewidth": 1.4, "svg.hashsalt": "slmsim", "svg.fonttype": "none", "figure.constrained_layout.use": True,
}

# Look of an unknown technique.
OTHER = ("#eeeeee", "#555555", "H", (0, (1, 3)), "++")


def told_techniques():
    """What `slmsim list techniques --format json` tells: by the module that these scripts are a part of, or else by the
    program that $SLMSIM names, that was built beside them, or that is on the PATH."""
    if __package__:
        from .._core import techniques
        return json.loads(techniques())
    beside = pathlib.Path(__file__).resolve().parent.parent / "build" / "slmsim"
    program = os.environ.get("SLMSIM") or (str(beside) if beside.exists() else "slmsim")
    try:
        told = subprocess.run([program, "list", "techniques", "--format", "json"], check=True, capture_output=True)
        return json.loads(told.stdout)
    except (OSError, subprocess.CalledProcessError, ValueError) as error:
        print(f"techniques all look alike, since {program} does not list their looks: {error}", file=sys.stderr)
        return []


def read_looks():
    """Per technique: fill, line colour, marker, line style, hatch."""
    def numbers(text):
        return tuple(float(word) if "." in word else int(word) for word in text.split())

    def marker(text):
        return numbers(text) if " " in text else text

    def dash(text):
        return (numbers(text)[0], numbers(text)[1:]) if " " in text else text

    return {one["name"]: (look["fill"], look["line"], marker(look["marker"]), dash(look["dash"]), look["hatch"])
            for one in told_techniques() for look in [one["looks"]]}


TECHNIQUES = read_looks()
# Per group of a figure: the marker's fill style, and the line's width.
GROUPS = [("full", 1.4), ("none", 1.0), ("left", 1.9), ("bottom", 0.7), ("right", 2.4), ("top", 1.2)]
# Per part of a bar: fill and hatch.
PARTS = [("#0072b2", ""), ("#fbe3b0", "///"), ("#cc79a7", ""), ("#ffffff", "..."), ("#8fd3bd", "xxx"), ("#cccccc", "|||")]
WORDS = {"oom": "out of memory", "unsupported": "cannot run"}


class BadInput(Exception):
    """FILE: what is wrong; what would be right."""


def technique_look(name):
    return TECHNIQUES.get(name, OTHER)


def line_look(technique, group, groups):
    """What `plot` takes for a technique on one of the figure's groups."""
    _, colour, marker, line, _ = technique_look(technique)
    fill, width = GROUPS[groups.index(group) % len(GROUPS)]
    return {"color": colour, "marker": marker, "linestyle": line, "linewidth": width, "fillstyle": fill, "markersize": 4.5,
            "markerfacecoloralt": "white", "markeredgewidth": 0.8}


def mark_every(points):
    """So few markers that the line between them shows."""
    return 1 + len(points) // 20


class Held:
    """What a file would hold, with a name for messages."""

    def __init__(self, name, text):
        self.name, self.text = name, text

    def __str__(self):
        return self.name


def opened(path):
    """A file by its path, or what is held in its place."""
    return io.StringIO(path.text, newline="") if isinstance(path, Held) else open(path, newline="", encoding="utf-8")


def in_look():
    """The settings that figures are drawn and written with, until the context ends."""
    return matplotlib.rc_context(LOOK)


def subplots(rows=1, columns=1, figsize=None, **more):
    """As pyplot's, which would keep the figure and choose a backend for the whole process."""
    figure = matplotlib.figure.Figure(figsize=figsize)
    matplotlib.backends.backend_agg.FigureCanvasAgg(figure)
    return figure, figure.subplots(rows, columns, **more)


def handle(**look):
    """Of a legend, for what no line of the figure shows."""
    return matplotlib.lines.Line2D([], [], **look)


def fail(path, text):
    raise BadInput(f"{path}: error: {text}")


def read_csv(path, needed, what):
    """The rows of a CSV that has the columns `needed`."""
    try:
        with opened(path) as file:
            reader = csv.DictReader(file)
            rows, names = list(reader), reader.fieldnames or []
    except OSError as error:
        fail(path, f"does not read ({error.strerror}); {what} is expected")
    except (UnicodeDecodeError, csv.Error):
        fail(path, f"not a CSV table in UTF-8; {what} is expected")
    for name in needed:
        if name not in names:
            fail(path, f"no column \"{name}\"; {what} is expected")
    if not rows:
        fail(path, f"no rows; {what} is expected")
    for number_of_row, row in enumerate(rows, 1):
        if None in row or None in row.values():
            fail(path, f"row {number_of_row} has another number of fields than the first line; {what} is expected")
    return rows


def read_json(path, key, what):
    try:
        with opened(path) as file:
            data = json.load(file)
    except OSError as error:
        fail(path, f"does not read ({error.strerror}); {what} is expected")
    except ValueError:
        fail(path, f"not JSON; {what} is expected")
    for one in data if isinstance(data, list) else [data]:
        if not isinstance(one, dict) or key not in one:
            fail(path, f"no \"{key}\"; {what} is expected")
    return data


def reasons(rows):
    """Why rows have no prediction, in a few words."""
    known = list(dict.fromkeys(row.get("reason") or WORDS.get(row["status"], row["status"]) for row in rows))
    return known[0] + (f", and {counted(len(known) - 1, 'other reason')}" if len(known) > 1 else "")


def of_points_predicted(path, rows):
    """Without the points of a sweep that are invalid or failed, and a note on those."""
    left = [row for row in rows if row["model"]]
    if not left:
        fail(path, f"nothing runs ({reasons(rows)}); a run in which something does is expected")
    lost = [row for row in rows if not row["model"]]
    return left, [f"{counted(len(lost), 'point')} left out: {reasons(lost)}"] if lost else []


def one_model(path, rows, wanted):
    """A model's name, its rows, and a note on the others: `wanted`, or the first there is."""
    known = list(dict.fromkeys(row["model"] for row in rows))
    model = known[0] if wanted is None else wanted
    if model not in known:
        fail(path, f"no model \"{model}\"; known are: {', '.join(known)}")
    others = [name for name in known if name != model]
    notes = [f"Not shown, see --model: {', '.join(others)}"] if others and wanted is None else []
    return model, [row for row in rows if row["model"] == model], notes


def those_that_run(path, rows, model):
    left = [row for row in rows if row["status"] == "ok"]
    if not left:
        fail(path, f"nothing of {model} runs ({reasons(rows)}); a run in which something does is expected")
    return left


def check_bars(path, rows):
    """One for each scenario, technique and group, up to the number that fits a page."""
    seen = set()
    for row in rows:
        key = row["scenario"], row["technique"], row["group"]
        if key in seen:
            fail(path, f"{key[0]} has {key[1]} on {key[2]} twice; one run of each scenario is expected")
        seen.add(key)
    if len(rows) > MOST_BARS:
        fail(path, f"{len(rows)} bars are too many for a figure; up to {MOST_BARS} are expected, choose with --where "
             f"scenario={rows[0]['scenario']}, technique=... or group=...")


def number(path, text, what):
    try:
        return float(text)
    except ValueError:
        fail(path, f"{what} \"{text}\" is not a number")


def counted(count, word):
    return f"{count} {word}{'' if count == 1 else 's'}"


def shortened(name, most):
    """The beginning and the end of a long name."""
    most = max(most, 5)
    return name if len(name) <= most else f"{name[:(most - 1) // 2]}\N{HORIZONTAL ELLIPSIS}{name[-(most // 2):]}"


def different(names, most, shorten):
    """name -> shorten(name, most), with as much more room as it takes that no two are the same."""
    for room in (most, 2 * most, 4 * most):
        texts = {name: shorten(name, room) for name in names}
        if len(set(texts.values())) == len(texts):
            return texts
    return {name: name for name in names}


def group_text(name, most):
    names = name.split("+")
    parts = names if len(names) <= 4 else [names[0], names[-1]]
    if len("+".join(parts)) > most:
        parts = [shortened(part, most // len(parts)) for part in parts]
    return "+".join(parts) if len(names) <= 4 else f"{parts[0]}+...+{parts[1]} ({len(names)})"


def group_texts(groups, most=36):
    """Of many VMs only the first and the last, as slmsim's tables have it, and of long names both ends."""
    return different(list(dict.fromkeys(groups)), most, group_text)


def text_width(text):
    """Points."""
    font = matplotlib.font_manager.FontProperties(size=SIZE)
    return max(text_to_path.get_text_width_height_descent(line, font, False)[0] for line in text.split("\n"))


def wrapped(text, width=FULL):
    """Lines that are no longer than `width` points."""
    lines, letters = text, len(text)
    while text_width(lines) > width and letters > 1:
        letters = min(letters - 1, int(letters * width / text_width(lines)) + 4)
        lines = textwrap.fill(text, letters, break_on_hyphens=False)
    return lines


def heading(figure, parts):
    """Above the panels, over the whole width."""
    text = ", ".join(part for part in parts if part)
    if text:
        figure.suptitle(wrapped(text), x=0.015, ha="left")


def duration(minutes):
    if minutes < 1:
        return f"{60 * minutes:.3g} s"
    if minutes < 600:
        return f"{minutes:.3g} min"
    return f"{minutes / 60:.3g} h" if minutes < 60 * 72 else f"{minutes / 1440:.3g} d"


def seconds(time):
    for unit, size in (("s", 1), ("ms", 1e-3), ("us", 1e-6)):
        if time >= size or unit == "us":
            return f"{time / size:.3g} {unit}" if time < 120 else duration(time / 60)
    return ""


def plain_numbers(axis, values=()):
    """1, 10, 100 in place of powers on a logarithmic axis, and no labels on its minor ticks; of few values also 2 and 5."""
    positive = [value for value in values if value > 0]
    if positive and max(positive) < 200 * min(positive):
        axis.set_major_locator(matplotlib.ticker.LogLocator(subs=(1, 2, 5)))
    axis.set_major_formatter(matplotlib.ticker.FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(matplotlib.ticker.NullFormatter())


def scale(axes, letter, values):
    """The x or y axis is logarithmic where values span much, and then has plain numbers."""
    if min(values) > 0 and max(values) > LOGARITHMIC * min(values):
        axes.set(**{f"{letter}scale": "log"})
        plain_numbers(axes.xaxis if letter == "x" else axes.yaxis, values)


def bar_rows(path, rows):
    """A figure of a horizontal bar for each prediction, from top to bottom, and the scenario where they have the same one;
    long labels take a second line and higher rows."""
    check_bars(path, rows)
    several = len({row["scenario"] for row in rows}) > 1
    groups = group_texts(row["group"] for row in rows)
    where = [f"{row['technique']} on {groups[row['group']]}" for row in rows]
    labels = [f"{row['scenario']}: {text}" for row, text in zip(rows, where)] if several else where
    count = len(rows)
    lines = [wrapped(label, 0.47 * FULL) for label in labels]
    row = 0.11 + 0.16 * max(1 + line.count("\n") for line in lines)
    figure, axes = subplots(figsize=(WIDTH, 0.9 + row * count))
    axes.set_yticks(range(count), lines)
    axes.set_ylim(count - 0.4, -0.6)
    return figure, axes, "" if several else rows[0]["scenario"]


def unit_of(minutes):
    """(name, minutes) of the unit in which the shortest of these times is at least 1."""
    least = min(minutes)
    return next(((name, size) for name, size in (("d", 1440), ("h", 60), ("min", 1)) if least >= size), ("s", 1 / 60))


def plain(value):
    """Three digits, without an exponent."""
    return f"{float(f'{value:.3g}'):.10g}"


class BarScale:
    """A linear axis from zero under bars; it ends after those up to FAR times the shortest, and longer ones are broken there."""

    def __init__(self, values, reach, shortest=None):
        """`reach`: how far each bar goes with its interval."""
        limit = FAR * (min(values) if shortest is None else shortest)
        near = [max(value, min(limit, end)) for value, end in zip(values, reach) if value <= limit]
        self.end = max(near or [limit])
        self.broken = any(value > limit for value in values)
        self.beyond = 1.12 * self.end  # where a broken bar ends

    def length(self, value):
        return self.beyond if value > self.end * (1 + 1e-9) else value

    def mark(self, axes, value, y, height):
        """Two slanted strokes across a broken bar."""
        if self.length(value) == value:
            return
        at, step = 1.05 * self.end, 0.012 * self.end
        for shift in (-step, 0):
            axes.plot([at + shift, at + shift + 2 * step], [y + height / 2, y - height / 2], color="white", linewidth=2.4, zorder=3)
        for shift in (-1.6 * step, 0.6 * step):
            axes.plot([at + shift, at + shift + 2 * step], [y + height / 2, y - height / 2], color="black", linewidth=0.7, zorder=3)

    def apply(self, axis, axes, room):
        """`room`: share of the end that texts behind the bars take."""
        axes.set_xlim(0, (self.beyond if self.broken else self.end) + room * self.end)
        axis.set_major_locator(matplotlib.ticker.FixedLocator(
            [tick for tick in matplotlib.ticker.MaxNLocator(6).tick_values(0, self.end) if tick <= self.end * (1 + 1e-9)]))
        axis.set_major_formatter(matplotlib.ticker.FuncFormatter(lambda value, _: f"{value:g}"))


def labels_at_ends(axes, labels, width=0.3 * FULL):
    """(x, y, text, colour) of each line's end: its text right of the axes, joined to it by a thin line. False where they do
    not fit. Afterwards the axes' limits must not change."""
    texts = [wrapped(text, width) for _, _, text, _ in labels]
    axes.figure.draw_without_rendering()  # lays out
    height = 0.9 * 72 * axes.figure.get_figheight() * axes.get_position().height  # labels of axes that follow take some
    sizes = [1.35 * SIZE * (1 + text.count("\n")) / height for text in texts]
    if not labels or sum(sizes) > 1.05:
        return False
    to_share = axes.transScale + axes.transLimits
    wanted = [to_share.transform((x, y))[1] for x, y, _, _ in labels]
    order = sorted(range(len(labels)), key=lambda i: (wanted[i], i))
    places, low = {}, -0.02
    for i in order:
        places[i] = max(wanted[i], low + sizes[i] / 2)
        low = places[i] + sizes[i] / 2
    high = 1.03
    for i in reversed(order):
        places[i] = min(places[i], high - sizes[i] / 2)
        high = places[i] - sizes[i] / 2
    for i, (x, y, _, colour) in enumerate(labels):
        axes.annotate(texts[i], (x, y), (1.03, places[i]), textcoords="axes fraction", va="center", ha="left",
                      arrowprops={"arrowstyle": "-", "color": colour, "linewidth": 0.7, "shrinkA": 1, "shrinkB": 1,
                                  "relpos": (0, 0.5)})
    return True


def legend_below(figure, handles, labels, columns=4):
    """Outside the data; the page grows by as much."""
    order = list(TECHNIQUES)
    pairs = sorted(zip(labels, handles), key=lambda pair: order.index(pair[0]) if pair[0] in order else -1)
    seen = dict(pairs)
    if not seen:
        return
    around = 2.8 * SIZE + 0.8 * SIZE + 2 * SIZE  # handle, and the space behind it and between columns
    texts = [wrapped(label, FULL - around) for label in seen]
    widths = [text_width(text) + around for text in texts]
    columns = min(columns, len(seen))
    while columns > 1 and sum(widest_of_columns(widths, columns)) > FULL:
        columns -= 1
    figure.legend(seen.values(), texts, loc="upper center", bbox_to_anchor=(0.5, 0), ncol=columns, frameon=False,
                  handlelength=2.8)


def widest_of_columns(widths, columns):
    """As a legend fills them: one after the other, the first ones with one more."""
    rest = list(widths)
    for i in range(columns):
        size = len(widths) // columns + (i < len(widths) % columns)
        yield max(rest[:size])
        rest = rest[size:]


def note_below(figure, lines):
    """Sentences under the legend."""
    if not lines:
        return
    figure.canvas.draw()
    low = min([legend.get_window_extent().y0 for legend in figure.legends] +
              [axes.get_tightbbox().y0 for axes in figure.axes], default=0)
    figure.text(0.02, (min(low, 0) - 4) / figure.bbox.height, "\n".join(wrapped(line) for line in lines), va="top",
                linespacing=1.5)


def texts_on(figure):
    """Every piece of text that shows, with its box in pixels."""
    figure.canvas.draw()
    renderer = figure.canvas.get_renderer()
    hidden = set(labels_beyond(figure))
    found = []
    for text in figure.findobj(matplotlib.text.Text):
        if text.get_visible() and text.get_text().strip() and text not in hidden:
            box = matplotlib.text.Text.get_window_extent(text, renderer)  # an annotation's own has its line too
            if box.width > 0:
                found.append((text.get_text(), box))
    return found


def labels_beyond(figure):
    """Ticks outside their axis' limits have labels that are never drawn."""
    for axes in figure.axes:
        for axis, ends in ((axes.xaxis, axes.get_xlim()), (axes.yaxis, axes.get_ylim())):
            for tick in axis.get_major_ticks() + axis.get_minor_ticks():
                if not min(ends) <= tick.get_loc() <= max(ends):
                    yield from (tick.label1, tick.label2)


def write(figure, file, form):
    """As svg, png or pdf: the same bytes for the same data."""
    metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(form)
    with in_look():
        figure.savefig(file, format=form, dpi=160, metadata=metadata, bbox_inches="tight", pad_inches=0.08)


def save(figure, path):
    """Through a temporary name. The ending chooses the format."""
    ending = os.path.splitext(path)[1][1:]
    if ending not in ("svg", "png", "pdf"):
        fail(path, "the ending chooses the format; .svg, .png or .pdf is expected")
    partial = f"{path}.{os.getpid()}.tmp"
    try:
        write(figure, partial, ending)
        os.replace(partial, path)
    except OSError as error:
        fail(path, f"cannot be written there ({error.strerror})")
    finally:
        if os.path.exists(partial):
            os.remove(partial)


def parser_of(module_doc, arguments, name):
    parser = argparse.ArgumentParser(prog=os.environ.get("SLMSIM_PLOT_NAME"), description=module_doc,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments(parser)
    parser.add_argument("-o", "--output", default=f"{name}.svg", help=f"SVG, PNG or PDF; default: {name}.svg")
    return parser


def main(module_doc, arguments, draw):
    name = os.path.splitext(os.path.basename(sys.argv[0]))[0].replace("_", "-")
    options = parser_of(module_doc, arguments, name).parse_args()
    try:
        with in_look():
            save(draw(options), options.output)
    except BadInput as error:
        print(error, file=sys.stderr)
        sys.exit(2)
