#!/usr/bin/python3
"""Every script and notebook of examples/ runs, says what it must, and is stored without outputs.

Skipped (exit status 77) where the Python module was not built or pandas is missing. $SLMSIM_EXAMPLES_OUT names a folder for
the executed notebooks, to look at.
"""
import glob
import os
import pathlib
import subprocess
import sys
import unittest

SLMSIM, SOURCE = os.environ["SLMSIM_BINARY"], os.environ["SLMSIM_SOURCE_DIR"]
PACKAGE = os.path.join(os.path.dirname(SLMSIM), "python")
EXAMPLES = pathlib.Path(SOURCE, "examples")
if not glob.glob(os.path.join(PACKAGE, "slmsim/_core.*.so")):
    print("skipped: the Python module was not built")
    sys.exit(77)
try:
    import matplotlib  # noqa: F401
    import pandas  # noqa: F401
except ImportError:
    print("skipped: python3-pandas or python3-matplotlib is missing")
    sys.exit(77)
ENVIRONMENT = {**os.environ, "PYTHONPATH": PACKAGE, "PYTHONDONTWRITEBYTECODE": "1", "PYDEVD_DISABLE_FILE_VALIDATION": "1"}
# Output of an example that its surrounding text claims.
SCRIPTS = {"sweep.py": "ms on the two GPUs of gat alone are faster than all four", "fit.py": "training.batch"}
NOTEBOOKS = {"study.ipynb": ["both / one", "pick Data on gat", "Data on gat"],
             "own_cluster.ipynb": ["28 parsecs", "minutes_low", "<svg"]}


class Examples(unittest.TestCase):
    def test_each_is_tested(self):
        self.assertEqual(sorted(path.name for path in EXAMPLES.glob("*.*")), sorted([*SCRIPTS, *NOTEBOOKS]))

    def test_scripts(self):
        for name, needed in SCRIPTS.items():
            with self.subTest(name):
                done = subprocess.run([sys.executable, EXAMPLES / name], env=ENVIRONMENT, capture_output=True, text=True,
                                      check=False)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn(needed, done.stdout)

    def test_notebooks(self):
        try:
            import ipykernel  # noqa: F401
            import nbclient
            import nbformat
        except ImportError:
            self.skipTest("python3-nbclient or python3-ipykernel is missing")
        os.environ.update(ENVIRONMENT)
        for name, needed in NOTEBOOKS.items():
            with self.subTest(name):
                notebook = nbformat.read(EXAMPLES / name, as_version=4)
                code = [cell for cell in notebook.cells if cell.cell_type == "code"]
                self.assertTrue(all(cell.outputs == [] and cell.execution_count is None for cell in code),
                                "outputs are stored; clear them: jupyter nbconvert --clear-output --inplace")
                nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
                folder = os.environ.get("SLMSIM_EXAMPLES_OUT")
                if folder:
                    nbformat.write(notebook, os.path.join(folder, name))
                text = "\n".join(str(output) for cell in code for output in cell.outputs)
                for word in needed:
                    self.assertIn(word, text)


if __name__ == "__main__":
    unittest.main()
