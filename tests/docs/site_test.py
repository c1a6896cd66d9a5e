#!/usr/bin/python3
"""The documentation builds as a site: strictly, with every link leading somewhere and nothing loaded from elsewhere.

Skipped (exit status 77) without mkdocs-material.
"""
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = os.environ["SLMSIM_SOURCE_DIR"]
if not shutil.which("mkdocs", path="/usr/bin") or not os.path.isdir("/usr/share/mkdocs/themes/material"):
    print("skipped: mkdocs-material is missing")
    sys.exit(77)
sys.dont_write_bytecode = True
spec = importlib.util.spec_from_file_location("build_site", os.path.join(SOURCE, "scripts/build-site.py"))
build_site = importlib.util.module_from_spec(spec)
spec.loader.exec_module(build_site)


class Site(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="slmsim-site-")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.done = subprocess.run([os.path.join(SOURCE, "scripts/build-site.py"), cls.folder], capture_output=True, text=True,
                                  check=False)

    def page(self, name):
        return pathlib.Path(self.folder, name).read_text(encoding="utf-8")

    def test_builds_without_a_word(self):
        self.assertEqual((self.done.returncode, self.done.stdout, self.done.stderr), (0, "", ""))

    def test_has_every_page_and_both_references(self):
        for page in pathlib.Path(SOURCE, "docs").rglob("*.md"):
            name = page.relative_to(SOURCE).with_suffix(".html").as_posix().replace("README.html", "index.html")
            self.assertTrue(os.path.exists(os.path.join(self.folder, name)), name)
            self.assertIn(f'href="{os.path.basename(name)}"', self.page(name))  # its own entry of the navigation
        self.assertIn("set: Mapping", self.page("api/python.html").replace('<span class="p">:</span>', ":").replace(
            '<span class="nb">set</span>', "set").replace('<span class="n">Mapping</span>', "Mapping"))
        self.assertIn("Max-min fair rates of flows over shared links", self.page("api/engine.html"))

    def test_the_check_sees_what_is_wrong(self):
        site = pathlib.Path(tempfile.mkdtemp(prefix="slmsim-site-"))
        self.addCleanup(shutil.rmtree, site)
        (site / "a.html").write_text('<a href="b.html#here"></a><a href="b.html#gone"></a><a href="c.html"></a>'
                                     '<a href="https://example.com"></a><img src="https://example.com/x.png">', encoding="utf-8")
        (site / "b.html").write_text('<p id="here"></p>', encoding="utf-8")
        (site / "x.css").write_text("@font-face { src: url(https://example.com/x.woff) }", encoding="utf-8")
        self.assertEqual(sorted(build_site.problems_of(site)),
                         ["a.html: b.html#gone has no such place", "a.html: c.html leads nowhere",
                          "a.html: loads https://example.com/x.png from elsewhere", "x.css: loads from elsewhere: https:"])

    def test_lists_and_comments_become_markdown(self):
        self.assertEqual(build_site.for_mkdocs("text:\n- one\n  more\n- two"), "text:\n\n- one\n  more\n- two")
        self.assertEqual(build_site.for_mkdocs("```\na:\n- b\n```"), "```\na:\n- b\n```")
        self.assertEqual(build_site.comment("a < b:\n  code\nend"), "a \\< b:\n\n```text\n  code\n```\n\nend")


if __name__ == "__main__":
    unittest.main()
