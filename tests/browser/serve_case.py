"""Shared by the tests of the page of slmsim serve: a browser per class, a server per test, and words for a person's actions.

Each test waits for what it expects and never for a time. SLMSIM_SCREENSHOTS=FOLDER keeps what the browser showed.
"""
import os
import shutil
import tempfile
import unittest

import serve_page
from selenium.common.exceptions import ElementClickInterceptedException, StaleElementReferenceException
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

SLMSIM = serve_page.where_missing("SLMSIM_BINARY")
PHONE, DESKTOP = (390, 844), (1200, 900)

BEYOND = """const wide = document.documentElement.clientWidth, out = [];
for (const e of document.querySelectorAll('body *')) {
  if (e.closest('.wide') || e.closest('svg') || e.closest('.editor') || e.matches('.skip')) continue;
  const box = e.getBoundingClientRect();
  if (box.width && (box.right > wide + 1 || box.left < -1)) out.push(`${e.tagName}.${e.className} ${box.left} ${box.right}`);
} if (document.documentElement.scrollWidth > wide) out.push('the page'); return out;"""
# WCAG 2.1, 1.4.3: what is read has 4.5:1 against what lies behind it, large text 3:1; what is disabled is exempt.
CONTRAST = """const parse = (c) => c.match(/[\\d.]+/g).map(Number);
const light = (c) => { const [r, g, b] = c.slice(0, 3).map((v) => { v /= 255; return v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4; });
  return .2126 * r + .7152 * g + .0722 * b; };
const behind = (e) => { for (let at = e; at; at = at.parentElement) { const c = parse(getComputedStyle(at).backgroundColor);
  if (c.length < 4 || c[3] > .99) return c; } return [255, 255, 255]; };
const out = [];
for (const e of document.querySelectorAll('body *')) {
  const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
  if (!own || !e.checkVisibility() || e.closest('svg') || e.matches(':disabled') || e.closest('.stale') || e.matches('option, noscript')) continue;
  const style = getComputedStyle(e), a = light(parse(style.color)), b = light(behind(e));
  const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
  const large = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.6 && style.fontWeight >= 700);
  if (ratio < (large ? 3 : 4.5)) out.push(`${e.tagName}.${e.className} ${e.textContent.trim().slice(0, 30)}: ${ratio.toFixed(2)}`);
} return out;"""
CONTROLS = "button, input, select, textarea, summary, a[href], [tabindex='0']"
# Elements behind an open dialog cannot be used, and have no names.
VISIBLE = f"""const modal = document.querySelector("dialog:modal") ?? document;
return [...modal.querySelectorAll("{CONTROLS}")].filter((e) => e.checkVisibility() && !e.disabled && e.tabIndex >= 0);"""
# Candidates whose text, label or description is the name: the browser's own name is queried only for these.
CALLED = f"""const [inside, name] = arguments, words = (e) => e?.textContent.trim().replace(/\\s+/g, ' ');
return [...inside.querySelectorAll("{CONTROLS}")].filter((e) => e.checkVisibility() &&
  [words(e), e.getAttribute('aria-label'), e.value, ...[...(e.labels ?? [])].map(words)].includes(name));"""

class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.profile = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.profile, True)
        cls.driver = serve_page.browser(cls.profile)
        cls.addClassCleanup(cls.driver.quit)

    def setUp(self):
        self.server = serve_page.Server(SLMSIM)
        self.addCleanup(self.end)
        self.driver.get_log("browser")
        self.begin()

    def end(self):
        self.assertEqual(self.driver.get_log("browser"), [])
        self.driver.get("about:blank")
        status, said = self.server.end()
        self.assertEqual((status, said), (0, ""))

    def begin(self, size=DESKTOP, phone=False, fragment="", empty=True):
        """On the empty page: without a fragment the page opens with the example, which `empty` removes."""
        serve_page.set_size(self.driver, size, phone)
        self.driver.get("about:blank")
        self.driver.get(self.server.address + fragment)
        self.until(lambda: self.read("#made-by"), "the page")
        if not fragment and empty:
            self.decided()
            Page.press(self, "New")

    def until(self, condition, what):
        return serve_page.wait(condition, what)

    def find(self, selector):
        return self.driver.find_element("css selector", selector)

    def named(self, name, inside="body"):
        """The control with this text or label; an answer may draw the page anew while it is looked for."""
        return self.until(lambda: next((one for one in self.driver.execute_script(CALLED, self.find(inside), name)
                                        if one.is_displayed() and one.accessible_name == name), None), name)

    def press(self, name, inside="body"):
        def pressed():
            try:
                one = self.named(name, inside)
                self.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", one)
                one.click()
                return True
            except (StaleElementReferenceException, ElementClickInterceptedException):
                return False
        self.until(pressed, name)

    def read(self, selector):
        """The text that shows there. Selenium's own question for it takes the page far longer."""
        return self.driver.execute_script("return document.querySelector(arguments[0]).innerText", selector)

    def verdict(self):
        return self.read("#verdict")

    def text(self):
        return self.driver.execute_script("return document.getElementById('yaml').value")

    def type_text(self, text):
        self.press("YAML")
        serve_page.set_value(self.driver, self.find("#yaml"), text)

    def decided(self):
        self.until(lambda: "Train " in self.verdict() or "cannot be trained" in self.verdict(), "a verdict")
        return self.verdict()

    def changed(self, before):
        return self.until(lambda: "Train " in self.verdict() and self.verdict() != before, "another verdict")

    def choose(self, part):
        self.driver.execute_script("document.querySelector(arguments[0]).focus()", part)
        ActionChains(self.driver).send_keys(Keys.ENTER).perform()

    def settle(self):
        """All that an edit leads to is there, so that nothing moves any more."""
        self.until(lambda: self.driver.execute_script("return document.documentElement.dataset.state") == "still", "what comes later")

    def shoot(self, name):
        folder = os.environ.get("SLMSIM_SCREENSHOTS")
        if not folder:
            return
        width, height = self.driver.execute_script("return [innerWidth, document.documentElement.scrollHeight]")
        serve_page.set_size(self.driver, (width, min(height, 8000)), width < 500)
        self.driver.save_screenshot(f"{folder}/{name}.png")
        serve_page.set_size(self.driver, (width, 900), width < 500)

    def without_names(self):
        """Names of the controls; ["none"], so that it is true. Repeated if the page was redrawn meanwhile (serve_page.wait)."""
        controls = self.driver.execute_script(VISIBLE)
        return [one.get_attribute("outerHTML")[:120] for one in controls if not one.accessible_name.strip()] or ["none"]

    def check_access(self):
        self.assertEqual(self.driver.execute_script(BEYOND), [])
        self.assertEqual(self.driver.execute_script(CONTRAST), [])
        self.assertEqual(self.until(self.without_names, "controls that stay as they are"), ["none"])
        ids = self.driver.execute_script("return [...document.querySelectorAll('[id]')].map((e) => e.id)")
        self.assertEqual(len(ids), len(set(ids)))
