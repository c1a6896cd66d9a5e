#!/usr/bin/python3
"""The page of slmsim serve in a real browser: each control is used, by mouse, keyboard and touch; every one has a name and enough
contrast; nothing is said on the console, nothing loaded from elsewhere, and a telephone's width suffices.

Skipped (exit status 77) where chromium, its driver or python3-selenium is missing. SLMSIM_SCREENSHOTS=FOLDER keeps what the
browser showed.
"""
import http.client
import json
import os
import shutil
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import serve_page  # noqa: E402
from selenium.common.exceptions import StaleElementReferenceException  # noqa: E402
from selenium.webdriver.common.action_chains import ActionChains  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402
from selenium.webdriver.support.ui import Select  # noqa: E402

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
# What an open dialog covers cannot be used, and has no names.
VISIBLE = f"""const modal = document.querySelector("dialog:modal") ?? document;
return [...modal.querySelectorAll("{CONTROLS}")].filter((e) => e.checkVisibility() && !e.disabled && e.tabIndex >= 0);"""
LISTEN = """window.used = new Set(); const note = (event) => window.used.add(event.target);
for (const kind of ['click', 'input', 'change', 'keydown', 'toggle']) document.addEventListener(kind, note, true);"""


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

    def begin(self, size=DESKTOP, phone=False, fragment=""):
        serve_page.set_size(self.driver, size, phone)
        self.driver.get("about:blank")
        self.driver.get(self.server.address + fragment)
        self.until(lambda: self.driver.find_element("id", "made-by").text, "the page")

    def until(self, condition, what):
        return serve_page.wait(self.driver, condition, what)

    def find(self, selector):
        return self.driver.find_element("css selector", selector)

    def named(self, name, inside="body"):
        """The control with this text or label; an answer may draw the page anew while it is looked for."""
        def found():
            try:
                return next((one for one in self.find(inside).find_elements("css selector", CONTROLS)
                             if one.is_displayed() and one.accessible_name == name), None)
            except StaleElementReferenceException:
                return None
        return self.until(found, name)

    def press(self, name, inside="body"):
        def pressed():
            try:
                one = self.named(name, inside)
                self.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", one)
                one.click()
                return True
            except StaleElementReferenceException:
                return False
        self.until(pressed, name)

    def verdict(self):
        return self.find("#verdict").text

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
        """Timeline and curve are there, so that nothing moves any more."""
        self.until(lambda: "Round-trip time" in self.find("#results").text and not self.driver.find_elements("css selector", ".stale"),
                   "what comes later")

    def shoot(self, name):
        folder = os.environ.get("SLMSIM_SCREENSHOTS")
        if not folder:
            return
        width, height = self.driver.execute_script("return [innerWidth, document.documentElement.scrollHeight]")
        serve_page.set_size(self.driver, (width, min(height, 8000)), width < 500)
        self.driver.save_screenshot(f"{folder}/{name}.png")
        serve_page.set_size(self.driver, (width, 900), width < 500)

    def without_names(self):
        """Of the controls; ["none"], so that it is true. Asked anew where the page was drawn meanwhile (serve_page.wait)."""
        controls = self.driver.execute_script(VISIBLE)
        return [one.get_attribute("outerHTML")[:120] for one in controls if not one.accessible_name.strip()] or ["none"]

    def check_access(self):
        self.assertEqual(self.driver.execute_script(BEYOND), [])
        self.assertEqual(self.driver.execute_script(CONTRAST), [])
        self.assertEqual(self.until(self.without_names, "controls that stay as they are"), ["none"])
        ids = self.driver.execute_script("return [...document.querySelectorAll('[id]')].map((e) => e.id)")
        self.assertEqual(len(ids), len(set(ids)))

    # --- from an empty page to a verdict

    def test_an_empty_page_leads_to_a_verdict_of_three_sites(self):
        self.shoot("empty-1200")
        self.check_access()
        self.press("Add the first site")
        self.decided()
        self.press("Add a site")
        self.press("Add a site")
        self.until(lambda: len(self.driver.find_elements("css selector", ".part.link")) == 3, "links")
        self.assertIn("vm1+vm2+vm3", self.until(lambda: self.find("#results").text if "vm1+vm2+vm3" in self.find("#results").text else "", "results"))
        self.settle()
        self.check_access()
        self.assertEqual([entry["name"] for entry in self.driver.execute_script(
            "return performance.getEntriesByType('resource').map((e) => ({name: e.name}))")
            if not entry["name"].startswith((self.server.origin, "data:"))], [])

    def test_the_example_fits_both_screens_and_reads_in_grey(self):
        for size, phone in ((DESKTOP, False), (PHONE, True)):
            with self.subTest(size=size):
                self.begin(size, phone)
                self.press("Begin with three sites")
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

    # --- editing

    def test_a_slider_moves_the_text_in_place_and_the_verdict_with_it(self):
        self.press("Example")
        before = self.decided()
        self.choose(".part.link")
        slider = self.named("Round-trip time")
        rows = self.text().split("\n")
        serve_page.set_value(self.driver, slider, "100")
        self.changed(before)
        moved = [(a, b) for a, b in zip(rows, self.text().split("\n")) if a != b]
        self.assertEqual(len(moved), 1, moved)
        self.assertIn("rtt: 223 us", moved[0][1])  # 0.1 ms * 3000^0.1
        self.assertTrue(self.text().startswith("# Three sites"))
        serve_page.set_value(self.driver, self.named("Round-trip time, exactly"), "57.4 ms")
        self.until(lambda: "rtt: 57.4 ms" in self.text(), "the exact value")
        for _ in range(2):  # quick moves are one step, slow ones two
            if self.text().split("\n") != rows:
                self.press("Undo")
        self.assertEqual(self.text().split("\n"), rows)
        self.press("Redo")
        self.assertNotEqual(self.text().split("\n"), rows)

    def test_every_control_of_the_figures_changes_the_text(self):
        self.press("Example")
        self.decided()
        self.choose(".part.link")
        for name, value, text in (("Bandwidth", "0", "bandwidth: 10 Mbps"), ("Loss", "0", "loss: 0")):
            serve_page.set_value(self.driver, self.named(name), value)
            self.assertIn(text, self.text())
        serve_page.set_value(self.driver, self.named("Name"), "renamed")
        self.assertIn("renamed: {between", self.text())
        self.press("Delete this link")
        self.assertNotIn("renamed", self.text())
        self.choose(".part.vm")
        Select(self.named("GPU")).select_by_value("h100")
        serve_page.set_value(self.driver, self.named("How many GPUs"), "3")
        self.assertIn("gpus: [h100, h100, h100]", self.text())
        Select(self.named("Kind of machine")).select_by_value("gpu-server")
        self.assertIn("type: gpu-server", self.text())
        Select(self.named("Site")).select_by_visible_text("austin")
        self.assertIn("lab: {site: austin", self.text())
        self.press("Delete this VM")
        self.assertNotIn("lab:", self.text())
        self.choose(".part.site")
        serve_page.set_value(self.driver, self.named("Round trip inside it"), "0")
        self.assertIn("rtt: 100 us", self.text())
        self.press("Add a VM here")
        self.assertIn("vm1: {site: utah", self.text())
        self.choose(".part.site")
        Select(self.named("Link to")).select_by_visible_text("austin")
        self.assertIn("between: [utah, austin]", self.text())
        self.choose(".part.site")
        self.press("Delete this site")
        self.assertNotIn("utah", self.text())
        serve_page.set_value(self.driver, self.named("Batch"), "600")
        self.assertIn("batch: 64", self.text())  # 1024^0.6
        serve_page.set_value(self.driver, self.named("H of LocalSGD"), "300")
        self.assertIn("inner_steps: 8", self.text())
        self.find(".chosen-techniques").click()
        self.press("DDP")
        self.press("Data")
        self.assertIn("DDP", self.text())
        self.assertNotIn("Data:", self.text())
        Select(self.named("Model")).select_by_value("pythia-70m")
        self.press("Another model")
        self.assertIn("models: [pythia-70m, ", self.text())
        self.press("Leave out pythia-70m")
        self.assertNotIn("pythia-70m", self.text())
        self.press("New")
        self.assertEqual(self.text(), "")
        self.press("Undo")
        self.decided()

    def test_text_is_drawn_and_errors_lead_to_their_places(self):
        self.press("Example")
        self.decided()
        whole = self.text()
        self.type_text(whole.replace("type: workstation", "type: workstatoin"))
        self.until(lambda: "workstatoin" in self.verdict(), "the error")
        self.assertIn("line 10, column 32", self.verdict())
        self.shoot("error-1200")
        self.check_access()
        self.find("#verdict button.wrong").click()
        self.assertEqual(self.driver.execute_script("const a = document.getElementById('yaml'); return a.value.slice(a.selectionStart, a.selectionEnd)"),
                         "workstatoin")
        self.assertEqual(len(self.driver.find_elements("css selector", ".part.site")), 3)  # drawn all the same
        self.type_text(whole.replace("boston", "chicago"))
        self.decided()
        self.assertIn("site chicago, 1 VMs", [one.get_attribute("aria-label") for one in self.driver.find_elements("css selector", ".part.site")])
        self.type_text("models: [gpt2m\n")
        self.until(lambda: "line " in self.verdict(), "the error")

    def test_a_text_that_builds_on_other_files_is_drawn_and_copied_when_it_is_changed(self):
        self.type_text("platform: gat-amst\nmodels: [gpt2m]\ntraining: {batch: 8, epochs: 1, blocks_per_epoch: 80}\n")
        self.decided()
        self.choose(".part.link")
        self.press("Copy it into this text, to change it")
        self.assertIn("  sites:", self.text())
        self.decided()
        self.choose(".part.link")
        serve_page.set_value(self.driver, self.named("Round-trip time"), "0")
        self.until(lambda: "rtt: 100 us" in self.text(), "the change")

    # --- mouse, keyboard, touch

    def test_the_mouse_moves_sites_and_vms_and_draws_links(self):
        self.press("Add the first site")
        self.press("Add a site")
        self.decided()
        sites = self.driver.find_elements("css selector", ".part.site")
        before = sites[0].rect
        ActionChains(self.driver).move_to_element_with_offset(sites[0], -40, -30).click_and_hold().move_by_offset(20, 60).release().perform()
        after = self.driver.find_elements("css selector", ".part.site")[0].rect
        self.assertAlmostEqual(after["y"] - before["y"], 60, delta=3)
        self.choose(".part.link")
        self.press("Delete this link")
        handle, other = self.find(".handle"), self.driver.find_elements("css selector", ".part.site")[1]
        ActionChains(self.driver).click_and_hold(handle).move_to_element(other).release().perform()
        self.until(lambda: "between: [site1, site2]" in self.text(), "a link")
        self.decided()
        self.settle()
        vm = self.find(".part.vm")
        ActionChains(self.driver).click_and_hold(vm).move_to_element(self.driver.find_elements("css selector", ".part.site")[1]).release().perform()
        self.until(lambda: "vm1: {site: site2" in self.text(), "the VM elsewhere")
        ActionChains(self.driver).click(self.find(".part.vm")).perform()
        self.assertEqual(self.find("#selection h2").text, "VM")

    def test_the_keyboard_suffices(self):
        body = self.find("body")
        names = []
        for _ in range(60):
            ActionChains(self.driver).send_keys(Keys.TAB).perform()
            names.append(self.driver.switch_to.active_element.accessible_name)
            if names[-1] == "Begin with three sites":
                break
        self.assertEqual(names[:3], ["To the verdict", "New", "Example"])
        ActionChains(self.driver).send_keys(Keys.ENTER).perform()
        self.decided()
        self.settle()
        body.send_keys("")
        self.driver.execute_script("document.getElementById('delete').focus()")
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
        self.begin(PHONE, True)
        self.press("Begin with three sites")
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

    # --- designs, files, links

    def test_two_designs_stand_side_by_side(self):
        self.press("Example")
        self.decided()
        self.press("Compare with a copy")
        self.until(lambda: "Design B: Train" in self.verdict(), "both")
        self.choose(".part.vm")
        Select(self.named("GPU")).select_by_value("h100")
        self.until(lambda: "h100" in self.text() and self.find(".compared").text.count("\n") > 5, "the figures")
        self.settle()
        self.assertEqual(len(self.driver.find_elements("css selector", "#results .column")), 2)
        self.shoot("compare-1200")
        self.check_access()
        self.press("Design A")
        self.assertNotIn("h100", self.text())
        self.press("Design B")
        self.assertIn("h100", self.text())
        serve_page.set_size(self.driver, PHONE, True)
        self.check_access()
        self.press("Close design B")
        self.assertNotIn("h100", self.text())

    def test_files_are_saved_and_opened(self):
        self.press("Example")
        self.decided()
        text = self.text()
        self.press("Save")
        path = self.named("File, from the folder that slmsim serve was started in")
        path.clear()
        path.send_keys("../out.yaml")
        self.press("Save there")
        self.until(lambda: "may not go up" in self.find("#dialog").text, "the refusal")
        self.check_access()
        path.clear()
        path.send_keys("mine.yaml")
        self.press("Save there")
        self.until(lambda: os.path.exists(os.path.join(self.server.folder, "mine.yaml")), "the file")
        with open(os.path.join(self.server.folder, "mine.yaml"), encoding="utf-8") as file:
            self.assertEqual(file.read(), text)
        self.until(lambda: not self.find("#dialog").is_displayed(), "the dialog away")
        self.press("Save")
        self.press("Save there")
        self.until(lambda: "is there already" in self.find("#dialog").text, "the refusal")
        self.named("Replace a file that is there").click()
        self.press("Save there")
        self.until(lambda: not self.find("#dialog").is_displayed(), "the dialog away")
        self.press("New")
        self.press("Open")
        Select(self.named("A scenario of this folder")).select_by_value("mine.yaml")
        self.until(lambda: self.text() == text, "the file's text")
        self.press("Open")
        Select(self.named("One that came with slmsim")).select_by_value("far-apart")
        self.until(lambda: "StreamingDiLoCo" in self.text(), "the shipped one")
        self.decided()
        self.press("Open")
        self.named("A file of this computer").send_keys(os.path.join(self.server.folder, "mine.yaml"))
        self.until(lambda: self.text() == text, "the file's text")
        self.press("Save")
        self.press("Download")
        self.until(lambda: os.path.exists(os.path.join(self.profile, "mine.yaml")), "the download")
        self.press("Close")

    def test_a_link_holds_the_whole_scenario(self):
        self.press("Example")
        self.decided()
        text = self.text()
        self.press("Link")
        url = self.until(lambda: self.named("Link", "#dialog").get_attribute("value"), "the link")
        self.assertNotIn(self.server.token, url)
        self.press("Close")
        self.press("New")
        self.press("Open")
        self.named("A link").send_keys(url, Keys.TAB)
        self.until(lambda: self.text() == text, "the scenario")
        self.begin(fragment=url[url.index("#"):])
        self.until(lambda: self.text() == text, "the scenario")
        self.decided()
        self.begin(fragment="#s=AAAA")  # holds nothing
        self.assertEqual(self.text(), "")

    def test_a_models_config_is_taken(self):
        config = os.path.join(self.server.folder, "config.json")
        with open(config, "w", encoding="utf-8") as file:
            json.dump({"model_type": "gpt2", "_name_or_path": "me/tiny-one", "n_embd": 768, "n_head": 12, "n_layer": 6, "n_positions": 1024,
                       "vocab_size": 50257, "architectures": ["GPT2LMHeadModel"]}, file)
        self.press("Example")
        self.decided()
        self.driver.execute_script("""const input = document.createElement('input'); input.type = 'file'; input.id = 'dropped';
            input.setAttribute('aria-label', 'for the test'); document.body.append(input);""")
        self.find("#dropped").send_keys(config)
        self.driver.execute_script("""const transfer = new DataTransfer(); const input = document.getElementById('dropped');
            transfer.items.add(input.files[0]); input.remove();
            window.dispatchEvent(Object.assign(new DragEvent('drop', {dataTransfer: transfer, cancelable: true})));""")
        self.until(lambda: "Train tiny-one" in self.verdict(), "the model")

    # --- long work

    def test_long_work_tells_progress_and_ends(self):
        self.press("Example")
        self.decided()
        self.press("Explain what limits", ".form")
        self.until(lambda: "what to change first" in self.find("#work").text, "the explanation")
        serve_page.set_value(self.driver, self.named("At most, seconds"), "900")
        Select(self.named("Effort")).select_by_value("1")
        work = self.driver.find_elements("css selector", "#work .section")
        plan = work[1]
        plan.find_element("css selector", "button.primary").click()
        self.until(lambda: "choices planned" in plan.text, "progress")
        before = self.verdict()
        self.choose(".part.link")
        serve_page.set_value(self.driver, self.named("Round-trip time"), "0")
        self.changed(before)  # others are answered meanwhile
        self.press("Cancel: Search the best plan")
        self.until(lambda: "cancelled" in plan.text, "the end")
        sweep = work[2]
        for name, value in (("From", "8"), ("To", "32"), ("Points", "3")):
            serve_page.set_value(self.driver, self.named(name), value)
        sweep.find_element("css selector", "button.primary").click()
        self.until(lambda: "Download as CSV" in sweep.text, "the sweep")
        self.assertIn("training.batch", sweep.text)
        self.shoot("work-1200")
        self.check_access()

    # --- who may ask

    def raw(self, method, path, headers, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=serve_page.PATIENCE)
        connection.request(method, path, body, headers)
        with connection.getresponse() as response:
            told = response.status, response.read()
        connection.close()
        return told

    def test_only_the_page_itself_may_ask(self):
        own = {"Host": f"127.0.0.1:{self.server.port}", "Authorization": f"Bearer {self.server.token}", "Content-Type": "application/json"}
        self.assertEqual(self.raw("POST", "/api/catalog", own, "{}")[0], 200)
        self.assertEqual(self.raw("POST", "/api/catalog", {**own, "Host": "evil.example"}, "{}")[0], 403)
        self.assertEqual(self.raw("POST", "/api/catalog", {**own, "Origin": "http://evil.example"}, "{}")[0], 403)
        self.assertEqual(self.raw("POST", "/api/catalog", {**own, "Authorization": "Bearer x"}, "{}")[0], 401)
        self.assertEqual(self.raw("GET", "/", {})[0], 401)
        self.assertEqual(self.raw("POST", "/api/view", own, "x" * (5 << 20))[0], 413)
        self.assertEqual(self.raw("GET", "/..%2f..%2fetc/passwd", own)[0], 404)
        self.assertNotIn(self.server.token, self.driver.current_url)

    def test_markup_in_a_scenario_is_shown_not_run(self):
        self.press("Example")
        self.decided()
        attack = "<img src=x onerror=document.title='run'>"
        self.type_text(self.text().replace("three-sites", json.dumps(attack)) + f"description: {json.dumps(attack)}\nnonsense-{attack}: 1\n")
        self.until(lambda: "nonsense" in self.verdict(), "the error")
        self.assertEqual(self.driver.title, "slmsim: draw a cluster")


if __name__ == "__main__":
    unittest.main()
