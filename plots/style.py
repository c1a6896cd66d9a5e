"""What the figures have in common: looks that survive grey print, reading of files, errors, and writing.

Techniques differ by lightness, line, marker and hatch, never by hue alone. Every script defines `arguments(parser)` and
`draw(options)`, which returns a figure, and ends with `style.main(...)`.
"""
import argparse
import csv
import json
import os
import sys

try:
    import matplotlib
except ImportError:
    sys.exit(print("error: matplotlib is missing; apt-get install python3-matplotlib", file=sys.stderr) or 2)

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

WIDTH = 7.5  # inches; 540 points
SIZE = 8.5  # points, of all text
plt.rcParams.update({
    "font.family": "DejaVu Sans", "font.size": SIZE, "axes.titlesize": SIZE, "axes.labelsize": SIZE,
    "xtick.labelsize": SIZE, "ytick.labelsize": SIZE, "legend.fontsize": SIZE, "figure.titlesize": SIZE,
    "axes.spines.top": False, "axes.spines.right": False, "axes.axisbelow": True, "hatch.linewidth": 0.5,
    "lines.linewidth": 1.4, "svg.hashsalt": "slmsim", "svg.fonttype": "none", "figure.constrained_layout.use": True,
})

# Per technique: fill, line colour, marker, line style, hatch. Lightness falls from one to the next of those that are
# compared.
TECHNIQUES = {
    "Data": ("#dcebf7", "#7fa8cc", "o", "-", ""),
    "ZeRO2": ("#9dc3e0", "#5688b4", "s", "--", "///"),
    "Shard": ("#5a8fbd", "#2f6498", "^", "-.", "..."),
    "Pipeshard": ("#143d66", "#0b2440", "D", (0, (1, 1)), ""),
    "DDP": ("#dcebf7", "#7fa8cc", "o", "-", "---"),
    "Megatron": ("#143d66", "#0b2440", "D", (0, (1, 1)), "///"),
    "ZeRO-1": ("#ffffff", "#777777", "v", "-", ""),
    "ZeRO-2": ("#9dc3e0", "#5688b4", "s", "--", ""),
    "ZeRO-3": ("#5a8fbd", "#2f6498", "^", "-.", ""),
    "ZeRO-1-CPU": ("#ffffff", "#777777", "<", ":", "..."),
    "ZeRO-2-CPU": ("#9dc3e0", "#5688b4", "P", ":", "..."),
    "ZeRO-3-CPU": ("#5a8fbd", "#2f6498", "X", ":", "xxx"),
    "Infinity": ("#777777", "#444444", ">", "-", ""),
    "Infinity-P": ("#bbbbbb", "#444444", "*", "--", "///"),
}
# Per part of a bar: fill and hatch.
PARTS = [("#0b2440", ""), ("#dcebf7", "///"), ("#5a8fbd", ""), ("#ffffff", "..."), ("#9dc3e0", "xxx"), ("#777777", "")]


class BadInput(Exception):
    """FILE: what is wrong; what would be right."""


def technique_look(name):
    return TECHNIQUES.get(name, ("#ffffff", "#777777", "v", ":", "xx"))


def fail(path, text):
    raise BadInput(f"{path}: error: {text}")


def read_csv(path, needed, what):
    """The rows of a CSV that has the columns `needed`."""
    try:
        with open(path, newline="", encoding="utf-8") as file:
            reader = csv.DictReader(file)
            rows, names = list(reader), reader.fieldnames or []
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        fail(path, f"does not read ({error}); {what} is expected")
    for name in needed:
        if name not in names:
            fail(path, f"no column \"{name}\"; {what} is expected")
    if not rows:
        fail(path, f"no rows; {what} is expected")
    return rows


def read_json(path, key, what):
    try:
        with open(path, encoding="utf-8") as file:
            data = json.load(file)
    except (OSError, ValueError) as error:
        fail(path, f"does not read ({error}); {what} is expected")
    for one in data if isinstance(data, list) else [data]:
        if not isinstance(one, dict) or key not in one:
            fail(path, f"no \"{key}\"; {what} is expected")
    return data


def one_of(path, rows, column, wanted):
    """The rows of one value of a column: of `wanted`, or of the first there is."""
    known = list(dict.fromkeys(row[column] for row in rows))
    wanted = known[0] if wanted is None else wanted
    if wanted not in known:
        fail(path, f"no {column} \"{wanted}\"; known are: {', '.join(known)}")
    return wanted, [row for row in rows if row[column] == wanted]


def number(path, text, what):
    try:
        return float(text)
    except ValueError:
        fail(path, f"{what} \"{text}\" is not a number")


def group_text(name):
    """Of many VMs only the first and the last, as slmsim's tables have it."""
    names = name.split("+")
    return name if len(names) <= 4 else f"{names[0]}+...+{names[-1]} ({len(names)})"


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


def plain_numbers(axis):
    """1, 10, 100 in place of powers on a logarithmic axis, and no labels on its minor ticks."""
    axis.set_major_formatter(matplotlib.ticker.FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(matplotlib.ticker.NullFormatter())


def legend_below(figure, handles, labels, columns=4):
    """Outside the data; the page grows by as much."""
    order = list(TECHNIQUES)
    pairs = sorted(zip(labels, handles), key=lambda pair: order.index(pair[0]) if pair[0] in order else -1)
    seen = dict(pairs)
    if seen:
        figure.legend(seen.values(), seen.keys(), loc="upper center", bbox_to_anchor=(0.5, 0),
                      ncol=min(columns, len(seen)), frameon=False, handlelength=2.8)


def note_below(figure, lines):
    """Sentences under the legend."""
    figure.canvas.draw()
    low = min([legend.get_window_extent().y0 for legend in figure.legends], default=0)
    figure.text(0.02, (low - 4) / figure.bbox.height, "\n".join(lines), va="top", linespacing=1.5)


def texts_on(figure):
    """Every piece of text that shows, with its box in pixels."""
    figure.canvas.draw()
    renderer = figure.canvas.get_renderer()
    hidden = set(labels_beyond(figure))
    found = []
    for text in figure.findobj(matplotlib.text.Text):
        if text.get_visible() and text.get_text().strip() and text not in hidden:
            box = text.get_window_extent(renderer)
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


def save(figure, path):
    """Through a temporary name; the same bytes for the same data. The ending chooses the format."""
    ending = os.path.splitext(path)[1][1:]
    if ending not in ("svg", "png", "pdf"):
        fail(path, "the ending chooses the format; .svg, .png or .pdf is expected")
    metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(ending)
    partial = f"{path}.{os.getpid()}.tmp"
    try:
        figure.savefig(partial, format=ending, dpi=160, metadata=metadata, bbox_inches="tight", pad_inches=0.08)
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
        save(draw(options), options.output)
    except BadInput as error:
        print(error, file=sys.stderr)
        sys.exit(2)
