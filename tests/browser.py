"""What the tests of pages look at: documents in a page, and a page in a real browser."""

import json
import re
import shutil
from pathlib import Path


CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
MOST_SECONDS = 60  # for the browser to do a thing
# In one step: an element that is found may be replaced before it is asked for its text.
SHOWN = "return document.querySelector('#document h3').firstChild.textContent"
FOUND = "return parseInt(document.getElementById('count').textContent)"
FOCUS = "return document.activeElement.id || document.activeElement.className"
NAMES = "return [...document.querySelectorAll('#ranking .row:not([hidden])')].map((row) => row.dataset.m)"


def documents_of_page(text: str) -> list[dict]:
    """Return the documents that a page holds."""
    (data,) = re.findall(r'id="data">(.*?)</script>', text, re.DOTALL)
    return json.loads(data)["documents"]


def look(driver, page: Path, place: str = "", script: bool = True) -> None:
    """Open a page at a place in it, with scripts or without."""
    command = "Emulation.setScriptExecutionDisabled"
    driver.execute_cdp_cmd(command, {"value": not script})
    driver.get("about:blank")
    driver.get(f"file://{page}{place}")


def wait_for(driver, script: str, value) -> None:
    """Wait until a script says a value: a link takes effect after the click returns."""
    from selenium.webdriver.support.ui import WebDriverWait

    wait = WebDriverWait(driver, MOST_SECONDS)
    wait.until(lambda driver: driver.execute_script(script) == value)
