#!/usr/bin/python3
"""The result of `cmake --install` works without the source tree, in any folder.

Where this user may mount (root, or user namespaces), an empty folder hides the source tree. Everywhere, a file that only
the installed data have shows that these are read before the source tree's.
"""
import json
import os
import shutil
import signal
import subprocess
import tempfile
import unittest
import urllib.parse
import urllib.request

BINARY, SOURCE = os.environ["SLMSIM_BINARY"], os.environ["SLMSIM_SOURCE_DIR"]
HIDE = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c",
        'mount -t tmpfs none "$0" && exec "$@"', SOURCE]


def may_hide():
    return subprocess.run(HIDE + ["true"], capture_output=True, check=False).returncode == 0


def page_of(program, folder):
    """The answer of slmsim serve to a scenario on a platform that came with it."""
    server = subprocess.Popen([*program, "serve", "--port", "0", "--folder", folder], stdout=subprocess.PIPE, text=True)
    try:
        server.stdout.readline()
        address = urllib.parse.urlsplit(server.stdout.readline().strip())
        origin = f"http://{address.netloc}"
        headers = {"Authorization": "Bearer " + urllib.parse.parse_qs(address.query)["token"][0], "Content-Type": "application/json"}
        for part in ("/", "/main.js", "/report.css"):
            with urllib.request.urlopen(urllib.request.Request(origin + part, headers=headers), timeout=60) as answer:
                assert answer.status == 200 and answer.read()
        question = json.dumps({"scenario": "platform: gat-amst\nmodels: gpt2m\ntraining: {batch: 8, epochs: 1, blocks_per_epoch: 80}\n"}).encode()
        with urllib.request.urlopen(urllib.request.Request(origin + "/api/view", question, headers), timeout=60) as answer:
            return answer.read().decode()
    finally:
        server.send_signal(signal.SIGINT)
        server.wait(60)
        server.stdout.close()


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="slmsim-install-")
        first, cls.place = os.path.join(cls.folder, "first"), os.path.join(cls.folder, "moved")
        subprocess.run(["cmake", "--install", os.path.dirname(BINARY), "--prefix", first, "--component", "slmsim"],
                       check=True, capture_output=True)
        os.rename(first, cls.place)
        cls.data = os.path.join(cls.place, "share/slmsim")
        cls.hide = HIDE if may_hide() else []
        if not cls.hide:
            print("this user may not mount: the source tree stays readable")

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def slmsim(self, *words):
        program = os.path.join(self.place, "bin/slmsim")
        done = subprocess.run(self.hide + [program, *words], cwd=self.folder, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_reads_its_own_data_first(self):
        name = os.path.join(self.data, "models/only-installed.yaml")
        with open(os.path.join(self.data, "models/gpt2m.yaml"), encoding="utf-8") as file, open(name, "w", encoding="utf-8") as own:
            own.write(file.read().replace("name: gpt2m", "name: only-installed"))
        self.assertIn("only-installed", self.slmsim("list", "models"))
        os.remove(name)
        self.assertNotIn("only-installed", self.slmsim("list", "models"))

    def test_lists_what_there_is(self):
        for what in ("models", "gpus", "platforms", "scenarios"):
            self.assertTrue(self.slmsim("list", what))

    def test_runs_a_scenario_by_name_and_by_file(self):
        by_name = self.slmsim("run", "gat-amst", "--set", "models=gpt2m")
        self.assertIn("Pipeshard", by_name)
        file = os.path.join(self.data, "scenarios/gat-amst.yaml")
        self.assertEqual(self.slmsim("run", file, "--set", "models=gpt2m"), by_name)

    def test_says_that_studies_are_validated_by_a_program_of_the_tests(self):
        done = subprocess.run(self.hide + [os.path.join(self.place, "bin/slmsim"), "validate", "fabric"], cwd=self.folder,
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("slmsim-validation", done.stderr)

    def test_brings_man_page_and_completions(self):
        for name in ("man/man1/slmsim.1", "bash-completion/completions/slmsim"):
            with open(os.path.join(self.place, "share", name), encoding="utf-8") as file:
                text = file.read()
            for verb in ("run", "init", "max-model", "completion"):
                self.assertIn(verb.replace("-", "\\-") if name.endswith(".1") else verb, text, name)

    def test_writes_a_cluster_that_runs(self):
        folder = os.path.join(self.folder, "mine")
        self.slmsim("init", "--gpu", "desk=rtx3090", "--gpu", "rented=a100-40", folder)
        self.assertIn("desk+rented", self.slmsim("run", os.path.join(folder, "scenario.yaml")))

    def test_serves_the_page(self):
        self.assertIn("Train gpt2m with ", page_of([*self.hide, os.path.join(self.place, "bin/slmsim")], self.folder))

    def test_imports_the_python_module(self):
        modules = os.path.join(self.place, "lib/python3/dist-packages")
        if not os.path.isdir(modules):
            self.skipTest("the Python module was not built")
        script = ("import slmsim; run = slmsim.load('gat-amst', {'models': 'gpt2m'}).run(); print(run.to_csv(), end='')\n"
                  "import importlib.util\n"
                  "if importlib.util.find_spec('matplotlib'): run.plot().save('module.svg')")
        done = subprocess.run(self.hide + ["/usr/bin/python3", "-B", "-c", script], cwd=self.folder, capture_output=True, text=True,
                              env={**os.environ, "PYTHONPATH": modules}, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout, self.slmsim("run", "gat-amst", "--set", "models=gpt2m", "--format", "csv"))

    def test_plots(self):
        try:
            import matplotlib  # noqa: F401
        except ImportError:
            self.skipTest("python3-matplotlib is missing")
        table, figure = os.path.join(self.folder, "all.csv"), os.path.join(self.folder, "all.svg")
        self.slmsim("run", "gat-amst", "--set", "models=gpt2m", "--format", "csv", "--output", table)
        self.slmsim("plot", "technique-comparison", table, "-o", figure)
        self.assertTrue(os.path.getsize(figure))


class Packaged(unittest.TestCase):
    """The package of `cpack -G DEB`, unpacked: it depends on the libraries that it needs, and runs without the source tree."""

    @classmethod
    def setUpClass(cls):
        if not shutil.which("dpkg-shlibdeps"):
            raise unittest.SkipTest("dpkg-dev is missing")
        cls.folder = tempfile.mkdtemp(prefix="slmsim-package-")
        subprocess.run(["cpack", "-G", "DEB", "-B", cls.folder], cwd=os.path.dirname(BINARY), check=True,
                       capture_output=True)
        cls.package, = (os.path.join(cls.folder, name) for name in os.listdir(cls.folder) if name.endswith(".deb"))
        cls.root = os.path.join(cls.folder, "root")
        subprocess.run(["dpkg", "-x", cls.package, cls.root], check=True)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def field(self, name):
        return subprocess.run(["dpkg-deb", "-f", self.package, name], check=True, capture_output=True, text=True).stdout

    def test_depends_on_its_libraries(self):
        for library in ("libsimgrid", "coinor-libcbc", "libcpp-httplib", "libyaml-cpp", "libfmt", "libc6"):
            self.assertIn(library, self.field("Depends"))

    def test_says_what_it_is(self):
        self.assertEqual(self.field("Package").strip(), "slmsim")
        self.assertIn("predicts", self.field("Description"))

    def test_runs_where_it_lies(self):
        hide = HIDE if may_hide() else []
        program = os.path.join(self.root, "usr/bin/slmsim")
        for words in (["list", "gpus"], ["run", "gat-amst", "--set", "models=gpt2m", "-t", "Data"]):
            done = subprocess.run(hide + [program, *words], cwd=self.folder, capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertTrue(done.stdout)
        self.assertIn("Train gpt2m with ", page_of([*hide, program], self.folder))

    def test_imports_the_python_module_where_it_lies(self):
        modules = os.path.join(self.root, "usr/lib/python3/dist-packages")
        if not os.path.isdir(modules):
            self.skipTest("the Python module was not built")
        for name in ("_core.pyi", "py.typed"):
            self.assertTrue(os.path.exists(os.path.join(modules, "slmsim", name)), name)
        hide = HIDE if may_hide() else []
        script = "import slmsim; print(slmsim.__file__); print(slmsim.load('gat-amst', {'models': 'gpt2m'}).run().to_csv(), end='')"
        done = subprocess.run(hide + ["/usr/bin/python3", "-B", "-c", script], cwd=self.folder, capture_output=True, text=True,
                              env={**os.environ, "PYTHONPATH": modules}, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        program = subprocess.run(hide + [os.path.join(self.root, "usr/bin/slmsim"), "run", "gat-amst", "--set", "models=gpt2m", "--format", "csv"],
                                 cwd=self.folder, capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout, f"{modules}/slmsim/__init__.py\n{program.stdout}")


if __name__ == "__main__":
    unittest.main()
