#!/usr/bin/python3
"""Every test that ctest lists is named in words: no addresses, no bytes, no expressions. No two files' names differ in
case only, which a disk may not tell apart."""
import os
import re
import subprocess
import unittest

BUILD = os.path.dirname(os.environ["SLMSIM_BINARY"])
WORDS = re.compile(r"[\w./+-]+(<[\w, :]+>)?")


ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Files(unittest.TestCase):
    def test_differ_in_more_than_case(self):
        for folder, folders, files in os.walk(ROOT):
            folders[:] = [name for name in folders if not name.startswith((".", "build"))]
            names = folders + files
            self.assertEqual(len({name.lower() for name in names}), len(names), folder)


class Names(unittest.TestCase):
    def test_are_words(self):
        listed = subprocess.run(["ctest", "--test-dir", BUILD, "-N"], check=True, capture_output=True, text=True).stdout
        names = re.findall(r"^ *Test +#\d+: (.*)$", listed, re.MULTILINE)
        self.assertGreater(len(names), 20)
        self.assertEqual([name for name in names if not WORDS.fullmatch(name)], [])


if __name__ == "__main__":
    unittest.main()
