#!/usr/bin/python3
"""Every figure: its SVG parses and says what it must, is the same twice, its text is apart, and bad input is refused.

The data are what the program writes for small scenarios, or made up. Skipped (exit status 77) without matplotlib.
"""
import contextlib
import csv
import importlib
import io
import json
import os
import runpy
import shutil
import subprocess
import sys
import tempfile
import unittest
import warnings
import xml.etree.ElementTree as ElementTree

SLMSIM, SOURCE = os.environ["SLMSIM_BINARY"], os.environ["SLMSIM_SOURCE_DIR"]
try:
    import matplotlib  # noqa: F401
except ImportError:
    print("skipped: python3-matplotlib is missing")
    sys.exit(77)
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(SOURCE, "plots"))
import style  # noqa: E402

matplotlib.rcParams.update(style.LOOK)

SCENARIOS = ["scenarios/gat-amst.yaml", "scenarios/tacc-tacc.yaml"]
MEASURED = "slice,technique,rtt_ms,minutes,tflops_per_gpu\nGAT-AMST,Pipeshard,103,100,1.28\nUTAH-MASS,Data,57.4,272,\n"
ONE_BATCH = ["--where", "training.batch=8"]
# Names of 52 letters, as long as a platform may have them.
LONG = [f"a-very-long-name-of-a-virtual-machine-of-fifty-two-{end}" for end in "xy"]
# Figure, its data, its options, and text that it must show.
FIGURES = [
    ("latency_sweep", "sweep.csv", ["--measured", "measured.csv", "--slice", "GAT-AMST"],
     ["round-trip time (ms)", "time of the job (min)", "TFLOP/s per GPU", "Data on gat+amst", "measured, GAT-AMST",
      "ms the fastest changes from Pipeshard on gat+amst to Data on gat."]),
    ("latency_sweep", "two.csv", ONE_BATCH, ["gat-amst, gpt2m, gat+amst, training.batch=8"]),
    ("latency_sweep", "zip.csv", [], ["round-trip time (ms)"]),
    ("latency_sweep", "long.csv", [], ["machine"]),
    ("sweep", "size.csv", [], ["models.0.layers", "time of the job (min)", "ZeRO-3-CPU", "out of memory"]),
    ("sweep", "size.csv", ["--value", "tflops_total"], ["TFLOP/s of all GPUs"]),
    ("sweep", "zip.csv", ["--axis", "platform.vms.gat.type.tcp.net.ipv4.tcp_rmem"],
     ["ipv4.tcp_rmem (MiB)", "With it platform.links.wan.rtt is 1 ms, 10 ms, 103 ms."]),
    ("sweep", "words.csv", [], ["1f1b", "gpipe", "techniques.Pipeshard.schedule"]),
    ("sweep", "models.csv", [], ["models.0", "gpt2m", "gpt2L"]),
    ("sweep", "long.csv", ["--value", "iteration_s"], ["time of an iteration (s)"]),
    ("technique_comparison", "all.csv", ["--model", "gpt2L"],
     ["time of the job (min)", "gpt2L", "gat-amst", "tacc-tacc", "gat+amst", "x Data: out of memory", "Pipeshard"]),
    ("technique_comparison", "two.csv", ONE_BATCH + ["--where", "platform.links.wan.rtt=1 ms"],
     ["gat-amst, gpt2m, training.batch=8, platform.links.wan.rtt=1 ms"]),
    ("technique_comparison", "long.csv", ["--where", "point=0"], ["1 GPU", "3 GPUs"]),
    ("technique_comparison", "intervals.csv", [], ["Lines across the bars: intervals of 90 %."]),
    ("memory", "all.json", ["--model", "gpt2L"],
     ["memory of the fullest GPU (GiB)", "limit", "activations", "tacc-tacc: Data on tacc-t4"]),
    ("memory", "all.json", ["--where", "scenario=tacc-tacc"], ["tacc-tacc, gpt2m", "Not shown, see --model: gpt2l, gpt2L"]),
    ("breakdown", "all.csv", [], ["share of an iteration (%), and its length", "waiting for communication",
                                  "gat-amst: Shard on gat+amst", "gpt2m", "Not shown, see --model: gpt2l, gpt2L"]),
    ("breakdown", "long.csv", ["--where", "point=0"], ["share of an iteration (%), and its length"]),
    ("link_use", "trace.json", [], ["MB/s", "time in the iteration (s)", "wan:gat-"]),
    ("link_use", "node.json", ["--links", "3"], ["GB/s", "NVLink:node0/gpu0->gpu1 and ", "links alike: "]),
    ("link_use", "made-up.json", ["--links", "3"],
     ["internet:lab->cloud: 20 MB, a mean of 10 MB/s", "RoCE:n0/nic0:out: 1.5 GB", "NVLink:n0/gpu0->gpu1 and 1 link alike: "
      "4 GB each", "1 more link left out"]),
    ("gantt", "trace.json", [], ["time in the iteration (s)", "gat/0"]),
    ("gantt", "trace.json", ["--from", "3.0", "--to", "3.3"], ["time in the iteration (ms)"]),
    ("gantt", "made-up.json", [], ["forward", "backward", "optimizer", "launching", "framework on the host", "collective",
                                   "activations and their gradients", "copy between GPU and host", "drive", "n0/nvme0"]),
    ("job", "job.json", [], ["mean time of the job (", "jobs that have ended (%)", "lease", "useful", "waiting",
                             "LocalSGD on gat+amst", "1000 jobs drawn"]),
    ("job", "day.json", ["--technique", "Pipeshard"], ["link (Gbit/s)", "speed of iterations", "time of the day (h)"]),
    ("predicted_measured", "facts.csv", [], ["time of the job (min)", "TFLOP/s per GPU", "measured", "predicted",
                                             "within 25 %"]),
    ("predicted_measured", "deepspeed.csv", [], ["time of an iteration (s)", "largest model", "throughput of all GPUs",
                                                 "mean rate of NVLink", "mean rate of RoCE", "ZeRO-2-CPU", "Infinity-P"]),
]

# Runs each script with its words, as `slmsim plot` does.
DRAW_ALL = """
import json, runpy, sys
sys.path.insert(0, "plots")
for script, words in json.load(sys.stdin):
    sys.argv = [script, *words]
    runpy.run_path(script, run_name="__main__")
"""


def made_up_trace():
    """Every kind of work, two connections of one name, and links of every rank."""
    events = []

    def track(pid, process, tid, name, *work):
        events.append({"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "args": {"name": process}})
        events.append({"ph": "M", "name": "thread_name", "pid": pid, "tid": tid, "args": {"name": name}})
        for category, start, end in work:
            events.append({"ph": "X", "name": "fwd", "cat": category, "pid": pid, "tid": tid, "ts": 1e6 * start,
                           "dur": 1e6 * (end - start)})

    def link(name, *steps):
        events.extend({"ph": "C", "name": name, "pid": 5, "tid": 0, "ts": 1e6 * time, "args": {"MB/s": rate}}
                      for time, rate in steps)

    track(3, "connections", 4, "n0/0 -> n0/1", ("collective", 0.5, 1.2))
    track(3, "connections", 5, "n0/0 -> n0/1", ("send", 0.4, 0.9), ("copy", 1.0, 1.5))
    track(4, "hosts and drives", 6, "n0 Adam", ("optimizer", 1.5, 1.9))
    track(4, "hosts and drives", 7, "n0/nvme0", ("drive", 0.5, 1.8))
    track(2, "GPUs", 1, "n0/0", ("launch", 0, 0.1), ("framework", 0.1, 0.3), ("forward", 0.3, 0.8), ("backward", 0.8, 1.5))
    link("PCIe-GPU:n0/cpu0->gpu0", (0.0, 5.0), (1.0, 0.0))
    link("NVLink:n0/gpu0->gpu1", (0.0, 4000.0), (1.0, 0.0))
    link("NVLink:n0/gpu1->gpu0", (0.0, 4000.0), (1.0, 0.0))
    link("RoCE:n0/nic0:out", (0.0, 1500.0), (1.0, 0.0))
    link("internet:lab->cloud", (0.0, 20000.0), (0.001, 0.0))
    return {"otherData": {"title": "made up", "iteration_s": 2.0}, "traceEvents": events}


def slmsim(*words, **streams):
    subprocess.run([SLMSIM, *words], cwd=SOURCE, check=True, stdout=subprocess.DEVNULL, **streams)


class Figures(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        at = cls.at
        slmsim("run", *SCENARIOS, "--format", "csv", "-o", at("all.csv"))
        slmsim("run", SCENARIOS[0], "--model", "gpt2m", "--intervals", "--level", "0.9", "--format", "csv", "-o",
               at("intervals.csv"))
        slmsim("run", *SCENARIOS, "--format", "json", "-o", at("all.json"))
        slmsim("run", SCENARIOS[0], "--set", "models=gpt2m", "--set", "groups=all", "--technique", "Pipeshard",
               "--trace", at("trace.json"))
        slmsim("run", "scenarios/xe8545-1.yaml", "--technique", "ZeRO-2", "--trace", at("node.json"))
        with open(at("made-up.json"), "w") as file:
            json.dump(made_up_trace(), file)
        slmsim("run", "scenarios/spot-job.yaml", "--format", "json", "-o", at("job.json"))
        slmsim("run", "scenarios/spot-job.yaml", "--format", "json", "-o", at("day.json"), "--set",
               "job.links={wan: {hours: [{from: 0 h}, {from: 8 h, bandwidth: 300 Mbps}]}}")
        slmsim("validate", "fabric", "--format", "csv", "-o", at("facts.csv"))
        slmsim("validate", "deepspeed", "--format", "csv", "-o", at("deepspeed.csv"))
        with open(at("measured.csv"), "w") as file:
            file.write(MEASURED)
        slmsim("sweep", "scenarios/sweeps/xe8545-size.yaml", "-o", at("size.csv"), stderr=subprocess.DEVNULL)
        slmsim("sweep", "scenarios/sweeps/window.yaml", "-o", at("window.csv"), stderr=subprocess.DEVNULL)
        rtt, batch = "{key: platform.links.wan.rtt, values: [1 ms, 10 ms, 103 ms]}", "{key: training.batch, values: [8, 16]}"
        rmem = "{key: platform.vms.gat.type.tcp.net.ipv4.tcp_rmem, values: [6 MiB, 16 MiB, 64 MiB]}"
        cls.sweep("sweep.csv", rtt, groups="[all, each]")
        cls.sweep("two.csv", rtt, batch)
        cls.sweep("zip.csv", f"{{zip: [{rtt}, {rmem}]}}")
        cls.sweep("words.csv", "{key: techniques.Pipeshard.schedule, values: [1f1b, gpipe]}")
        cls.sweep("models.csv", "{key: models.0, values: [gpt2m, gpt2L]}")
        cls.write_long()

    @classmethod
    def sweep(cls, name, *axes, groups="all"):
        """The CSV of a sweep of gpt2m at GAT-AMST."""
        with open(cls.at("sweep.yaml"), "w") as file:
            file.write(f"scenario: {SOURCE}/{SCENARIOS[0]}\nset: {{models: gpt2m, groups: {groups}}}\naxes:\n")
            file.writelines(f"  - {axis}\n" for axis in axes)
        slmsim("sweep", cls.at("sweep.yaml"), "-o", cls.at(name), stderr=subprocess.DEVNULL)

    @classmethod
    def write_long(cls):
        """A sweep with names as long as they may be, on groups of which one holds another."""
        with open(cls.at("sweep.csv"), newline="") as file:
            rows = list(csv.DictReader(file))
        names = {"gat+amst": "+".join(LONG), "gat": LONG[0], "amst": f"{LONG[0]}+{LONG[1]}/0"}
        gpus = {"gat+amst": 3, "gat": 1, "amst": 2}
        with open(cls.at("long.csv"), "w", newline="") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows({**row, "scenario": "scenario-" + LONG[0], "gpus": gpus[row["group"]],
                              "group": names[row["group"]]} for row in rows)

    @classmethod
    def at(cls, name):
        return os.path.join(cls.folder, name)

    def words(self, data, options, output):
        return [self.at(data), *(self.at(o) if o.endswith(".csv") else o for o in options), "-o", self.at(output)]

    def drawn(self, figure, data, options):
        module = importlib.import_module(figure)
        parser = style.parser_of(module.__doc__, module.arguments, figure)
        return module.draw(parser.parse_args(self.words(data, options, "unused.svg")))

    def test_svg_parses_says_what_it_must_and_is_the_same_twice_and_no_text_overlaps_or_is_cut(self):
        # Another process, whose hashes differ, draws all as `slmsim plot` does; here each is looked at before it is written.
        jobs = [(os.path.join(SOURCE, "plots", figure + ".py"), self.words(data, options, f"two{i}.svg"))
                for i, (figure, data, options, _) in enumerate(FIGURES)]
        subprocess.run(["/usr/bin/python3", "-B", "-c", DRAW_ALL], input=json.dumps(jobs), text=True, check=True,
                       cwd=SOURCE, stdout=subprocess.DEVNULL)
        for i, (figure, data, options, needed) in enumerate(FIGURES):
            with self.subTest(figure=figure, data=data, options=options), warnings.catch_warnings():
                warnings.simplefilter("error")  # "axes sizes collapsed to zero"
                drawn = self.drawn(figure, data, options)
                style.save(drawn, self.at(f"one{i}.svg"))
                self.check_texts(drawn)
                self.check_svg(i, needed)

    def check_texts(self, drawn):
        texts = style.texts_on(drawn)
        self.assertGreater(len(texts), 8)
        for i, (one, box) in enumerate(texts):
            self.assertTrue(box.x0 > -2 and box.x1 < drawn.bbox.width + 2, f"\"{one}\" is wider than the page")
            for other, its in texts[:i]:
                self.assertFalse(box.x0 < its.x1 - 1 and its.x0 < box.x1 - 1 and box.y0 < its.y1 - 1 and
                                 its.y0 < box.y1 - 1, f"\"{one}\" lies upon \"{other}\"")

    def check_svg(self, i, needed):
        with open(self.at(f"one{i}.svg"), "rb") as one, open(self.at(f"two{i}.svg"), "rb") as two:
            svg = one.read()
            self.assertEqual(svg, two.read())
        text = "\n".join(" ".join(e.itertext()) for e in ElementTree.fromstring(svg).iter() if e.tag.endswith("}text"))
        for word in needed:
            self.assertIn(word, text)

    def test_the_check_for_overlaps_sees_one(self):
        figure, axes = style.subplots()
        axes.remove()
        figure.text(0.5, 0.5, "one")
        figure.text(0.51, 0.5, "two")
        (_, a), (_, b) = style.texts_on(figure)
        self.assertTrue(a.overlaps(b))

    def test_crossing_is_where_two_lines_in_logarithms_meet(self):
        sweep = importlib.import_module("latency_sweep")
        # 1, 100 against a level of 10 over 1 to 100 ms: they meet at 10 ms.
        curves = {("Pipeshard", "a+b"): [(1, 1, 0), (100, 100, 0)], ("Data", "a"): [(1, 10, 0), (100, 10, 0)]}
        ((at, before, after),) = sweep.crossings(curves)
        self.assertAlmostEqual(at, 10)
        self.assertEqual((before, after), (("Pipeshard", "a+b"), ("Data", "a")))

    def text_of(self, figure, data, *options):
        return "\n".join(text for text, _ in style.texts_on(self.drawn(figure, data, options)))

    def test_far_longer_bars_are_broken_on_a_linear_axis(self):
        # Five times the shortest are 50: the axis ends with 20, and 1000 is drawn 12 % beyond it.
        scale = style.BarScale([10, 20, 1000], [12, 18, 1500])
        self.assertTrue(scale.broken)
        self.assertEqual([scale.length(value) for value in (10, 20)], [10, 20])
        self.assertAlmostEqual(scale.length(1000), 22.4)
        self.assertFalse(style.BarScale([10, 20, 50], [10, 20, 50]).broken)
        axes = self.drawn("technique_comparison", "all.csv", ["--model", "gpt2L"]).axes
        self.assertEqual({one.get_xscale() for one in axes}, {"linear"})
        self.assertEqual({one.get_xlim()[0] for one in axes}, {0})

    def test_one_axis_has_one_unit(self):
        self.assertEqual(style.unit_of([90, 6000]), ("h", 60))
        self.assertEqual(style.unit_of([59, 6000]), ("min", 1))
        self.assertEqual(style.unit_of([0.5])[0], "s")
        self.assertEqual([style.plain(value) for value in (2361, 34.52, 0.0123)], ["2360", "34.5", "0.0123"])

    def test_labels_stand_at_lines_in_place_of_a_legend(self):
        figure = self.drawn("latency_sweep", "sweep.csv", [])
        self.assertEqual(figure.legends, [])
        for axes in figure.axes:
            self.assertEqual({note.get_text() for note in axes.texts}, {line.get_label() for line in axes.lines
                                                                        if not line.get_label().startswith("_")})
        # Where they do not fit there is a legend.
        figure, axes = style.subplots(figsize=(style.WIDTH, 1))
        self.assertFalse(style.labels_at_ends(axes, [(1, 1, f"line {i}", "black") for i in range(30)]))

    def test_looks_differ_in_grey(self):
        def lightness(colour):
            return sum(share * part for share, part in zip((0.3, 0.59, 0.11), matplotlib.colors.to_rgb(colour)))

        looks = list(style.TECHNIQUES.values())
        self.assertEqual(len({look[2] for look in looks}), len(looks))
        self.assertEqual(len({(look[1], look[3]) for look in looks}), len(looks))
        gantt = importlib.import_module("gantt")
        for fills in ([(look[0], look[4]) for look in looks], [look[1:] for look in (*gantt.KINDS.values(), gantt.OTHER)],
                      style.PARTS):
            for i, (one, hatch) in enumerate(fills):
                for other, its in fills[:i]:
                    if hatch == its:
                        self.assertGreater(abs(lightness(one) - lightness(other)), 0.15, (one, other))

    def test_groups_of_one_technique_differ(self):
        groups = ["desk+rented", "desk+rented/0"]
        one, other = (style.line_look("Data", group, groups) for group in groups)
        self.assertEqual(one["marker"], other["marker"])
        self.assertNotEqual(one["fillstyle"], other["fillstyle"])
        self.assertNotEqual(one["linewidth"], other["linewidth"])

    def test_long_names_stay_different(self):
        texts = style.group_texts(["+".join(LONG), LONG[0], LONG[1], f"{LONG[0]}+{LONG[1]}/0", "gat"])
        self.assertEqual(len(set(texts.values())), 5)
        self.assertEqual(texts["gat"], "gat")
        self.assertTrue(all(len(text) < 45 for text in texts.values()), texts)
        self.assertEqual(len(set(style.group_texts([f"a{'x' * 40}{i}{'y' * 40}" for i in range(3)]).values())), 3)
        eight = "+".join(f"node{i}" for i in range(8))
        self.assertEqual(style.group_text(eight, 40), "node0+...+node7 (8)")

    def test_axis_positions(self):
        sweep = importlib.import_module("sweep")
        self.assertEqual(sweep.positions(["8", "16"]), ({"8": 8, "16": 16}, ""))
        self.assertEqual(sweep.positions(["512 KiB", "6 MiB"]), ({"512 KiB": 512, "6 MiB": 6144}, "KiB"))
        self.assertEqual(sweep.positions(["3 apples", "6 apples"]), ({"3 apples": 3, "6 apples": 6}, "apples"))
        self.assertEqual(sweep.positions(["3 apples", "6 pears"]), (None, ""))
        self.assertEqual(sweep.positions(["auto", "2"]), (None, ""))

    def test_tracks_are_not_merged_and_stand_in_order(self):
        figure = self.drawn("gantt", "made-up.json", [])
        names = [label.get_text() for label in figure.axes[0].get_yticklabels()]
        self.assertEqual(names, ["n0/0", "n0 Adam", "n0/nvme0"] + ["n0/0 \N{RIGHTWARDS ARROW} n0/1"] * 2)
        text = self.text_of("gantt", "made-up.json", "--tracks", "nvme")
        self.assertIn("drive", text)
        self.assertNotIn("forward", text)

    def test_tracks_beyond_the_page_are_told(self):
        trace = made_up_trace()
        for tid in range(100, 130):
            trace["traceEvents"] += [
                {"ph": "M", "name": "thread_name", "pid": 3, "tid": tid, "args": {"name": f"n0/0 -> n1/{tid}"}},
                {"ph": "X", "name": "x", "cat": "send", "pid": 3, "tid": tid, "ts": 0, "dur": 1e6}]
        with open(self.at("many.json"), "w") as file:
            json.dump(trace, file)
        self.assertIn("11 more tracks left out; --tracks chooses.", self.text_of("gantt", "many.json"))

    def test_amounts_and_ranks_of_links(self):
        links = importlib.import_module("link_use")
        self.assertEqual([links.amount(mb) for mb in (22230, 16.8, 0.004, 999.9)], ["22.2 GB", "16.8 MB", "4 kB", "1000 MB"])
        names = ["wan:a->b", "internet:lab->cloud", "nic:a:in", "RoCE:n0/nic0:out", "pcie:a/0:in", "NVLink:n0/gpu0->gpu1",
                 "crossing:n0/cpu0:PCIe-GPU->PCIe-NIC"]
        self.assertEqual([links.rank(name) for name in names], [0, 0, 1, 1, 2, 2, 2])

    def test_legend_of_a_breakdown_has_only_what_occurs(self):
        self.assertNotIn("pipeline bubble", self.text_of("breakdown", "all.csv", "--where", "technique=Data"))

    def test_sweeps_are_refused_until_one_point_is_chosen(self):
        for figure in ("breakdown", "technique-comparison"):
            told = self.refusal(figure, "two.csv")
            self.assertIn("two.csv: error: platform.links.wan.rtt (1 ms, 10 ms, 103 ms) and training.batch (8, 16) vary; choose "
                          "with --where 'platform.links.wan.rtt=1 ms' --where training.batch=8", told)
        self.assertIn("error: training.batch varies too (8, 16); choose with --where training.batch=8",
                      self.refusal("latency-sweep", "two.csv"))
        told = self.refusal("latency-sweep", "window.csv")
        self.assertIn("tcp_rmem varies too (6 MiB, 16 MiB, 64 MiB, 256 MiB)", told)
        self.assertNotIn("wmem", told)
        self.assertIn("--axis platform.links.wan.rtt --where training.batch=8", self.refusal("sweep", "two.csv"))
        self.assertIn("training.batch is: 8, 16", self.refusal("sweep", "two.csv", "--where", "training.batch=9"))
        self.assertIn("no column \"batch\"", self.refusal("sweep", "two.csv", "--where", "batch=9"))
        self.assertIn("KEY=VALUE is expected", self.refusal("sweep", "two.csv", "--where", "batch"))
        self.assertIn("--axis, one of: models.0.layers", self.refusal("latency-sweep", "size.csv"))
        self.assertIn("no column of values varies", self.refusal("sweep", "all.csv"))
        self.write_invalid("invalid.csv", of="sweep.csv", keep=False)
        for figure in ("latency-sweep", "sweep", "breakdown", "technique-comparison"):
            self.assertIn("nothing runs (no, such batch); a run", self.refusal(figure, "invalid.csv"))

    def write_invalid(self, name, of, keep):
        """A sweep with a point that cannot be, after its other points or alone."""
        with open(self.at(of), newline="") as file:
            rows = list(csv.DictReader(file))
        values = {"point": "9", "platform.links.wan.rtt": "1 s", "status": "invalid", "reason": "no, such batch"}
        with open(self.at(name), "w", newline="") as file:
            writer = csv.DictWriter(file, rows[0], restval="")
            writer.writeheader()
            writer.writerows((rows if keep else []) + [values])

    def test_points_without_prediction_are_left_out_and_told(self):
        self.write_invalid("some.csv", of="sweep.csv", keep=True)
        self.assertIn("1 point left out: no, such batch", self.text_of("latency_sweep", "some.csv"))

    def test_what_does_not_fit_a_page_is_refused(self):
        with open(self.at("all.csv"), newline="") as file:
            rows = [row for row in csv.DictReader(file) if row["model"] == "gpt2m"]
        with open(self.at("large.csv"), "w", newline="") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows({**row, "group": f"{row['group']}{i}"} for i in range(9) for row in rows)
        with open(self.at("twice.csv"), "w", newline="") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(rows + rows)
        for figure in ("breakdown", "technique-comparison"):
            self.assertIn("bars are too many for a figure; up to 60", self.refusal(figure, "large.csv"))
            self.assertIn("twice; one run of each scenario is expected", self.refusal(figure, "twice.csv"))

    def test_png_by_its_ending(self):
        slmsim("plot", "breakdown", *self.words("all.csv", [], "x.png"))
        with open(self.at("x.png"), "rb") as file:
            self.assertEqual(file.read(8), b"\x89PNG\r\n\x1a\n")

    def refusal(self, figure, *words):
        """What a script says on standard error, run here as `slmsim plot` runs it: Python takes long to load matplotlib."""
        said, arguments = io.StringIO(), sys.argv
        sys.argv = [os.path.join(SOURCE, "plots", figure.replace("-", "_") + ".py"), *words]
        try:
            with contextlib.chdir(self.folder), contextlib.redirect_stderr(said), self.assertRaises(SystemExit) as ended:
                runpy.run_path(sys.argv[0], run_name="__main__")
        finally:
            sys.argv = arguments
        self.check_refused(ended.exception.code, said.getvalue())
        return said.getvalue()

    def refusal_of_program(self, *words):
        run = subprocess.run([SLMSIM, "plot", *words], cwd=self.folder, capture_output=True, text=True)
        self.check_refused(run.returncode, run.stderr)
        return run.stderr

    def check_refused(self, status, said):
        self.assertEqual(status, 2, said)
        self.assertEqual(len(said.strip().splitlines()[-1:]), 1)
        self.assertNotIn("Traceback", said)

    def test_bad_input_is_told_and_leaves_nothing_behind(self):
        with open(self.at("half.csv"), "w") as file:
            file.write("scenario,model\nx,y\n")
        with open(self.at("nonsense.json"), "w") as file:
            file.write("[1, {")
        before = sorted(os.listdir(self.folder))
        self.assertIn("no column \"technique\"", self.refusal("technique-comparison", "half.csv"))
        self.assertIn("not JSON; the JSON of", self.refusal("memory", "nonsense.json"))
        refusal = self.refusal("memory", "half.csv")
        self.assertIn("not JSON; the JSON of", refusal)
        self.assertNotIn("Expecting", refusal)
        self.assertIn("does not read (No such file or directory)", self.refusal("gantt", "no-such.json"))
        self.assertIn("no track's name holds \"amd\"", self.refusal("gantt", "made-up.json", "--tracks", "amd"))
        self.assertIn("validate deepspeed", self.refusal("predicted-measured", "all.csv"))
        self.assertIn("known are: gpt2m", self.refusal("breakdown", "all.csv", "--model", "gpt3"))
        self.assertIn(".svg, .png or .pdf", self.refusal("breakdown", "all.csv", "-o", "x.gif"))
        self.assertIn("cannot be written", self.refusal("breakdown", "all.csv", "-o", "/no/such/x.svg"))
        self.assertIn("traceEvents", self.refusal("gantt", "all.json"))
        self.assertIn("did you mean \"memory\"", self.refusal_of_program("memry", "all.json"))
        self.assertEqual(self.refusal_of_program("breakdown", "half.csv"), self.refusal("breakdown", "half.csv"))
        self.assertEqual(sorted(os.listdir(self.folder)), before)

    def test_help(self):
        for figure in {figure for figure, *_ in FIGURES}:
            run = subprocess.run([SLMSIM, "plot", figure.replace("_", "-"), "--help"], capture_output=True, text=True)
            self.assertEqual(run.returncode, 0)
            self.assertIn("usage: slmsim plot " + figure.replace("_", "-"), run.stdout)

    def test_the_documentation_shows_every_figure_that_the_script_draws(self):
        pages = [os.path.join(SOURCE, "README.md")]
        for folder, _, names in os.walk(os.path.join(SOURCE, "docs")):
            pages += [os.path.join(folder, name) for name in names if name.endswith(".md")]
        shown = set()
        for page in pages:
            with open(page, encoding="utf-8") as file:
                shown.update(part.split(")")[0] for part in file.read().split("plots/figures/")[1:] if ".svg)" in part)
        self.assertEqual(shown, set(os.listdir(os.path.join(SOURCE, "plots/figures"))))
        self.assertGreater(len(shown), 3)


if __name__ == "__main__":
    unittest.main()
