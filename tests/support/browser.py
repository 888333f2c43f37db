"""A headless Chromium for the page of the loopback Slack, and what a person does with it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, TypeVar

from binaries import require_binary
from selenium.common.exceptions import NoSuchElementException, StaleElementReferenceException, TimeoutException
from selenium.webdriver import Chrome, ChromeOptions, ChromeService, Keys
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.wait import WebDriverWait

T = TypeVar("T")
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-dev-shm-usage",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions",
    "--hide-scrollbars", "--lang=en-GB", "--window-size=1280,860",
    # A mouse that hovers, which a headless browser does not have by itself.
    "--blink-settings=primaryHoverType=2,availableHoverTypes=2,primaryPointerType=4,availablePointerTypes=4",
)  # fmt: skip
PHONE = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}
PATIENCE = 20.0


@contextmanager
def chromium(profile: Path) -> Iterator[Page]:
    """A browser with a profile of its own; only the two programs of the system, nothing downloaded."""
    options = ChromeOptions()
    options.binary_location = require_binary("chromium")
    for flag in (*FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = Chrome(options, ChromeService(require_binary("chromedriver", "chromium-driver")))
    try:
        yield Page(driver)
    finally:
        driver.quit()


class Page:
    """`thread`, `channel`, `modal` are CSS selectors of the places; elements are found by what a person reads."""

    channel, thread, modal = "#place", "#thread", "#modal"

    def __init__(self, driver: Chrome) -> None:
        self.driver = driver

    def open(self, url: str) -> None:
        self.open_at(url, "#side .row")

    def open_at(self, url: str, selector: str) -> None:
        """Opens the address and waits until the page shows the place."""
        self.driver.get(url)
        self.css(selector)

    def css(self, selector: str) -> WebElement:
        """The first element that is there and shown, as soon as there is one."""
        return self.until(lambda: self._shown(selector), f"nothing shown matches {selector}")

    def gone(self, selector: str) -> None:
        self.until(lambda: self._shown(selector) is None, f"{selector} is still shown")

    def reads(self, selector: str, *texts: str) -> str:
        """The text of the place, once all of `texts` are in it."""
        def read() -> str | None:
            found = self._shown(selector)
            text = found.text if found else ""
            return text if all(each in text for each in texts) else None

        return self.until(read, lambda: f"{selector} reads {self._text(selector)!r}, not {texts}")

    def reads_no_more(self, selector: str, text: str) -> None:
        self.until(lambda: text not in self._text(selector), f"{selector} still reads {text}")

    def press(self, selector: str) -> None:
        def pressed() -> bool:
            found = self._shown(selector)
            if found is not None:
                self.driver.execute_script("arguments[0].scrollIntoView({block: 'nearest'})", found)
                found.click()
            return found is not None

        self.until(pressed, f"nothing to press: {selector}")

    def button(self, place: str, label: str) -> None:
        """Presses the button of that place whose words are `label`."""
        def pressed() -> bool:
            for each in self.driver.find_elements(By.CSS_SELECTOR, f"{place} button"):
                if each.is_displayed() and each.text.strip() == label:
                    self.driver.execute_script("arguments[0].scrollIntoView({block: 'nearest'})", each)
                    each.click()
                    return True
            return False

        self.until(pressed, f"no button {label!r} in {place}")

    def point_at(self, selector: str) -> None:
        """What the mouse does before a message shows its tools."""
        self.driver.execute_script("arguments[0].focus({preventScroll: true})", self.css(selector))

    def type(self, selector: str, text: str, *, send: bool = False) -> None:
        found = self.css(selector)
        found.send_keys(text)
        if send:
            found.send_keys(Keys.ENTER)

    def select(self, selector: str, value: str) -> None:
        self.css(f"{selector} option[value='{value}']").click()

    def say(self, text: str, place: str = "#place") -> None:
        """Types into the channel's (or the thread's) box and sends."""
        self.type(f"{place} .composer > textarea", text, send=True)

    def phone(self) -> None:
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", PHONE)

    def desktop(self) -> None:
        self.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})

    def scheme(self, name: Literal["light", "dark"]) -> None:
        features = [{"name": "prefers-color-scheme", "value": name}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    def picture(self, path: Path) -> None:
        self.driver.get_screenshot_as_file(str(path))

    def complaints(self) -> list[str]:
        """What the browser wrote into its console: errors of the page, files that were not found."""
        return [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]

    def until(self, look: Callable[[], T | None], told: str | Callable[[], str]) -> T:
        def tried(_: Any) -> T | None:
            return look()

        wait = WebDriverWait(self.driver, PATIENCE, 0.05, (StaleElementReferenceException, NoSuchElementException))
        try:
            return wait.until(tried)
        except TimeoutException as error:
            raise AssertionError(f"{told if isinstance(told, str) else told()}; console: {self.complaints()}") from error

    def _shown(self, selector: str) -> WebElement | None:
        found = self.driver.find_elements(By.CSS_SELECTOR, selector)
        return next((each for each in found if each.is_displayed()), None)

    def _text(self, selector: str) -> str:
        found = self._shown(selector)
        return found.text if found else ""
