"""slmsim serve with a browser in front of it, for the tests of the page and its bench."""
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from chromium import browser  # noqa: F401  # first: it ends where there is no browser
from selenium.common.exceptions import NoSuchElementException, StaleElementReferenceException, TimeoutException

PATIENCE = 300  # seconds; a page that hangs must not hang the tests


class Server:
    """slmsim serve on a free port, in a folder of its own."""

    def __init__(self, program, *words):
        self.folder = tempfile.mkdtemp(prefix="slmsim-serve-")
        self.process = subprocess.Popen([program, "serve", "--port", "0", "--folder", self.folder, *words],
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.process.stdout.readline()
        self.address = self.process.stdout.readline().strip()
        match = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/\?token=([0-9a-f]{32})", self.address)
        self.port, self.token = int(match[1]), match[2]
        self.origin = f"http://127.0.0.1:{self.port}"

    def end(self):
        """By Ctrl-C; what it said on standard error."""
        self.process.send_signal(signal.SIGINT)
        _, said = self.process.communicate(timeout=PATIENCE)
        shutil.rmtree(self.folder)
        return self.process.returncode, said


def set_size(driver, size, phone):
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
        "width": size[0], "height": size[1], "deviceScaleFactor": 1, "mobile": phone})
    driver.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": phone})


def wait(condition, what):
    """What the condition returns once that is true. Pauses grow: the page is asked, and has work of its own."""
    pause, end = 0.02, time.monotonic() + PATIENCE
    while time.monotonic() < end:
        try:
            if value := condition():
                return value
        except (NoSuchElementException, StaleElementReferenceException):
            pass
        time.sleep(pause)
        pause = min(1.5 * pause, 0.4)
    raise TimeoutException(what)


def set_value(driver, element, value):
    """As a hand does it: the value, then the events that follow."""
    driver.execute_script("""const [e, v] = arguments; e.focus(); e.value = v;
        e.dispatchEvent(new Event('input', {bubbles: true})); e.dispatchEvent(new Event('change', {bubbles: true}));""",
                          element, value)


def where_missing(name):
    return os.environ.get(name) or sys.exit(f"{name} is not set")
