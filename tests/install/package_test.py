#!/usr/bin/python3
"""Sources of packages: the Dockerfile installs what scripts/setup.sh lists, the wheel contains what a Python
environment needs and runs from there, and `import slmsim` without the compiled module says what to install."""
import base64
import hashlib
import importlib.machinery
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

BUILD, SOURCE = os.path.dirname(os.environ["SLMSIM_BINARY"]), os.environ["SLMSIM_SOURCE_DIR"]
MODULE = "_core" + importlib.machinery.EXTENSION_SUFFIXES[0]
PYTHON = f"python{sys.version_info.major}.{sys.version_info.minor}"


def listed(*names):
    """Lists of scripts/setup.sh."""
    script = f'source "$0"; echo {" ".join(f"${{{name}[@]}}" for name in names)}'
    return subprocess.run(["bash", "-c", script, os.path.join(SOURCE, "scripts/setup.sh")], check=True, capture_output=True,
                          text=True).stdout.split()


class Dockerfile(unittest.TestCase):
    def test_installs_the_packages_that_a_build_needs(self):
        with open(os.path.join(SOURCE, "Dockerfile"), encoding="utf-8") as file:
            text = re.sub(r"^#.*\n", "", file.read(), flags=re.MULTILINE).replace("\\\n", " ")
        build, final = re.findall(r"^FROM debian:12-slim\b.*?apt-get install -y --no-install-recommends ([^&]*)", text,
                                  re.MULTILINE | re.DOTALL)
        self.assertEqual(build.split(), listed("build_packages", "package_packages"))
        self.assertEqual(final.split(), ["/tmp/package/slmsim_*.deb"])


class Import(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="slmsim-import-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.package = os.path.join(self.folder, "slmsim")
        shutil.copytree(os.path.join(SOURCE, "python/slmsim"), self.package, ignore=shutil.ignore_patterns("*.so", "__pycache__"))

    def refused(self):
        done = subprocess.run([sys.executable, "-B", "-c", "import slmsim"], cwd=self.folder, capture_output=True, text=True,
                              check=False)
        self.assertEqual(done.returncode, 1)
        error = done.stderr[done.stderr.index("\nImportError: ") + 1:]
        self.assertNotIn("circular", error)
        return error

    def test_says_what_to_install(self):
        error = self.refused()
        self.assertEqual([line for line in error.splitlines() if len(line) >= 100], [])
        self.assertIn(f"{MODULE} is missing in\n  {self.package}\n", error)
        self.assertIn(f"apt-get install {' '.join(listed('module_packages'))}\n", error)
        self.assertIn("  cmake build && cmake --build build --target slmsim_python\n", error)

    def test_names_the_python_that_the_module_is_for(self):
        other = "_core.cpython-399-x86_64-linux-gnu.so"
        with open(os.path.join(self.package, other), "wb"):
            pass
        error = self.refused()
        self.assertIn(f"which has one for another Python ({other})", error)
        self.assertIn(f"  cmake -DPython3_EXECUTABLE={sys.executable} build && ", error)

    def test_does_not_hide_why_a_module_does_not_load(self):
        with open(os.path.join(self.package, MODULE), "wb") as file:
            file.write(b"no library")
        self.assertNotIn("is missing", self.refused())


@unittest.skipUnless(os.path.exists(os.path.join(BUILD, "python/slmsim", MODULE)), "the Python module was not built")
class Wheel(unittest.TestCase):
    """The wheel of this build tree, unpacked as pip unpacks one."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="slmsim-wheel-")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        backend = os.path.join(SOURCE, "python/wheel_backend.py")
        done = subprocess.run([sys.executable, "-B", backend, cls.folder, BUILD], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        cls.wheel = zipfile.ZipFile(os.path.join(cls.folder, done.stdout.strip()))
        cls.addClassCleanup(cls.wheel.close)
        cls.name = done.stdout[:done.stdout.index("-cp")]

    def unpack(self, packages, scripts, rest):
        """Into a folder, with these places for what a wheel holds."""
        root = tempfile.mkdtemp(dir=self.folder)
        for entry in self.wheel.infolist():
            place = entry.filename
            for begin, to in ((f"{self.name}.data/scripts", scripts), (f"{self.name}.data/data", rest), ("", packages)):
                if place.startswith(begin):
                    place = os.path.normpath(os.path.join(root, to, place[len(begin):].lstrip("/")))
                    break
            os.makedirs(os.path.dirname(place), exist_ok=True)
            with open(place, "wb") as file:
                file.write(self.wheel.read(entry))
            os.chmod(place, entry.external_attr >> 16)
        return root

    def test_records_every_file(self):
        recorded = set()
        for line in self.wheel.read(f"{self.name}.dist-info/RECORD").decode().splitlines():
            name, digest, size = line.rsplit(",", 2)
            recorded.add(name)
            if not name.endswith("/RECORD"):
                content = self.wheel.read(name)
                self.assertEqual(len(content), int(size))
                expected = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
                self.assertEqual(digest, "sha256=" + expected)
        self.assertEqual(recorded, set(self.wheel.namelist()))
        self.assertEqual(len(recorded), len(self.wheel.namelist()))

    def test_contains_what_an_installation_has(self):
        for name in ("slmsim/" + MODULE, "slmsim/py.typed", "slmsim/figures/sweep.py", f"{self.name}.data/scripts/slmsim",
                     f"{self.name}.data/data/share/slmsim/models/gpt2m.yaml", f"{self.name}.data/data/share/slmsim/plots/sweep.py",
                     f"{self.name}.data/data/share/man/man1/slmsim.1"):
            self.assertIn(name, self.wheel.namelist())
        libraries = {os.path.basename(name) for name in self.wheel.namelist() if name.endswith(".so")}
        self.assertEqual(libraries, {MODULE, "libslmsim_cbc.so", "libslmsim_http.so", "libslmsim_simgrid.so"})

    def test_runs_in_an_environment_and_in_one_folder(self):
        for packages, scripts, rest in ((f"lib/{PYTHON}/site-packages", "bin", "."), (".", "bin", ".")):
            root = self.unpack(packages, scripts, rest)
            own = os.path.join(root, rest, "share/slmsim/scenarios/only-here.yaml")
            shutil.copy(os.path.join(SOURCE, "scenarios/gat-amst.yaml"), own)
            # CBC and SimGrid are behind the libraries that module and program load.
            words = ["--set", "models=gpt2m", "-t", "Pipeshard", "--format", "csv"]
            program = subprocess.run([os.path.join(root, scripts, "slmsim"), "run", "only-here", *words], cwd=self.folder,
                                     capture_output=True, text=True, check=False)
            self.assertEqual(program.returncode, 0, program.stderr)
            script = ("import slmsim; print(slmsim.__file__); import slmsim.figures\n"
                      "print(slmsim.load('only-here', {'models': 'gpt2m'}).run(techniques='Pipeshard').to_csv(), end='')")
            module = subprocess.run([sys.executable, "-B", "-c", script], cwd=self.folder, capture_output=True, text=True,
                                    env={**os.environ, "PYTHONPATH": os.path.join(root, packages)}, check=False)
            self.assertEqual(module.returncode, 0, module.stderr)
            file = os.path.normpath(os.path.join(root, packages, "slmsim/__init__.py"))
            self.assertEqual(module.stdout, f"{file}\n{program.stdout}")


if __name__ == "__main__":
    unittest.main()
