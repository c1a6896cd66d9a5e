#!/usr/bin/python3
"""The page of slmsim serve under mouse, keyboard and finger, on both screens and in grey.

Skipped (exit status 77) where chromium, its driver or python3-selenium is missing.
"""
import unittest

import serve_case
import serve_page
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys


class Hands(serve_case.Page):
    def test_the_example_fits_both_screens_and_reads_in_grey(self):
        for size, phone in ((serve_case.DESKTOP, False), (serve_case.PHONE, True)):
            with self.subTest(size=size):
                self.begin(size, phone)
                self.press("See an example of three sites")
                self.decided()
                self.settle()
                self.shoot(f"example-{size[0]}")
                self.check_access()
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": "dark"}]})
        self.check_access()
        self.shoot("example-390-dark")
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
        self.driver.execute_cdp_cmd("Emulation.setEmulatedVisionDeficiency", {"type": "achromatopsia"})
        self.shoot("example-390-grey")
        self.driver.execute_cdp_cmd("Emulation.setEmulatedVisionDeficiency", {"type": "none"})

    def test_the_mouse_moves_sites_and_vms_and_draws_links(self):
        self.press("Add the first site")
        self.press("Add a site")
        self.decided()
        self.settle()
        sites = self.driver.find_elements("css selector", ".part.site")
        before = sites[0].rect
        ActionChains(self.driver).move_to_element_with_offset(sites[0], -40, -30).click_and_hold().move_by_offset(20, 60).release().perform()
        after = self.driver.find_elements("css selector", ".part.site")[0].rect
        self.assertAlmostEqual(after["y"] - before["y"], 60, delta=3)
        self.choose(".part.link")
        self.press("Delete this link")
        self.settle()
        handle, other = self.find(".handle"), self.driver.find_elements("css selector", ".part.site")[1]
        ActionChains(self.driver).click_and_hold(handle).move_to_element(other).release().perform()
        self.until(lambda: "between: [site1, site2]" in self.text(), "a link")
        self.decided()
        self.settle()
        vm = self.find(".part.vm")
        ActionChains(self.driver).click_and_hold(vm).move_to_element(self.driver.find_elements("css selector", ".part.site")[1]).release().perform()
        self.until(lambda: "vm1: {site: site2" in self.text(), "the VM elsewhere")
        self.settle()
        ActionChains(self.driver).click(self.find(".part.vm")).perform()
        self.assertEqual(self.find("#selection h2").text, "VM")

    def test_the_keyboard_suffices(self):
        self.begin(empty=False)
        names = []
        for _ in range(3):
            ActionChains(self.driver).send_keys(Keys.TAB).perform()
            names.append(self.driver.switch_to.active_element.accessible_name)
        self.assertEqual(names, ["To the verdict", "New", "Example"])
        ActionChains(self.driver).send_keys(Keys.ENTER).perform()
        self.decided()
        self.settle()
        self.find("body").send_keys("")
        self.driver.execute_script("document.getElementById('add-vm').focus()")
        order = []
        for _ in range(40):
            ActionChains(self.driver).send_keys(Keys.TAB).perform()
            at = self.driver.switch_to.active_element
            order.append(at.get_attribute("aria-label") or at.accessible_name)
            box = at.rect
            self.assertGreater(box["width"], 0, order[-1])
        self.assertTrue(order[0].startswith("site utah"), order)
        self.assertTrue(any(one.startswith("link east") for one in order), order)
        self.choose(".part.site")
        self.assertEqual(self.driver.switch_to.active_element.accessible_name, "Name")
        self.driver.execute_script("document.querySelector('.part.site').focus()")
        left = self.find(".part.site").rect["x"]
        ActionChains(self.driver).send_keys(Keys.ARROW_RIGHT).perform()
        self.assertAlmostEqual(self.find(".part.site").rect["x"] - left, 24, delta=2)
        self.assertTrue(self.driver.switch_to.active_element.get_attribute("aria-label").startswith("site utah"))
        ActionChains(self.driver).send_keys(Keys.DELETE).perform()
        self.until(lambda: "utah" not in self.text(), "one site less")
        self.find("#tab-figures").send_keys(Keys.ARROW_RIGHT)
        self.assertTrue(self.find("#yaml").is_displayed())

    def test_a_finger_moves_a_site(self):
        self.begin(serve_case.PHONE, True)
        self.press("See an example of three sites")
        self.decided()
        self.driver.execute_script("document.querySelector('.part.site').scrollIntoView({block: 'center'})")
        box = self.driver.execute_script("const b = document.querySelector('.part.site').getBoundingClientRect(); return [b.left + 20, b.top + 12]")
        touch = lambda kind, *points: self.driver.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y} for x, y in points]})
        touch("touchStart", box)
        for step in range(1, 6):
            touch("touchMove", (box[0] + 10 * step, box[1] + 8 * step))
        touch("touchEnd")
        now = self.driver.execute_script("const b = document.querySelector('.part.site').getBoundingClientRect(); return [b.left + 20, b.top + 12]")
        self.assertAlmostEqual(now[0] - box[0], 50, delta=4)
        self.assertAlmostEqual(now[1] - box[1], 40, delta=4)

        # A tap leads to the figures of what it meets, below the verdict.
        self.settle()
        self.driver.execute_script("document.querySelector('.part.link').scrollIntoView({block: 'center'})")
        box = self.driver.execute_script("const b = document.querySelector('.part.link').getBoundingClientRect(); return [b.left + 20, b.top + 12]")
        touch("touchStart", box)
        touch("touchEnd")
        slider = self.named("Round-trip time")
        places = lambda: self.driver.execute_script(
            "return [document.getElementById('verdict').getBoundingClientRect().bottom, arguments[0].getBoundingClientRect().top, innerHeight]", slider)
        self.until(lambda: places() == sorted(places()), "the slider between verdict and the screen's end")
        before = self.verdict()
        serve_page.set_value(self.driver, slider, "1000")
        self.changed(before)


if __name__ == "__main__":
    unittest.main()
