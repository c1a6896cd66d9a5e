#!/usr/bin/python3
"""Long work on the page of slmsim serve.

Skipped (exit status 77) where chromium, its driver or python3-selenium is missing.
"""
import unittest

import serve_case
import serve_page
from selenium.webdriver.support.ui import Select


# The next edit falls between the question for intervals and their answer.
EDIT_MEANWHILE = """const ask = window.fetch, slider = arguments[0];
window.asked = [];
window.fetch = async (...words) => {
  const answer = await ask(...words);
  window.asked.push(words[0]);
  if (words[0] === 'api/intervals' && window.asked.filter((one) => one === words[0]).length === 1) {
    slider.value = 200;
    slider.dispatchEvent(new Event('input', {bubbles: true}));
  }
  return answer;
};"""


class Work(serve_case.Page):
    def test_intervals_come_after_the_numbers_and_end_with_the_design(self):
        self.press("Example")
        before = self.decided()
        self.settle()
        self.assertIn("80 % interval: ", self.verdict())
        self.assertRegex(self.verdict(), r"How sure\n(over |under )?\d+ %")
        bars = self.driver.execute_script("return [...document.querySelectorAll('#results .bars')[0].querySelectorAll('svg')].map((e) => "
                                          "[e.getAttribute('aria-label'), e.querySelectorAll('.whisker').length])")
        self.assertTrue(any(lines for _, lines in bars))
        for words, lines in bars:  # a line and its ends on the axis, in words too
            self.assertEqual(", with a probability of 80 % from " in words, lines in (2, 3), words)
        self.driver.execute_script("document.querySelectorAll('details').forEach((e) => { e.open = true; })")
        self.assertIn("80 % interval of the job", self.find("#results").text)
        self.shoot("intervals-1200")
        self.check_access()
        self.choose(".part.link")
        slider = self.named("Round-trip time")
        self.driver.execute_script(EDIT_MEANWHILE, slider)
        serve_page.set_value(self.driver, slider, "900")
        self.changed(before)
        self.settle()
        asked = self.driver.execute_script("return window.asked")
        self.assertEqual([one for one in asked if one in ("api/intervals", "api/job/cancel")],
                         ["api/intervals", "api/job/cancel", "api/intervals"])
        self.assertIn("rtt: 496 us", self.text())  # 0.1 ms * 3000^0.2
        self.assertIn("80 % interval: ", self.verdict())

    def test_long_work_tells_progress_and_ends(self):
        self.press("Example")
        self.decided()
        listed = "  Data: {}\n  ZeRO2: {}\n  Pipeshard: {}\n  LocalSGD: {inner_steps: 100}\n"
        whole = self.text()
        self.assertIn(listed, whole)
        self.type_text(whole.replace(listed, "  Data: {}\n"))
        self.press("Explain what limits", ".form")
        self.until(lambda: "what to change first" in self.read("#work"), "the explanation")
        # With more GPUs a search for the stages of a pipeline takes a while.
        before = self.verdict()
        self.type_text(whole.replace(listed, "  Pipeshard: {}\n").replace("[a30, a30]", f"[{', '.join(16 * ['a30'])}]")
                       .replace("[rtx3090, rtx3090]", f"[{', '.join(8 * ['rtx3090'])}]"))
        self.changed(before)
        serve_page.set_value(self.driver, self.named("At most, seconds"), "900")
        Select(self.named("Effort")).select_by_value("1")
        work = self.driver.find_elements("css selector", "#work .section")
        plan = work[1]
        plan.find_element("css selector", "button.primary").click()
        self.until(lambda: "choices planned" in plan.get_property("innerText"), "progress")
        before = self.verdict()
        self.choose(".part.link")
        serve_page.set_value(self.driver, self.named("Round-trip time"), "0")
        self.changed(before)  # others are answered meanwhile
        self.press("Cancel: Search the best plan")
        self.until(lambda: "cancelled" in plan.get_property("innerText"), "the end")
        sweep = work[2]
        for name, value in (("From", "8"), ("To", "32"), ("Points", "3")):
            serve_page.set_value(self.driver, self.named(name), value)
        sweep.find_element("css selector", "button.primary").click()
        self.until(lambda: "Download as CSV" in sweep.get_property("innerText"), "the sweep")
        self.assertIn("training.batch", sweep.text)
        self.shoot("work-1200")
        self.check_access()


if __name__ == "__main__":
    unittest.main()
