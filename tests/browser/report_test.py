#!/usr/bin/python3
"""The report in a real browser: it loads nothing, says nothing on the console, and fits a telephone's width.

Skipped (exit status 77) where chromium, its driver or python3-selenium is missing. SLMSIM_SCREENSHOTS=FOLDER keeps what
the browser showed.
"""
import os
import shutil
import subprocess
import tempfile
import unittest

import chromium

SLMSIM, SOURCE = os.environ["SLMSIM_BINARY"], os.environ["SLMSIM_SOURCE_DIR"]
PHONE, DESKTOP = (390, 844), (1200, 900)
# Elements that are cut off or overlap: what lies beyond the page, and labels of one chart upon each other.
BEYOND = """const wide = document.documentElement.clientWidth, out = [];
for (const e of document.querySelectorAll('body *')) {
  if (e.closest('.wide') || e.closest('svg')) continue;
  const box = e.getBoundingClientRect();
  if (box.width && (box.right > wide + 1 || box.left < -1)) out.push(e.tagName + '.' + e.className + ' ' + box.right);
} return out;"""
OVERLAPS = """const out = [];
for (const parent of document.querySelectorAll('.chart, .bar, .legend')) {
  const boxes = [...parent.querySelectorAll('span:not(.at-end span), li')].map(e => [e.textContent, e.getBoundingClientRect()]);
  for (let i = 0; i < boxes.length; i++) for (let j = 0; j < i; j++) {
    const a = boxes[i][1], b = boxes[j][1];
    if (a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1)
      out.push(boxes[i][0] + ' / ' + boxes[j][0]);
  }
} return out;"""


class Report(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.browser = chromium.browser(f"{cls.folder}/profile")
        cls.addClassCleanup(cls.browser.quit)

    def show(self, name, arguments, size, dark=False):
        page = os.path.join(self.folder, name + ".html")
        if not os.path.exists(page):
            subprocess.run([SLMSIM, "report", *arguments, "-o", page], cwd=SOURCE, check=True)
        self.browser.get_log("browser")
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": size[0], "height": size[1], "deviceScaleFactor": 1, "mobile": size == PHONE})
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]})
        self.browser.get("file://" + page)
        folder = os.environ.get("SLMSIM_SCREENSHOTS")
        if folder:
            height = self.browser.execute_script("return document.documentElement.scrollHeight")
            self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
                "width": size[0], "height": height, "deviceScaleFactor": 1, "mobile": size == PHONE})
            self.browser.save_screenshot(f"{folder}/{name}-{size[0]}{'-dark' if dark else ''}.png")
        self.closed_height = self.browser.execute_script("return document.documentElement.scrollHeight")
        self.browser.execute_script("document.querySelectorAll('details').forEach(e => e.open = true)")
        return self.browser.find_element("tag name", "body").text

    def check_layout(self):
        self.assertEqual(self.browser.get_log("browser"), [])
        self.assertEqual(self.browser.execute_script(BEYOND), [])
        self.assertEqual(self.browser.execute_script(OVERLAPS), [])
        loaded = self.browser.execute_script("return performance.getEntriesByType('resource').map(e => e.name)")
        self.assertEqual([name for name in loaded if not name.startswith("data:")], [])

    def test_one_model_on_both_screens(self):
        arguments = ["scenarios/gat-amst.yaml", "--set", "models=gpt2m"]
        for size in (PHONE, DESKTOP):
            for dark in (False, True):
                with self.subTest(size=size, dark=dark):
                    text = self.show("gat-amst", arguments, size, dark)
                    self.check_layout()
                    lines = text.splitlines()
                    self.assertTrue(lines[2].startswith("Train gpt2m with Data on gat alone: "), lines[:3])
                    for words in ("times as long with Data", "the pick changes from Pipeshard on gat+amst", "Time of the best choice", "How sure", "GPU-hours", "Memory",
                                  "Time of an iteration", "Round-trip time", "Timeline of an iteration", "Inputs",
                                  "arXiv 2602.02632, Table I", "inferred (fitted)"):
                        self.assertIn(words, text)

    def test_three_models_fit_eight_screens_of_a_phone(self):
        self.show("three", ["scenarios/gat-amst.yaml"], PHONE)
        self.assertLessEqual(self.closed_height, 8 * PHONE[1])

    def test_models_are_linked_and_a_link_opens_a_folded_section(self):
        self.show("linked", ["scenarios/gat-amst.yaml", "--set", "models=[gpt2m, gpt2l]", "--set", "groups=[gat, all]"], PHONE)
        self.browser.execute_script("document.querySelectorAll('details').forEach(e => e.open = false)")
        links = self.browser.execute_script("return [...document.querySelectorAll('a')].map(e => e.getAttribute('href'))")
        self.assertEqual(links, ["#m0-verdict", "#m1-verdict"])
        for link in links:
            self.assertEqual(len(self.browser.find_elements("css selector", link)), 1, link)
        section = self.browser.find_element("id", "m1-memory")
        self.assertFalse(section.is_displayed())
        self.browser.execute_script("location.hash = '#m1-memory'")
        self.assertTrue(section.is_displayed())
        top = self.browser.execute_script("return arguments[0].getBoundingClientRect().top", section)
        self.assertTrue(0 <= top < PHONE[1], top)

    def test_four_tiles_and_one_comparison_come_first_and_the_rest_is_folded(self):
        self.show("gat-amst", ["scenarios/gat-amst.yaml", "--set", "models=gpt2m"], PHONE)
        self.assertEqual(len(self.browser.find_elements("css selector", ".tile")), 4)
        self.browser.execute_script("document.querySelectorAll('details').forEach(e => e.open = false)")
        bars = [one for one in self.browser.find_elements("css selector", ".bars") if one.is_displayed()]
        self.assertEqual(len(bars), 1)
        rows = bars[0].find_elements("css selector", ".bar:not(.ticks)")
        self.assertLessEqual(len(rows), 8)
        self.assertTrue(rows[0].text.endswith("the pick"), rows[0].text)
        # The curves' labels stand beside their ends.
        self.browser.execute_script("document.querySelectorAll('details').forEach(e => e.open = true)")
        chart = self.browser.find_element("css selector", ".chart")
        self.assertEqual(sorted(one.text for one in chart.find_elements("css selector", ".at-end")),
                         ["Data", "Data on gat", "Pipeshard", "Shard", "ZeRO2"])
        self.assertEqual(self.browser.find_elements("css selector", "#m0-rtt .legend"), [])

    def test_bars_have_axes(self):
        self.show("axes", ["scenarios/gat-amst.yaml", "--set", "models=gpt2m"], DESKTOP)
        axes = self.browser.execute_script("return [...document.querySelectorAll('.bars')].map(e => "
                                           "[...e.querySelectorAll('.scale span')].map(t => t.textContent))")
        self.assertGreaterEqual(len(axes), 4)
        for texts in axes:
            self.assertGreaterEqual(len(texts), 3, axes)
        self.assertEqual(axes[2], ["0", "20", "40", "60", "80", "100"])

    def test_what_does_not_fit(self):
        text = self.show("tacc-tacc", ["scenarios/tacc-tacc.yaml", "--set", "models=gpt2L"], PHONE)
        self.check_layout()
        self.assertIn("out of memory", text)

    def test_markup_in_an_input_is_shown_not_run(self):
        attack = "<script>document.title='run'</script><img src=x onerror=console.error(1)>"
        text = self.show("attack", ["scenarios/gat-amst.yaml", "--set", "models=gpt2m", "--set", "groups=each", "--set",
                                    f'description="{attack}"'], PHONE)
        self.check_layout()
        self.assertIn(attack, text)
        self.assertEqual(self.browser.title, "slmsim: gat-amst")

    def test_a_level_chart_has_room_for_its_labels(self):
        self.show("near", ["scenarios/utah-mass.yaml", "--set", "models=[gpt2m, gpt2l]"], PHONE)
        self.check_layout()


if __name__ == "__main__":
    unittest.main()
