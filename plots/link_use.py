#!/usr/bin/python3
"""How fast bytes cross each link over an iteration, from the trace of `slmsim run --trace`.

    slmsim run scenarios/gat-amst.yaml --set models=gpt2m --set groups=all --trace trace.json
    slmsim plot link-use trace.json -o links.svg

Links between sites first, then those of nodes to the network, then those inside by what they carried; each with its own
axis. Links of a kind with the same use are one panel.
"""
import re

if __package__:
    from . import style, trace
else:
    import style
    import trace

MEANS = 60
ALIKE = 0.02  # share of the highest mean


def arguments(parser):
    parser.add_argument("trace", help="what `slmsim run --trace` wrote")
    parser.add_argument("--links", type=int, default=6, help="number of panels; default: 6")


def carried(steps, end):
    """MB."""
    return sum(rate * (after - time) for (time, rate), (after, _) in zip(steps, steps[1:] + [(end, 0)]))


def means(steps, end):
    """Over MEANS equal times: their edges and rates."""
    edges, rates = [end * i / MEANS for i in range(MEANS + 1)], [0.0] * MEANS
    for (time, rate), (after, _) in zip(steps, steps[1:] + [(end, 0)]):
        first, last = int(time / end * MEANS), min(MEANS - 1, int(after / end * MEANS))
        for i in range(first, last + 1):
            rates[i] += rate * max(0.0, min(after, edges[i + 1]) - max(time, edges[i])) / (end / MEANS)
    return edges, rates + rates[-1:]


def unit_of(mb):
    """The unit for a number of MB, and its size in MB."""
    return next(((unit, size) for unit, size in (("TB", 1e6), ("GB", 1e3), ("MB", 1.0), ("kB", 1e-3)) if mb >= size),
                ("B", 1e-6))


def amount(mb):
    unit, size = unit_of(mb)
    return f"{float(f'{mb / size:.3g}'):g} {unit}"


def rank(name):
    """Links between sites, links to the network, links inside."""
    if re.fullmatch(r"[^:]+:[^:/]+->[^:/]+", name):
        return 0
    return 1 if re.search(":(in|out)$", name) and not name.startswith("pcie:") else 2


class Panel:
    """Links of a kind with the same use."""

    def __init__(self, name, steps, end):
        self.names, self.steps = [name], steps
        self.volume = carried(steps, end)
        self.edges, self.mean = means(steps, end)
        self.peak = max(rate for _, rate in steps)

    def is_like(self, other):
        return (self.names[0].split(":")[0] == other.names[0].split(":")[0] and
                abs(self.peak - other.peak) <= 0.1 * self.peak and
                max(abs(a - b) for a, b in zip(self.mean, other.mean)) <= ALIKE * max(self.mean))

    def title(self, end):
        text = f"{self.names[0]}: {amount(self.volume)}"
        if len(self.names) > 1:
            text = f"{self.names[0]} and {style.counted(len(self.names) - 1, 'link')} alike: {amount(self.volume)} each"
        if max(self.mean) < 0.06 * self.peak:
            text += f", a mean of {amount(self.volume / end)}/s"
        return text


def panels_of(links, end):
    order = {name: (rank(name), -round(carried(steps, end), 3), name) for name, steps in links.items()}
    panels = []
    for name in sorted(links, key=order.get):
        panel = Panel(name, links[name], end)
        like = next((other for other in panels if other.is_like(panel)), None)
        if like:
            like.names += panel.names
        elif panel.peak > 0:
            panels.append(panel)
    return panels


def draw(options):
    shown = trace.Trace(options.trace)
    all_panels = panels_of(shown.links, shown.end)
    if not all_panels:
        style.fail(options.trace, "no link carries anything; a trace of more than one GPU is expected")
    panels = all_panels[:max(1, options.links)]
    scale, unit = trace.scale_of(shown.end)
    figure, rows = style.subplots(len(panels), 1, figsize=(style.WIDTH, 0.8 + 1.05 * len(panels)), sharex=True,
                                squeeze=False)
    for axes, panel in zip(rows[:, 0], panels):
        rate_unit, size = unit_of(panel.peak)
        times = [0.0] + [time for time, _ in panel.steps] + [shown.end]
        rates = [0.0] + [rate / size for _, rate in panel.steps] + [panel.steps[-1][1] / size]
        axes.fill_between([scale * t for t in times], rates, step="post", color="#b9d3e8", edgecolor="#9dc3e0",
                          linewidth=0.5, label="at each moment")
        axes.step([scale * t for t in panel.edges], [rate / size for rate in panel.mean], where="post", color="#0b2440",
                  label=f"mean over 1/{MEANS} of the time")
        axes.set_title(style.wrapped(panel.title(shown.end), 0.88 * style.FULL), loc="left")
        axes.set_ylim(0, 1.08 * panel.peak / size)
        axes.set_ylabel(f"{rate_unit}/s")
        axes.locator_params(axis="y", nbins=3)
    rows[-1, 0].set_xlim(0, scale * shown.end)
    rows[-1, 0].set_xlabel(f"time in the iteration ({unit})")
    figure.align_ylabels()
    style.heading(figure, [shown.title])
    style.legend_below(figure, *rows[0, 0].get_legend_handles_labels())
    left_out = sum(len(panel.names) for panel in all_panels[len(panels):])
    if left_out:
        style.note_below(figure, [f"{style.counted(left_out, 'more link')} left out, see --links."])
    return figure


if __name__ == "__main__":
    style.main(__doc__, arguments, draw)
