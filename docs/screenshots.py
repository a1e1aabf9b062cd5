"""Take the pictures of the page that the guide shows: `python docs/screenshots.py` (needs Chromium or Chrome)."""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, ViewportSize, sync_playwright

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS.parent))
from tests.server.shop_warehouse import fill_shop  # noqa: E402

WIDE, PHONE = (1440, 900), (390, 844)
REVENUE = "graph?select=2%2Bmart.revenue%2B1"
AMOUNT = "from=raw.order_items&from_column=quantity&to=staging.lines&to_column=amount_eur"
SHOTS = {  # name: (address, dark, size)
    "home": ("", False, WIDE),
    "map-dark": ("map", True, WIDE),
    "graph": (REVENUE, False, WIDE),
    "graph-dark": (f"{REVENUE}&lock=mart.revenue.revenue", True, WIDE),
    "edge": (f"graph?select=1%2Bstaging.lines%2B1&{AMOUNT}", False, WIDE),
    "compare": ("graph?select=1%2Bmart.revenue%2B1&since=3", False, WIDE),
    "groups-dark": ("graph?select=2%2Bmart.*&group=true&level=table", True, WIDE),
    "table": ("tables?table=raw.orders&tab=snapshots", False, WIDE),
    "levels-dark": ("tables?table=raw.orders&tab=levels", True, WIDE),
    "runs": ("runs?run=00000000-0000-000e-0000-000000000000", False, WIDE),
    "play": ("play", False, WIDE),
    "sql": (
        "sql?q=SELECT+sku,+sum(quantity+*+unit_price)+AS+revenue+FROM+raw.order_items+GROUP+BY+sku+LIMIT+8",
        True,
        WIDE,
    ),
    "phone": ("graph?select=1%2Bstaging.lines%2B1&lock=staging.lines.amount_eur", False, PHONE),
}


def main() -> int:
    path = next(filter(None, map(shutil.which, ("chromium", "google-chrome", "chrome"))), None)
    if path is None:
        print("no Chromium or Chrome on this machine", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        fill_shop(Path(folder))
        command = [sys.executable, "-m", "headwater", "serve", "--port", "0", "--warehouse", folder]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
            try:
                assert server.stderr is not None
                url = next(word for word in server.stderr.readline().split() if word.startswith("http"))
                browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
                for name in sys.argv[1:] or SHOTS:
                    take(browser, url, name)
                browser.close()
            finally:
                server.terminate()
    return 0


def take(browser: Browser, url: str, name: str) -> None:
    address, dark, (width, height) = SHOTS[name]
    size: ViewportSize = {"width": width, "height": height}
    context = browser.new_context(viewport=size, color_scheme="dark" if dark else "light")
    page = context.new_page()
    page.goto(url + address, wait_until="load")
    page.wait_for_timeout(2_000)
    page.wait_for_function("() => !document.querySelector('.loading, .cost:empty')")
    page.wait_for_timeout(1_000)
    page.screenshot(path=DOCS / "images" / f"page-{name}.png")
    context.close()


if __name__ == "__main__":
    sys.exit(main())
