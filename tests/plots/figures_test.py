#!/usr/bin/python3
"""Every figure: its SVG parses and says what it must, is the same twice, its text is apart, and bad input is told.

The data are what the program writes for small scenarios. Skipped (exit status 77) without matplotlib.
"""
import importlib
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
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

SCENARIOS = ["scenarios/gat-amst.yaml", "scenarios/tacc-tacc.yaml"]
MEASURED = "slice,technique,rtt_ms,minutes,tflops_per_gpu\nGAT-AMST,Pipeshard,103,100,1.28\nUTAH-MASS,Data,57.4,272,\n"
# Figure, its data, its options, and text that it must show.
FIGURES = [
    ("latency_sweep", "sweep.csv", ["--measured", "measured.csv", "--slice", "GAT-AMST"],
     ["round-trip time (ms)", "time of the job (min)", "TFLOP/s per GPU", "Data on gat+amst", "measured, GAT-AMST",
      "ms the fastest changes from Pipeshard on gat+amst to Data on gat."]),
    ("technique_comparison", "all.csv", ["--model", "gpt2L"],
     ["time of the job (min), gpt2L", "gat-amst", "tacc-tacc", "gat+amst", "x Data: out of memory", "Pipeshard"]),
    ("memory", "all.json", ["--model", "gpt2L"],
     ["memory of the fullest GPU (GiB)", "limit", "activations", "tacc-tacc: Data on tacc-t4"]),
    ("breakdown", "all.csv", [], ["share of an iteration (%), and its length", "waiting for communication",
                                  "gat-amst: Shard on gat+amst"]),
    ("link_use", "trace.json", [], ["MB/s", "time in the iteration (s)", "wan:gat-"]),
    ("gantt", "trace.json", [], ["time in the iteration (s)", "gat/0", "forward", "backward", "launching"]),
    ("gantt", "trace.json", ["--from", "3.0", "--to", "3.3"], ["time in the iteration (ms)"]),
    ("predicted_measured", "facts.csv", [], ["measured: time of the job (min)", "predicted: TFLOP/s per GPU",
                                             "within 25 %"]),
]


def slmsim(*words):
    subprocess.run([SLMSIM, *words], cwd=SOURCE, check=True, stdout=subprocess.DEVNULL)


class Figures(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        at = cls.at
        slmsim("run", *SCENARIOS, "--format", "csv", "-o", at("all.csv"))
        slmsim("run", *SCENARIOS, "--format", "json", "-o", at("all.json"))
        slmsim("run", SCENARIOS[0], "--set", "models=gpt2m", "--set", "groups=all", "--technique", "Pipeshard",
               "--trace", at("trace.json"))
        slmsim("validate", "--format", "csv", "-o", at("facts.csv"))
        with open(at("measured.csv"), "w") as file:
            file.write(MEASURED)
        with open(at("sweep.csv"), "w") as sweep:
            for point, rtt in enumerate(("1 ms", "10 ms", "103 ms")):
                slmsim("run", SCENARIOS[0], "--set", "models=gpt2m", "--set", f"platform.links.wan.rtt={rtt}", "--format",
                       "csv", "-o", at("point.csv"))
                with open(at("point.csv")) as file:
                    head, *lines = file.read().splitlines()
                if point == 0:
                    sweep.write(f"point,platform.links.wan.rtt,{head}\n")
                sweep.writelines(f"{point},{rtt},{line}\n" for line in lines)

    @classmethod
    def at(cls, name):
        return os.path.join(cls.folder, name)

    def words(self, data, options, output):
        return [self.at(data), *(self.at(o) if o.endswith(".csv") else o for o in options), "-o", self.at(output)]

    def drawn(self, figure, data, options):
        module = importlib.import_module(figure)
        parser = style.parser_of(module.__doc__, module.arguments, figure)
        return module.draw(parser.parse_args(self.words(data, options, "unused.svg")))

    def test_text_does_not_overlap_and_nothing_is_cut(self):
        for figure, data, options, _ in FIGURES:
            with self.subTest(figure=figure, options=options):
                texts = style.texts_on(self.drawn(figure, data, options))
                self.assertGreater(len(texts), 8)
                for i, (one, box) in enumerate(texts):
                    for other, its in texts[:i]:
                        self.assertFalse(box.x0 < its.x1 - 1 and its.x0 < box.x1 - 1 and box.y0 < its.y1 - 1 and
                                         its.y0 < box.y1 - 1, f"\"{one}\" lies upon \"{other}\"")

    def test_the_check_for_overlaps_sees_one(self):
        figure = style.plt.figure()
        figure.text(0.5, 0.5, "one")
        figure.text(0.51, 0.5, "two")
        (_, a), (_, b) = style.texts_on(figure)
        self.assertTrue(a.overlaps(b))

    def test_svg_parses_says_what_it_must_and_is_the_same_twice(self):
        for figure, data, options, needed in FIGURES:
            with self.subTest(figure=figure, options=options):
                name = figure.replace("_", "-")
                for output in ("one.svg", "two.svg"):
                    slmsim("plot", name, *self.words(data, options, output))
                with open(self.at("one.svg"), "rb") as one, open(self.at("two.svg"), "rb") as two:
                    svg = one.read()
                    self.assertEqual(svg, two.read())
                text = "\n".join(" ".join(e.itertext()) for e in ElementTree.fromstring(svg).iter()
                                 if e.tag.endswith("}text"))
                for word in needed:
                    self.assertIn(word, text)

    def test_crossing_is_where_two_lines_in_logarithms_meet(self):
        sweep = importlib.import_module("latency_sweep")
        # 1, 100 against a level of 10 over 1 to 100 ms: they meet at 10 ms.
        curves = {("Pipeshard", "a+b"): [(1, 1, 0), (100, 100, 0)], ("Data", "a"): [(1, 10, 0), (100, 10, 0)]}
        ((at, before, after),) = sweep.crossings(curves)
        self.assertAlmostEqual(at, 10)
        self.assertEqual((before, after), (("Pipeshard", "a+b"), ("Data", "a")))

    def test_png_by_its_ending(self):
        slmsim("plot", "breakdown", *self.words("all.csv", [], "x.png"))
        with open(self.at("x.png"), "rb") as file:
            self.assertEqual(file.read(8), b"\x89PNG\r\n\x1a\n")

    def refusal(self, *words):
        run = subprocess.run([SLMSIM, "plot", *words], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(run.returncode, 2, run.stderr)
        self.assertEqual(len(run.stderr.strip().splitlines()[-1:]), 1)
        self.assertNotIn("Traceback", run.stderr)
        return run.stderr

    def test_bad_input_is_told_and_leaves_nothing_behind(self):
        with open(self.at("half.csv"), "w") as file:
            file.write("scenario,model\nx,y\n")
        with open(self.at("nonsense.json"), "w") as file:
            file.write("[1, {")
        before = sorted(os.listdir(self.folder))
        self.assertIn("no column \"technique\"", self.refusal("technique-comparison", "half.csv"))
        self.assertIn("does not read", self.refusal("memory", "nonsense.json"))
        self.assertIn("does not read", self.refusal("gantt", "no-such.json"))
        self.assertIn("known are: gpt2m", self.refusal("breakdown", "all.csv", "--model", "gpt3"))
        self.assertIn(".svg, .png or .pdf", self.refusal("breakdown", "all.csv", "-o", "x.gif"))
        self.assertIn("cannot be written", self.refusal("breakdown", "all.csv", "-o", "/no/such/x.svg"))
        self.assertIn("traceEvents", self.refusal("gantt", "all.json"))
        self.assertIn("did you mean \"memory\"", self.refusal("memry", "all.json"))
        self.assertEqual(sorted(os.listdir(self.folder)), before)

    def test_help(self):
        for figure in {figure for figure, *_ in FIGURES}:
            run = subprocess.run([SLMSIM, "plot", figure.replace("_", "-"), "--help"], capture_output=True, text=True)
            self.assertEqual(run.returncode, 0)
            self.assertIn("usage: slmsim plot " + figure.replace("_", "-"), run.stdout)

    def test_the_script_draws_every_figure_of_the_readme(self):
        with open(os.path.join(SOURCE, "README.md")) as file:
            text = file.read()
        shown = {line.split("plots/figures/")[1].split(")")[0] for line in text.splitlines() if "](plots/figures/" in line}
        self.assertEqual(shown, set(os.listdir(os.path.join(SOURCE, "plots/figures"))))
        self.assertGreater(len(shown), 3)


if __name__ == "__main__":
    unittest.main()
