#!/usr/bin/python3
"""Predicted against measured times and rates, from the CSV of `slmsim validate fabric --format csv`.

    slmsim validate fabric --format csv --output facts.csv
    slmsim plot predicted-measured facts.csv -o predicted.svg

The line is equality, the bands are errors of 10 and 25 %.
"""
import style
from style import plt

PANELS = (("minutes", "time of the job (min)"), ("tflops_per_gpu", "TFLOP/s per GPU"))
BANDS = ((1.25, "#eeeeee"), (1.1, "#cccccc"))


def arguments(parser):
    parser.add_argument("csv", help="what `slmsim validate --format csv` wrote")


def panel(axes, path, rows, column, title):
    points = [(row, style.number(path, row[f"measured_{column}"], column),
               style.number(path, row[f"predicted_{column}"], column))
              for row in rows if row[f"measured_{column}"] and row[f"predicted_{column}"]]
    if not points:
        style.fail(path, f"no row with measured and predicted {column}; the CSV of `slmsim validate` is expected")
    values = [value for _, measured, predicted in points for value in (measured, predicted)]
    ends = [min(values) / 1.6, max(values) * 1.6]
    for factor, grey in BANDS:
        axes.fill_between(ends, [e / factor for e in ends], [e * factor for e in ends], color=grey, linewidth=0,
                          label=f"within {100 * (factor - 1):.0f} %")
    axes.plot(ends, ends, color="black", linewidth=0.8)
    for row, measured, predicted in points:
        fill, _, marker, _, _ = style.technique_look(row["technique"])
        axes.plot(measured, predicted, marker, color=fill, markeredgecolor="black", markersize=7,
                  linestyle="", label=row["technique"])
    for axis, which in ((axes.xaxis, "measured"), (axes.yaxis, "predicted")):
        axis.set_label_text(f"{which}: {title}")
    axes.set(xscale="log", yscale="log", xlim=ends, ylim=ends, aspect="equal")
    style.plain_numbers(axes.xaxis)
    style.plain_numbers(axes.yaxis)


def draw(options):
    columns = [f"{which}_{column}" for column, _ in PANELS for which in ("measured", "predicted")]
    rows = style.read_csv(options.csv, ("technique", *columns), "the CSV of `slmsim validate --format csv`")
    figure, panels = plt.subplots(1, 2, figsize=(style.WIDTH, 3.9))
    for axes, (column, title) in zip(panels, PANELS):
        panel(axes, options.csv, rows, column, title)
    handles, labels = panels[0].get_legend_handles_labels()
    style.legend_below(figure, handles, labels, columns=6)
    return figure


if __name__ == "__main__":
    style.main(__doc__, arguments, draw)
