#!/usr/bin/python3
"""The page of slmsim serve as somebody meets it who has read nothing: from an empty page to a verdict of three sites, by what is
seen and labelled alone, in counted steps; and what the page says where such a hand goes wrong.

Skipped (exit status 77) where chromium, its driver or python3-selenium is missing.
"""
import unittest

import serve_case
import serve_page
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

TOP = "return document.querySelector('#canvas').getBoundingClientRect().top + scrollY"


class Trial(serve_case.Page):
    def setUp(self):
        super().setUp()
        self.steps = 0

    def press(self, name, inside="body"):
        self.steps += 1
        super().press(name, inside)

    def take(self, name, text):
        """One of a list, by the text that is read there."""
        self.steps += 1
        Select(self.named(name)).select_by_visible_text(text)

    def write(self, name, text):
        self.steps += 1
        field = self.named(name)
        self.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", field)
        field.click()
        field.send_keys(Keys.CONTROL, "a")
        field.send_keys(text, Keys.TAB)

    def point(self, word):
        """At what is drawn with this word."""
        self.steps += 1

        def pointed():
            part = next(one for one in self.driver.find_elements("css selector", "#canvas text") if one.text == word)
            self.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", part)
            ActionChains(self.driver).move_to_element(part).click().perform()
            return self.named("Name", "#selection").get_attribute("value") == word
        self.until(pointed, word)

    def test_the_page_opens_with_an_example_that_runs(self):
        self.begin(empty=False)
        self.assertIn("Train gpt2m with ", self.decided())
        self.settle()
        tiles = [one.text.split("\n")[0] for one in self.driver.find_elements("css selector", "#verdict .tile")]
        self.assertEqual(tiles, ["Time of the best choice", "Memory, fullest GPU", "How sure", "Cost"])
        self.assertEqual(len(self.driver.find_elements("css selector", ".part.site")), 3)
        self.shoot("opened-1200")
        self.check_access()
        serve_page.set_size(self.driver, serve_case.PHONE, True)
        self.check_access()
        self.shoot("opened-390")
        self.press("New")  # the example is not missed
        self.assertFalse(self.find("#notice").is_displayed())

    def test_three_sites_with_two_gpus_each_take_one_step(self):
        self.shoot("trial-empty-1200")
        self.check_access()
        self.press("Draw them")
        verdict = self.decided()
        self.assertEqual(self.steps, 1)
        self.assertEqual(len(self.driver.find_elements("css selector", ".part.link")), 3)
        self.assertEqual(self.text().count("gpus: [rtx3090, rtx3090]"), 3)
        self.assertIn("Compared: all 6 GPUs together, each pair of sites, each site.", verdict)
        self.assertRegex(verdict, r"on (site1|site2|site3|site1, site2 and site3|site\d and site\d)\b")
        self.assertIn("Workload: gpt2m in fp16; 16 sequences of 1024 tokens in a step, 16384 tokens", verdict)
        self.shoot("trial-drawn-1200")
        self.check_access()

    def test_three_sites_of_ones_own_take_twenty_steps(self):
        self.press("Draw them")
        self.decided()
        for word, name, gpu in (("site1", "utah", "A30 PCIe, 24 GiB (Ampere)"), ("site2", "austin", None), ("site3", "boston", "Tesla T4, 15 GiB (Turing)")):
            self.point(word)
            self.write("Name", name)
            if gpu:
                self.take(f"GPU of {self.find('#canvas .chosen').find_element('xpath', '..').find_element('css selector', '.vm-name').text}", gpu)
        for word, rtt in (("utah-austin", "32"), ("utah-boston", "57"), ("austin-boston", "41")):
            self.point(word)
            self.write("Round-trip time, exactly", rtt)
        self.take("Model", "gpt2-large (774 M)")
        self.until(lambda: "Train gpt2-large" in self.verdict(), "the verdict")
        self.assertLessEqual(self.steps, 20)
        for words in ("rtt: 32 ms", "rtt: 57 ms", "rtt: 41 ms", "gpus: [a30, a30]", "gpus: [t4, t4]", "utah", "austin", "boston"):
            self.assertIn(words, self.text())
        self.assertNotIn("site1", self.verdict())
        self.shoot("trial-own-1200")
        self.check_access()
        serve_page.set_size(self.driver, serve_case.PHONE, True)
        self.check_access()
        self.shoot("trial-own-390")

    def test_one_click_ends_what_is_typed_and_chooses(self):
        self.press("Draw them")
        self.decided()
        self.settle()
        for word, field, typed, then in (("site1", "Name", "utah", "site2"), ("utah-site2", "Round-trip time, exactly", "57", "site2-site3")):
            self.point(word)
            place = self.named(field, "#selection")
            place.send_keys(Keys.CONTROL, "a")
            place.send_keys(typed)
            part = next(one for one in self.driver.find_elements("css selector", "#canvas text") if one.text == then)
            ActionChains(self.driver).move_to_element(part).click().perform()
            self.until(lambda then=then: self.named("Name", "#selection").get_attribute("value") == then, f"{then} after one click")
        self.assertIn("utah", self.text())
        self.assertIn("rtt: 57 ms", self.text())

    def test_a_further_site_is_like_the_one_before(self):
        self.press("Draw them")
        self.press("Add a site")
        self.decided()
        self.assertEqual(self.text().count("gpus: [rtx3090, rtx3090]"), 4)
        self.assertEqual(len(self.driver.find_elements("css selector", ".part.link")), 6)

    def test_what_is_wrong_stands_at_its_field_and_the_drawing_stays(self):
        self.press("Draw them")
        self.decided()
        self.point("site1-site2")
        top = self.driver.execute_script(TOP)
        self.write("Round-trip time, exactly", "abc")
        note = self.until(lambda: self.driver.find_elements("css selector", "#selection .at-field"), "the error at its field")
        self.assertIn("expected a time such as", note[0].text)
        field = self.named("Round-trip time, exactly")
        self.assertEqual(field.get_attribute("aria-invalid"), "true")
        self.assertEqual(field.get_attribute("aria-errormessage"), note[0].get_attribute("id"))
        self.assertIn("Link site1-site2, round-trip time: ", self.verdict())
        self.assertEqual(self.driver.execute_script(TOP), top)
        self.shoot("trial-error-1200")
        self.check_access()
        # From elsewhere the verdict leads to the field, and beside it to the line.
        self.point("site2")
        self.find("#verdict button.wrong").click()
        self.assertEqual(self.driver.switch_to.active_element.accessible_name, "Round-trip time, exactly")
        self.find("#verdict .place").click()
        self.assertEqual(self.driver.execute_script("const a = document.getElementById('yaml'); return a.value.slice(a.selectionStart, a.selectionEnd)"), "abc")
        super().press("Figures")
        self.write("Round-trip time, exactly", "40")
        self.decided()
        self.assertEqual(self.driver.find_elements("css selector", ".at-field"), [])
        self.assertEqual(self.driver.execute_script(TOP), top)

    def test_a_machine_with_other_gpus_is_told_and_mended(self):
        self.press("Draw them")
        self.decided()
        self.point("vm1")
        self.take("Machine type", "Google Cloud a2-highgpu-1g")
        self.until(lambda: "gpus: [a100-40]" in self.text(), "the GPUs that it comes with")
        self.take("GPU", "Tesla T4, 15 GiB (Turing)")
        self.until(lambda: "which comes with 1 a100-40, but has 1 t4" in self.verdict(), "the contradiction")
        self.assertIn("This machine comes with 1 × NVIDIA A100 SXM4 40GB; here it has 1 × NVIDIA Tesla T4.", self.find("#selection").text)
        self.check_access()
        self.press("Put 1 × NVIDIA A100 SXM4 40GB in")
        self.until(lambda: "which comes with" not in self.verdict() and "Train" in self.verdict(), "agreement")
        self.assertIn("gpus: [a100-40]", self.text())
        self.take("Machine type", "NVIDIA DGX A100")
        self.until(lambda: self.text().count("a100-40") == 8, "as many as it has")
        self.decided()

    def test_what_is_replaced_can_be_brought_back(self):
        self.press("Draw them")
        self.decided()
        text = self.text()
        self.press("New")
        self.assertEqual(self.text(), "")
        self.check_access()
        self.press("Restore the previous scenario")
        self.until(lambda: self.text() == text, "what stood there")
        self.decided()
        self.press("Example")
        self.until(lambda: "three-sites.yaml is open." in self.read("#notice"), "the offer")
        self.press("Undo")
        self.until(lambda: self.text() == text, "what stood there")


if __name__ == "__main__":
    unittest.main()
