#!/usr/bin/python3
"""The Python package: it tells what the program prints to the byte, errors with their places, ends when it is interrupted,
lets others run meanwhile, and leaves no trace.

Skipped (exit status 77) where it was not built.
"""
import glob
import json
import multiprocessing
import os
import pickle
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import xml.etree.ElementTree as ElementTree

SLMSIM, SOURCE = os.environ["SLMSIM_BINARY"], os.environ["SLMSIM_SOURCE_DIR"]
PACKAGE = os.path.join(os.path.dirname(SLMSIM), "python")
if not glob.glob(os.path.join(PACKAGE, "slmsim/_core.*.so")):
    print("skipped: the Python module was not built")
    sys.exit(77)
sys.dont_write_bytecode = True
sys.path.insert(0, PACKAGE)
import slmsim  # noqa: E402

SCENARIO = os.path.join(SOURCE, "scenarios/gat-amst.yaml")
ONE = {"models": "gpt2m", "groups": "all"}
# More than a search ends in, whatever the machine: 1.1 million choices.
LARGE = os.path.join(SOURCE, "scenarios/large/plan-64.yaml")
RUNS = "model,technique,group,what,value\ngpt2m,Data,gat,iteration,1.31 s\ngpt2m,Shard,gat,fits,yes\n"


def has(module):
    try:
        __import__(module)
        return True
    except ImportError:
        return False


def printed(*words, folder=SOURCE):
    done = subprocess.run([SLMSIM, *words], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


class InFolder(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="slmsim-python-")
        self.addCleanup(shutil.rmtree, self.folder)

    def write(self, name, text):
        with open(self.at(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.at(name)

    def read(self, name):
        with open(self.at(name), encoding="utf-8") as file:
            return file.read()

    def at(self, name):
        return os.path.join(self.folder, name)


class TellsWhatTheProgramPrints(InFolder):
    def test_run(self):
        for name in ("gat-amst", "xe8545-1", "far-apart", "spot-job"):
            with self.subTest(name):
                run = slmsim.load(name).run(links=True)
                self.assertEqual(run.to_json(), printed("run", name, "--format", "json"))
                self.assertEqual(slmsim.load(name).run().to_csv(), printed("run", name, "--format", "csv"))
        only = slmsim.load(SCENARIO, ONE).run(techniques="Data")
        self.assertEqual(only.to_csv(), printed("run", SCENARIO, "--set", "models=gpt2m", "--set", "groups=all",
                                                "--technique", "Data", "--format", "csv"))

    def test_run_after_overrides(self):
        base = slmsim.load(SCENARIO, ONE)
        for rtt in ("1 ms", "57.4 ms"):
            run = base.override({"platform.links.wan.rtt": rtt, "training.batch": 16}).run()
            self.assertEqual(run.to_csv(), printed("run", SCENARIO, "--set", "models=gpt2m", "--set", "groups=all", "--set",
                                                   f"platform.links.wan.rtt={rtt}", "--set", "training.batch=16",
                                                   "--format", "csv"))

    def test_table(self):
        run = slmsim.load(SCENARIO, ONE).run()
        self.assertEqual(run.to_table(), printed("run", SCENARIO, "--set", "models=gpt2m", "--set", "groups=all"))

    def test_intervals(self):
        run = slmsim.load(SCENARIO, ONE).run(techniques=["Data", "Shard"], intervals=True, seed=3)
        self.assertEqual(run.to_csv(), printed("run", SCENARIO, "--set", "models=gpt2m", "--set", "groups=all", "-t", "Data",
                                               "-t", "Shard", "--intervals", "--seed", "3", "--format", "csv"))

    def test_trace(self):
        printed("run", SCENARIO, "--set", "models=gpt2m", "--set", "groups=all", "--trace", self.at("trace.json"))
        run = slmsim.load(SCENARIO, ONE).run()
        self.assertEqual(run.trace(), self.read("trace.json"))
        with self.assertRaisesRegex(ValueError, "no prediction of technique Data, group gat runs"):
            run.trace(technique="Data", group="gat")

    def test_explain(self):
        told = slmsim.load(SCENARIO, ONE).explain(techniques="Data")
        words = ("explain", SCENARIO, "--set", "models=gpt2m", "--set", "groups=all", "--technique", "Data")
        self.assertEqual(told.to_json(), printed(*words, "--format", "json"))
        self.assertEqual(told.to_table(), printed(*words))

    def test_plan(self):
        plan = slmsim.load(SCENARIO, {"models": "gpt2m"}).plan(technique="Data")
        words = ("plan", SCENARIO, "--time-limit", "600", "--set", "models=gpt2m", "--technique", "Data")
        self.assertEqual(plan.to_json(), printed(*words, "--format", "json"))
        best = plan.scenario().run()
        self.assertEqual([round(p["minutes"], 6) for p in best.predictions], [round(plan.frame["minutes"][0], 6)])
        for words, told in (((1,), r"there is no model 1; known are \['gpt2m'\]"),
                            ((None, 0), "there is no plan 0 of gpt2m; it has [0-9]+")):
            with self.assertRaisesRegex(ValueError, told):
                plan.scenario(*words)

    def test_sweep(self):
        text = f"scenario: {SCENARIO}\nset: {{models: gpt2m, groups: all}}\naxes:\n" \
               "  - {key: platform.links.wan.rtt, values: [1 ms, 10 ms]}\n  - {key: training.batch, values: [8, 16]}\n"
        file = self.write("sweep.yaml", text)
        printed("sweep", file, "-o", self.at("program.csv"))
        axes = {"platform.links.wan.rtt": ["1 ms", "10 ms"], "training.batch": [8, 16]}
        for sweep in (slmsim.sweep(file), slmsim.load(SCENARIO, ONE).sweep(axes, jobs=1)):
            self.assertEqual(sweep.to_csv(), self.read("program.csv"))
            self.assertIsNone(sweep.files)
        kept = slmsim.sweep(file, output=self.at("kept"))
        self.assertEqual([path.name for path in kept.files], ["kept.csv", "kept.jsonl"])
        self.assertEqual(self.read("kept.csv"), self.read("program.csv"))

    def test_keys_that_move_together(self):
        sweep = slmsim.load(SCENARIO, ONE).sweep({("training.batch", "training.epochs"): [(8, 20), (16, 40)]})
        if has("pandas"):
            self.assertEqual(sorted(set(zip(sweep.frame["training.batch"], sweep.frame["training.epochs"]))),
                             [(8, 20), (16, 40)])

    def test_fit(self):
        measured = self.write("runs.csv", RUNS)
        printed("fit", SCENARIO, "--measured", measured, "--points", "16", "-o", self.at("fitted.yaml"), "--set",
                "models=gpt2m")
        scenario = slmsim.load(SCENARIO, {"models": "gpt2m"})
        fit = scenario.fit(measured, points=16)
        self.assertEqual(fit.to_yaml(), self.read("fitted.yaml"))
        self.assertEqual([(run["group"], run["what"], run["measured"]) for run in fit.data["runs"]],
                         [(["gat"], "iteration", 1.31), (["gat"], "fits", 1)])
        self.assertIn({"path": "training.batch", "before": "4 or 8 or 16"},
                      [{key: one[key] for key in ("path", "before")} for one in fit.data["unknowns"]])
        for one in fit.data["unknowns"]:
            self.assertIn(one["value"], fit.to_table())
            self.assertTrue("shares" in one or one["low"] <= one["median"] <= one["high"], one)
        words = ("run", SCENARIO, "--set", "models=gpt2m", "--fitted", self.at("fitted.yaml"), "-t", "Data", "--format", "csv")
        self.assertEqual(scenario.run(techniques="Data", fitted=fit).to_csv(), printed(*words))

    def test_techniques(self):
        self.assertEqual(slmsim.techniques(), json.loads(printed("list", "techniques", "--format", "json")))


class Values(unittest.TestCase):
    def test_a_scenario_never_changes(self):
        base = slmsim.load(SCENARIO, ONE)
        before = base.run().to_json()
        other = base.override({"training.batch": 16}).override({"training.batch": 32})
        self.assertEqual(other.set, ("models=gpt2m", "groups=all", "training.batch=32"))
        self.assertEqual(base.set, ("models=gpt2m", "groups=all"))
        self.assertNotEqual(other.run().to_json(), before)
        self.assertEqual(base.run().to_json(), before)

    def test_names(self):
        scenario = slmsim.load("gat-amst")
        self.assertEqual(scenario.groups, ("gat+amst", "gat", "amst"))
        self.assertIn("gpt2m", scenario.models)
        self.assertIn("Pipeshard", scenario.techniques)
        self.assertEqual(scenario.name, "gat-amst")

    def test_picks(self):
        run = slmsim.load(SCENARIO, {"models": "gpt2m"}).run()
        pick = run.picks["gpt2m"]
        self.assertEqual((pick.technique, pick.group, pick.algorithm), ("Data", ("gat",), "amended"))
        self.assertIn("pick Data on gat", pick.steps)
        self.assertIn("gpt2m: Data on gat", repr(run))

    def test_numbers_of_every_form_agree(self):
        """Columns and JSON have nine digits of one number each, whose last may be rounded from either side."""
        if not has("pandas"):
            self.skipTest("python3-pandas is missing")
        run = slmsim.load(SCENARIO).run()
        self.assertEqual(len(run.frame), len(run.predictions))
        for (_, row), one in zip(run.frame.iterrows(), run.predictions):
            self.assertEqual((row["technique"], row["group"], row["status"]),
                             (one["technique"], "+".join(one["group"]), one["status"]))
            if one["iteration_s"] > 0:
                self.assertEqual(row["iteration_s"], one["iteration_s"])

    def test_frames_keep_texts_and_numbers(self):
        if not has("pandas"):
            self.skipTest("python3-pandas is missing")
        frame = slmsim.load(SCENARIO).run().frame
        self.assertEqual(frame["minutes"].dtype, "float64")
        self.assertTrue((frame[frame["status"] == "ok"]["reason"] == "").all())

    def test_threads_get_the_same(self):
        scenario = slmsim.load(SCENARIO, {"models": "gpt2m"})
        alone, found = scenario.run().to_json(), [None] * 4

        def work(index):
            found[index] = scenario.run().to_json()

        threads = [threading.Thread(target=work, args=(index,)) for index in range(len(found))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(found, [alone] * len(found))

    def test_a_forked_process_gets_the_same(self):
        scenario = slmsim.load(SCENARIO, ONE)
        alone = scenario.run().to_csv()
        with multiprocessing.get_context("fork").Pool(1) as pool:
            self.assertEqual(pool.apply(lambda_free_run), alone)


def lambda_free_run():
    return slmsim.load(SCENARIO, ONE).run().to_csv()


class Errors(InFolder):
    def test_all_at_once_with_their_places(self):
        file = self.write("wrong.yaml", f"extends: {SCENARIO}\ntraining:\n  batch: many\n  epoch: 3\n")
        with self.assertRaises(slmsim.InputError) as caught:
            slmsim.load(file)
        error = caught.exception
        self.assertEqual([(p.file, p.line, p.column) for p in error.problems], [(file, 3, 10), (file, 4, 3)])
        self.assertEqual((error.file, error.line, error.column), (file, 3, 10))
        self.assertIn('did you mean "epochs"', error.problems[1].text)
        told = subprocess.run([SLMSIM, "run", file], capture_output=True, text=True, check=False).stderr
        self.assertEqual(str(error) + "\n", told)
        self.assertEqual(pickle.loads(pickle.dumps(error)).problems, error.problems)

    def test_columns_count_letters(self):
        file = self.write("wrong.yaml", f"extends: {SCENARIO}\ndescription: \u00fcber\ntraining: {{name\u00fc: 1, batch: x}}\n")
        with self.assertRaises(slmsim.InputError) as caught:
            slmsim.load(file)
        # "training: {" are 11 letters, "name\u00fc: 1, " 10 and "batch: " 7.
        self.assertEqual([(p.line, p.column) for p in caught.exception.problems], [(3, 29), (3, 12)])

    def test_of_overrides_and_names(self):
        scenario = slmsim.load(SCENARIO, ONE)
        for wrong, file, text in (({"training.batch": "x"}, "--set training.batch=x", "batch"),
                                  ({"trainin.batch": 8}, "--set trainin.batch=8", "trainin")):
            with self.subTest(wrong), self.assertRaises(slmsim.InputError) as caught:
                scenario.override(wrong)
            self.assertTrue(caught.exception.file.startswith("--set"), caught.exception.file)
            self.assertIn(text, str(caught.exception))
        with self.assertRaisesRegex(slmsim.InputError, 'did you mean "Data"'):
            scenario.run(techniques="Dat")
        with self.assertRaisesRegex(slmsim.InputError, "has no model"):
            scenario.run(models="gpt2z")
        with self.assertRaisesRegex(slmsim.InputError, "no-such-file"):
            slmsim.load("./no-such-file.yaml")
        for call, told in ((lambda: scenario.run(intervals=True, level=2), 'level: "2" is out of range; expected one from 0.5'),
                           (lambda: scenario.plan(effort=-1), 'effort: "-1" is out of range; expected one from 1e-06'),
                           (lambda: scenario.plan(list=0), 'list: "0" is out of range; expected one from 1 to 100'),
                           (lambda: scenario.fit(self.write("runs.csv", RUNS), points=1), 'points: "1" is out of range')):
            with self.subTest(told), self.assertRaisesRegex(slmsim.InputError, told):
                call()
        with self.assertRaisesRegex(slmsim.InputError, "objective"):
            scenario.plan(objective="joy")
        with self.assertRaises(TypeError):
            scenario.run(links="yes please", models=3)


class Interrupts(InFolder):
    """No time is measured: each of these would go on for longer than ctest waits."""

    def interrupted(self, work, begun=None):
        """By a signal soon, or once `begun` is set."""

        def signal_soon():
            begun.wait() if begun else time.sleep(0.3)
            os.kill(os.getpid(), signal.SIGINT)

        thread = threading.Thread(target=signal_soon)
        thread.start()
        with self.assertRaises(KeyboardInterrupt):
            while True:  # a run may be over before the signal
                work()
        thread.join()
        self.assertEqual(len(slmsim.load(SCENARIO, ONE).run(techniques="Data").predictions), 1)

    def test_plan(self):
        self.interrupted(lambda: slmsim.load(LARGE).plan(effort=1e4))

    def test_run_and_explain(self):
        self.interrupted(lambda: slmsim.load(SCENARIO).run())
        self.interrupted(lambda: slmsim.load(SCENARIO).explain())

    def test_sweep_goes_on_where_it_was(self):
        axes = {"platform.links.wan.rtt": [f"{i / 10} ms" for i in range(1, 1500)]}
        scenario, done, begun = slmsim.load(SCENARIO, {**ONE, "techniques": "Data"}), [], threading.Event()

        def tell(so_far, _):
            if so_far > 0:
                begun.set()

        self.interrupted(lambda: scenario.sweep(axes, output=self.at("long"), progress=tell), begun)
        self.assertTrue(os.path.exists(self.at("long.journal")))

        class Enough(Exception):
            pass

        def look(so_far, _):
            done.append(so_far)
            raise Enough

        with self.assertRaises(Enough):  # what progress raises ends the work
            scenario.sweep(axes, output=self.at("long"), progress=look)
        self.assertGreater(done[0], 0)

    def test_fit(self):
        measured = self.write("runs.csv", RUNS)
        self.interrupted(lambda: slmsim.load(SCENARIO, {"models": "gpt2m"}).fit(measured, points=4096))

    def test_others_run_meanwhile(self):
        """Between two reports of progress another thread has run, which it cannot where the lock is held."""
        counted, seen, stop = [0], [], threading.Event()

        def count():
            while not stop.is_set():
                counted[0] += 1

        thread = threading.Thread(target=count)
        thread.start()
        slmsim.load(SCENARIO, {"models": "gpt2m"}).explain(progress=lambda *_: seen.append(counted[0]))
        stop.set()
        thread.join()
        self.assertGreater(len(set(seen)), 1)

    def test_a_process_need_not_wait_for_work_that_was_interrupted(self):
        """To explain 512 GPUs takes minutes."""
        file = os.path.join(SOURCE, "scenarios/large/selene-1t.yaml")
        script = (f"import os, signal, sys, threading\nsys.path.insert(0, {PACKAGE!r})\nimport slmsim\n"
                  "threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()\n"
                  "try:\n"
                  f"    while True: slmsim.load({file!r}).explain()\n"
                  "except KeyboardInterrupt:\n"
                  "    print('interrupted')\n"
                  "    sys.exit(7)\n")
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=600, check=False)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (7, "interrupted\n", ""))

    def test_no_process_is_left(self):
        self.test_plan()
        for _ in range(300):  # a busy machine may take a while to end them
            children = subprocess.run(["ps", "--ppid", str(os.getpid()), "-o", "comm="], capture_output=True, text=True, check=False)
            left = [name for name in children.stdout.split() if name != "ps"]
            if not left:
                break
            time.sleep(0.1)
        self.assertEqual(left, [])


@unittest.skipUnless(has("matplotlib") and has("pandas"), "python3-matplotlib or python3-pandas is missing")
class Pictures(InFolder):
    def test_are_those_of_the_scripts(self):
        run = slmsim.load(SCENARIO, {"models": "gpt2m"}).run()
        self.write("run.csv", run.to_csv())
        self.write("run.json", run.to_json())
        self.write("trace.json", run.trace())
        for figure, data, options in (("technique-comparison", "run.csv", {}), ("breakdown", "run.csv", {}),
                                      ("memory", "run.json", {"model": "gpt2m"}), ("gantt", "trace.json", {}),
                                      ("breakdown", "run.csv", {"where": {"group": "gat"}})):
            with self.subTest(figure):
                run.plot(figure, **options).save(self.at("module.svg"))
                where = [f"{k}={v}" for k, v in options.get("where", {}).items()]
                printed("plot", figure, self.at(data), *(["--where", *where] if where else []), "-o", self.at("program.svg"))
                self.assertEqual(self.read("module.svg"), self.read("program.svg"))

    def test_notebooks_get_them(self):
        scenario = slmsim.load(SCENARIO, ONE)
        run, sweep = scenario.run(), scenario.sweep({"training.batch": [8, 16]})
        for shown in (run, sweep, scenario.explain(techniques="Data"), scenario.plan(technique="Data")):
            ElementTree.fromstring(shown._repr_html_())
        picture = sweep.plot()
        self.assertEqual(ElementTree.fromstring(picture._repr_svg_()).tag, "{http://www.w3.org/2000/svg}svg")
        self.assertTrue(picture._repr_png_().startswith(b"\x89PNG"))

    def test_leave_matplotlib_as_it_was(self):
        script = ("import sys, matplotlib\nbefore, backend = dict(matplotlib.rcParams), matplotlib.rcParams._get('backend')\n"
                  f"sys.path.insert(0, {PACKAGE!r})\nimport slmsim\n"
                  f"slmsim.load({SCENARIO!r}, {ONE!r}).run().plot()._repr_svg_()\n"
                  "assert dict(matplotlib.rcParams) == before\nassert 'matplotlib.pyplot' not in sys.modules\n")
        if not hasattr(__import__("matplotlib").rcParams, "_get"):
            script = script.replace("matplotlib.rcParams._get('backend')", "None")
        subprocess.run([sys.executable, "-c", script], check=True)

    def test_say_what_they_cannot_draw(self):
        run = slmsim.load(SCENARIO, ONE).run()
        with self.assertRaisesRegex(ValueError, "there is no figure 'pie' of this; there are: technique-comparison"):
            run.plot("pie")
        with self.assertRaisesRegex(TypeError, "the figure breakdown has no option 'colour'; it has: model, where"):
            run.plot("breakdown", colour="red")
        with self.assertRaisesRegex(ValueError, 'no model "gpt9"'):
            run.plot(model="gpt9")


CONFIG = """[mypy]
strict = True
disallow_untyped_calls = False
[mypy-pandas.*]
ignore_missing_imports = True
[mypy-slmsim.figures.*]
follow_imports = skip
ignore_errors = True
"""


@unittest.skipUnless(shutil.which("stubtest") and has("mypy"), "mypy is missing")
class Types(InFolder):
    def checked(self, *words):
        environment = {**os.environ, "MYPYPATH": PACKAGE, "PYTHONPATH": PACKAGE, "MYPY_CACHE_DIR": self.at("cache")}
        done = subprocess.run(words, cwd=self.folder, env=environment, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_stubs_are_as_the_module_is(self):
        config = self.write("mypy.ini", CONFIG)
        # Members that pybind11 adds to every class.
        allowed = self.write("allowed", "slmsim._core.Run\nslmsim._core.Run.__init__\nslmsim._core.Scenario\n")
        self.checked("stubtest", "slmsim._core", "--mypy-config-file", config, "--allowlist", allowed)

    def test_the_package_and_its_examples_are_typed(self):
        config = self.write("mypy.ini", CONFIG)
        examples = os.path.join(SOURCE, "examples")
        mypy = (sys.executable, "-m", "mypy", "--config-file", config, "--python-executable", sys.executable)
        self.checked(*mypy, "-p", "slmsim")
        for name in sorted(name for name in os.listdir(examples) if name.endswith(".py")):
            self.checked(*mypy, os.path.join(examples, name))


if __name__ == "__main__":
    unittest.main()
