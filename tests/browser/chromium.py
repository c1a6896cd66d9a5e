"""Chromium for the tests of pages. Whoever imports it ends with SKIPPED where chromium, its driver or python3-selenium is missing."""
import shutil
import sys

SKIPPED = 77
try:
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service
except ImportError:
    print("skipped: python3-selenium is missing")
    sys.exit(SKIPPED)
BROWSER, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
if not BROWSER or not DRIVER:
    print("skipped: chromium or chromedriver is missing")
    sys.exit(SKIPPED)


def browser(profile):
    """Keeps its downloads, like its other files, in the folder of its profile."""
    options = Options()
    options.binary_location = BROWSER
    for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
                 "--disable-background-networking", f"--user-data-dir={profile}"):
        options.add_argument(word)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    options.add_experimental_option("prefs", {"download.default_directory": profile})
    return webdriver.Chrome(service=Service(DRIVER), options=options)
