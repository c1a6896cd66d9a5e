"""The worked examples of docs/examples print what their pages say, and what documentation shows as files runs."""
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import example

EXAMPLES = os.path.join(example.SOURCE, "docs/examples")
HAS_MATPLOTLIB = importlib.util.find_spec("matplotlib") is not None


def read(*parts):
    with open(os.path.join(*parts), encoding="utf-8") as file:
        return file.read()


def folders():
    return sorted(name for name in os.listdir(EXAMPLES) if os.path.isdir(os.path.join(EXAMPLES, name)))


class Examples(unittest.TestCase):
    maxDiff = None

    def test_each_command_prints_what_lies_beside_it(self):
        for name in folders():
            folder = os.path.join(EXAMPLES, name)
            printed = example.run(folder, with_pictures=HAS_MATPLOTLIB)
            expected = set(os.listdir(os.path.join(folder, "expected")))
            texts = {file: text for file, text in printed.items() if isinstance(text, str)}
            self.assertEqual(set(texts), expected, f"{name}: run scripts/update-docs.sh")
            for file, text in texts.items():
                self.assertEqual(text, read(folder, "expected", file), f"{name}/expected/{file}: run scripts/update-docs.sh")

    def test_each_page_names_its_commands(self):
        for name in folders():
            page = read(EXAMPLES, name, "README.md")
            for command in example.commands_of(os.path.join(EXAMPLES, name)):
                self.assertIn("    " + command + "\n", page, name)

    def test_a_page_says_no_times_that_are_not_printed(self):
        for name in folders():
            folder = os.path.join(EXAMPLES, name)
            printed = "\n".join(read(folder, "expected", file) for file in os.listdir(os.path.join(folder, "expected")))
            numbers = set(re.findall(r"[\d.]+\d", printed))
            for time in re.findall(r"\b(\d+\.\d+)\s(?:min|h|d)\b", read(folder, "README.md")):
                self.assertIn(time, numbers, f"{name}/README.md")

    def test_there_are_five(self):
        self.assertEqual([name[0] for name in folders()], list("12345"))


def files_shown(page):
    """Name and text of the files that a page shows: blocks of YAML that begin with their name as a comment."""
    return re.findall(r"```yaml\n# (\S+\.yaml)\n(.*?)```", read(example.SOURCE, page), re.DOTALL)


def write_files(folder, files):
    for name, text in files:
        os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)


class ShownFiles(unittest.TestCase):
    def run_in(self, folder, *words):
        done = subprocess.run([example.SLMSIM, *words], cwd=folder, capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)

    def test_the_readmes_platform_and_scenario_run_when_copied(self):
        files = files_shown("README.md")
        self.assertEqual([name for name, _ in files], ["mine/platform.yaml", "mine/scenario.yaml"])
        with tempfile.TemporaryDirectory() as work:
            write_files(work, files)
            self.run_in(work, "check", "mine/platform.yaml", "mine/scenario.yaml")
            self.run_in(work, "run", "mine/scenario.yaml")

    def test_files_of_the_page_on_scenarios_are_sound(self):
        files = files_shown("docs/scenario.md")
        self.assertGreater(len(files), 3)
        with tempfile.TemporaryDirectory() as work:
            shutil.copytree(os.path.join(example.SOURCE, "scenarios"), os.path.join(work, "scenarios"))
            write_files(work, files)
            self.run_in(work, "check", *(name for name, _ in files))


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    unittest.main()
