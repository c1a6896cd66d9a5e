#!/usr/bin/python3
"""Every test that ctest lists is named in words: no addresses, no bytes, no expressions. No two files' names differ in
case only, which a disk may not tell apart. Pages and messages are free of phrases that readers stumble over."""
import os
import re
import subprocess
import unittest

BUILD = os.path.dirname(os.environ["SLMSIM_BINARY"])
WORDS = re.compile(r"[\w./+-]+(<[\w, :]+>)?")

STUMBLES = re.compile(r"\b(so many|as many|is told|tells of|nobody stated|asks for|comes out|what stands above|all else|"
                      r"within so much|on the mean)\b", re.IGNORECASE)

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Files(unittest.TestCase):
    def test_differ_in_more_than_case(self):
        for folder, folders, files in os.walk(ROOT):
            folders[:] = [name for name in folders if not name.startswith((".", "build"))]
            names = folders + files
            self.assertEqual(len({name.lower() for name in names}), len(names), folder)


def prose(page):
    """The lines of a page but for code and what the program prints, between marks."""
    code = printed = False
    with open(page, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            mark = re.fullmatch(r"<!-- (/?)[\w-]+ -->\n", line)
            printed = not mark[1] if mark else printed
            code ^= line.startswith("```")
            if not (code or printed or line.startswith("    ")):
                yield number, line


class Pages(unittest.TestCase):
    def test_are_plain(self):
        pages = [os.path.join(ROOT, name) for name in ("README.md", "CONTRIBUTING.md", "calibrate/README.md")]
        for folder, _, names in os.walk(os.path.join(ROOT, "docs")):
            pages += [os.path.join(folder, name) for name in names if name.endswith(".md")]
        self.assertGreater(len(pages), 20)
        self.assertEqual([f"{page}:{number}: {line}" for page in pages for number, line in prose(page)
                          if STUMBLES.search(line)], [])

    def test_are_short(self):
        most = 19_000  # words beside tables, code and what the program prints
        pages = [os.path.join(ROOT, "README.md")]
        for folder, _, names in os.walk(os.path.join(ROOT, "docs")):
            pages += [os.path.join(folder, name) for name in names if name.endswith(".md") and name != "reference.md"]
        words = sum(len(line.split()) for page in pages for _, line in prose(page) if not line.startswith("|"))
        self.assertLessEqual(words, most, "leave out what another page says")

    def test_name_files_that_exist(self):
        named = re.compile(r"`((?:sim|tests|calibrate|python|scripts)/[a-z0-9_./-]+)`")
        with open(os.path.join(ROOT, "docs/architecture.md"), encoding="utf-8") as file:
            paths = named.findall(file.read())
        self.assertGreater(len(paths), 20)
        self.assertEqual([path for path in paths if not os.path.exists(os.path.join(ROOT, path))], [])


class Messages(unittest.TestCase):
    def test_are_plain(self):
        literal = re.compile(r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'')
        found, files = [], 0
        for place in ("sim", "calibrate", "python", "plots"):
            for folder, _, names in os.walk(os.path.join(ROOT, place)):
                for name in names:
                    if not name.endswith((".h", ".cpp", ".cu", ".py", ".js", ".html")):
                        continue
                    files += 1
                    with open(os.path.join(folder, name), encoding="utf-8") as file:
                        found += [f"{folder}/{name}:{number}: {line}" for number, line in enumerate(file, 1)
                                  if any(STUMBLES.search(text) for text in literal.findall(line))]
        self.assertGreater(files, 400)
        self.assertEqual(found, [])


class Names(unittest.TestCase):
    def test_are_words(self):
        listed = subprocess.run(["ctest", "--test-dir", BUILD, "-N"], check=True, capture_output=True, text=True).stdout
        names = re.findall(r"^ *Test +#\d+: (.*)$", listed, re.MULTILINE)
        self.assertGreater(len(names), 20)
        self.assertEqual([name for name in names if not WORDS.fullmatch(name)], [])


if __name__ == "__main__":
    unittest.main()
