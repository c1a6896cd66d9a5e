#!/usr/bin/python3
"""Designs, files and links of the page of slmsim serve, and who may ask it.

Skipped (exit status 77) where chromium, its driver or python3-selenium is missing.
"""
import http.client
import json
import os
import unittest

import serve_case
import serve_page
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select


class Files(serve_case.Page):
    def test_two_designs_stand_side_by_side(self):
        self.press("Example")
        self.decided()
        self.press("Compare with a copy")
        self.until(lambda: "Design B: Train" in self.verdict(), "both")
        self.choose(".part.vm")
        Select(self.named("GPU")).select_by_value("h100")
        self.until(lambda: "h100" in self.text() and self.read(".compared").count("\n") > 5, "the figures")
        self.settle()
        self.assertEqual(len(self.driver.find_elements("css selector", "#results .column")), 2)
        self.shoot("compare-1200")
        self.check_access()
        self.press("Design A")
        self.assertNotIn("h100", self.text())
        self.press("Design B")
        self.assertIn("h100", self.text())
        serve_page.set_size(self.driver, serve_case.PHONE, True)
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
        self.until(lambda: "may not go up" in self.read("#dialog"), "the refusal")
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
        self.until(lambda: "already exists" in self.read("#dialog"), "the refusal")
        self.named("Replace an existing file").click()
        self.press("Save there")
        self.until(lambda: not self.find("#dialog").is_displayed(), "the dialog away")
        self.press("New")
        self.press("Open")
        Select(self.named("A scenario of this folder")).select_by_value("mine.yaml")
        self.until(lambda: self.text() == text, "the file's text")
        self.press("Open")
        Select(self.named("A scenario of slmsim")).select_by_value("far-apart")
        self.until(lambda: "StreamingDiLoCo" in self.text(), "the shipped one")
        self.decided()
        self.press("Open")
        self.named("A file on this computer").send_keys(os.path.join(self.server.folder, "mine.yaml"))
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
        self.assertEqual(self.text(), text)

    def test_a_link_is_copied_without_the_permission_to_write_the_clipboard(self):
        self.press("Example")
        self.decided()
        self.driver.execute_script("Object.defineProperty(navigator, 'clipboard', {value: undefined})")
        self.press("Link")
        url = self.until(lambda: self.named("Link", "#dialog").get_attribute("value"), "the link")
        self.press("Copy")
        self.until(lambda: "Copied." in self.read("#dialog"), "the copy")
        self.press("Close")
        self.press("Save")
        place = self.named("File, from the folder that slmsim serve was started in")
        place.clear()
        place.send_keys(Keys.CONTROL, "v")
        self.assertEqual(place.get_attribute("value"), url)
        self.press("Close")

    def raw(self, method, path, headers, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=serve_page.PATIENCE)
        connection.request(method, path, body, headers)
        with connection.getresponse() as response:
            told = response.status, response.read(), response.headers
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

    def test_answers_are_not_compressed(self):
        """To compress the page would take longer than all the rest until it shows."""
        own = {"Host": f"127.0.0.1:{self.server.port}", "Authorization": f"Bearer {self.server.token}", "Accept-Encoding": "gzip, deflate, br"}
        status, text, headers = self.raw("GET", "/main.js", own)
        self.assertEqual((status, int(headers["Content-Length"]), headers["Content-Encoding"]), (200, len(text), None))

    def test_markup_in_a_scenario_is_shown_not_run(self):
        self.press("Example")
        self.decided()
        attack = "<img src=x onerror=document.title='run'>"
        self.type_text(self.text().replace("three-sites", json.dumps(attack)) + f"description: {json.dumps(attack)}\nnonsense-{attack}: 1\n")
        self.until(lambda: "nonsense" in self.verdict(), "the error")
        self.assertEqual(self.driver.title, "slmsim: draw a cluster")


if __name__ == "__main__":
    unittest.main()
