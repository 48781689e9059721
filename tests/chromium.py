"""Headless Chromium, and what the tests of the HTML report ask of it."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

from filelock import FileLock
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.wait import WebDriverWait

from sandbox import GRADSAN

REPOSITORY = Path(__file__).parents[1]
# How each example is told to be short.
SHORT = {"leaky_dqn": ("--episodes", "12")}
FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--no-first-run", "--force-prefers-reduced-motion",
)  # fmt: skip
DESKTOP, PHONE = (1200, 900), (390, 844)


class Browser:
    def __init__(self, profile: Path) -> None:
        options = webdriver.ChromeOptions()
        options.binary_location = _installed("chromium")
        for flag in (*FLAGS, f"--user-data-dir={profile}"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=Service(_installed("chromedriver")))

    def quit(self) -> None:
        self.driver.quit()

    def reset(self) -> None:
        self.size(*DESKTOP)
        self.prefers("light")
        self.driver.get("about:blank")
        self.complaints()

    def size(self, width: int, height: int) -> None:
        self._tell("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                   mobile=False)  # fmt: skip

    def prefers(self, scheme: str) -> None:
        self._tell("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def _tell(self, command: str, **parameters: Any) -> None:
        self.driver.execute_cdp_cmd(command, parameters)

    def open(self, file: Path) -> None:
        self.driver.get(file.as_uri())

    def complaints(self) -> list[str]:
        """Everything that the page wrote to the console since the last time."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def ask(self, expression: str, *args: Any) -> Any:
        return self.driver.execute_script(f"return {expression}", *args)

    def all(self, selector: str) -> list[WebElement]:
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def one(self, selector: str) -> WebElement:
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def text(self, selector: str) -> str:
        return self.one(selector).text

    def focused(self) -> str:
        return str(self.ask("document.activeElement.id"))

    def wait_for(self, expression: str) -> None:
        WebDriverWait(self.driver, 10, poll_frequency=0.05).until(lambda _: self.ask(expression), expression)

    def press(self, *keys: str) -> None:
        self.driver.switch_to.active_element.send_keys(*keys)

    def tab_until(self, expression: str, limit: int = 60) -> None:
        """Walk through the page with the tab key alone."""
        for _ in range(limit):
            if self.ask(expression):
                return
            self.press(Keys.TAB)
        raise AssertionError(f"not reachable with the tab key: {expression}")


def _installed(name: str) -> str:
    path = shutil.which(name)
    assert path, f"{name} is missing: run scripts/install-browser"
    return path


class Reports:
    """Several workers share the directory: whoever comes first makes the report."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def __call__(self, example: str) -> Path:
        file = self._directory / f"{example}.html"
        with FileLock(f"{file}.lock"):
            if not file.exists():
                script = f"examples/{example}.py"
                command = [GRADSAN, "run", "--quiet", "--fail-on", "never", "--html", str(file), script]
                command += SHORT.get(example, ("--updates", "24"))
                subprocess.run(
                    command, cwd=REPOSITORY, check=True, capture_output=True, timeout=120,
                    env={**os.environ, "OMP_NUM_THREADS": "1"},
                )  # fmt: skip
        return file
