#!/usr/bin/python3
"""The page of slmsim serve, edited: from an empty page to a verdict, by figures, as text, with a model that is dropped on it.

Skipped (exit status 77) where chromium, its driver or python3-selenium is missing.
"""
import json
import os
import unittest

import serve_case
import serve_page
from selenium.webdriver.support.ui import Select


class Editing(serve_case.Page):
    def test_an_empty_page_leads_to_a_verdict_of_three_sites(self):
        self.shoot("empty-1200")
        self.check_access()
        self.press("Add the first site")
        self.decided()
        self.press("Add a site")
        self.press("Add a site")
        self.until(lambda: len(self.driver.find_elements("css selector", ".part.link")) == 3, "links")
        self.until(lambda: "site1+site2+site3" in self.read("#results") and "site1+site2" in self.read("#results"), "results")
        self.settle()
        self.check_access()
        self.assertEqual([entry["name"] for entry in self.driver.execute_script(
            "return performance.getEntriesByType('resource').map((e) => ({name: e.name}))")
            if not entry["name"].startswith((self.server.origin, "data:"))], [])

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
        serve_page.set_value(self.driver, self.named("Round-trip time, exactly"), "57,5")
        self.until(lambda: "rtt: 57.5 ms" in self.text(), "a number in the unit of the one before")
        for _ in range(3):  # quick moves are one step, slow ones several
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
        Select(self.named("Machine type")).select_by_value("gpu-server")
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
        serve_page.set_value(self.driver, self.named("Epochs"), "5")
        serve_page.set_value(self.driver, self.named("Sequences in an epoch"), "4096")
        self.assertIn("epochs: 5, blocks_per_epoch: 4096", self.text())
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
        self.assertIn("VM desk, machine type: ", self.verdict())
        self.assertIn("line 10, column 32", self.find("#errors").text)
        self.shoot("error-1200")
        self.check_access()
        self.find("#verdict .place").click()
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
        self.assertIn("in another file", self.find("#selection").text)
        self.press("Copy it into this text, to change it")
        self.assertIn("  sites:", self.text())
        self.assertNotIn("in another file", self.find("#selection").text)
        self.assertIn("can be changed", self.find("#notice").text)
        self.decided()
        serve_page.set_value(self.driver, self.named("Round-trip time"), "0")
        self.until(lambda: "rtt: 100 us" in self.text(), "the change")

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


if __name__ == "__main__":
    unittest.main()
