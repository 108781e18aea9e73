"""The pictures in the README, made of the page of the examples: `python -m tests.pictures`.

It needs chromium and chromedriver. `pictures/structure.json` says what the page was like
when they were made: a test compares it with today's page.
"""

import json
import sys
import tempfile
from html.parser import HTMLParser
from pathlib import Path

from selenium import webdriver

from tests.browser import CHROMIUM, DRIVER, documents_of_page
from tests.conftest import EXAMPLES, ROOT
from utils.__main__ import main


FOLDER = ROOT / "pictures"
STRUCTURE = FOLDER / "structure.json"
WIDTH, HEIGHT = 1120, 1130


class Outline(HTMLParser):
    """The sections, headings, figures and controls of a page, in their order."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.parts: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list) -> None:
        if tag in ("section", "h2", "h3", "figure", "table", "form", "select", "nav"):
            names = dict(attributes)
            name = names.get("id") or names.get("name") or names.get("class") or ""
            self.parts.append(f"{tag} {name}".strip())


def board(folder: Path) -> Path:
    """Return the page of the examples' models, made in a folder."""
    page = folder / "board.html"
    runs = [
        f"{path.name}={path}" for path in sorted((EXAMPLES / "responses").iterdir())
    ]
    command = ["leaderboard", *runs, "--include_path", EXAMPLES, "--html", page]
    if main([*map(str, command)]):
        sys.exit(1)
    return page


def answer_with_two_readings(documents: list[dict]) -> tuple[str, int]:
    """Return the document and the model of the first answer that both rules read elsewhere."""
    for document in documents:
        for answer in document["answers"]:
            rules = {
                piece[0] for piece in answer["response"] if isinstance(piece, list)
            }
            if {1, 2} <= rules and answer["scores"][0] < answer["scores"][1]:
                return document["key"], answer["model"]
    sys.exit("no answer of the examples is read elsewhere by each rule")


def make(folder: Path) -> None:
    """Write the pictures and the structure of the page."""
    page = board(folder)
    text = page.read_text(encoding="utf-8")
    FOLDER.mkdir(exist_ok=True)
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for option in ("headless=new", "no-sandbox", "hide-scrollbars"):
        options.add_argument(f"--{option}")
    options.add_argument(f"--window-size={WIDTH},{HEIGHT}")
    with webdriver.Chrome(options, webdriver.ChromeService(DRIVER)) as driver:
        driver.get(f"file://{page}")
        driver.save_screenshot(str(FOLDER / "board.png"))
        key, model = answer_with_two_readings(documents_of_page(text))
        driver.get(f"file://{page}#{key}")
        driver.find_elements("css selector", "[name=model] option")[model + 1].click()
        answer = driver.find_element("css selector", "#document .answer")
        answer.screenshot(str(FOLDER / "answer.png"))
    STRUCTURE.write_text(json.dumps(Outline(text).parts, indent=0) + "\n")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        make(Path(folder))
