"""The page for everybody: axe-core finds nothing in light, dark and on a phone; keys reach all; motion can be off."""

import shutil
import subprocess

import pytest
from tests.server.browsing import wait

pytestmark = pytest.mark.ui

PLACES = {
    "home": ("", ".attention b"),
    "map": ("map", ".map .list li"),
    "region": ("map?region=staging", ".map .list h2.minor"),
    "graph": ("graph?select=1%2Bstaging.lines%2B1", ".stage .box"),
    "column": ("graph?select=1%2Bstaging.lines%2B1&lock=staging.lines.amount_eur", ".panel .step"),
    "compare": ("graph?select=1%2Bmart.revenue%2B1&since=3", ".stage .line.added"),
    "table": ("tables?table=raw.orders", ".detail h1"),
    "snapshots": ("tables?table=raw.orders&tab=snapshots", ".history"),
    "levels": ("tables?table=raw.orders&tab=levels", "svg.levels"),
    "rows": ("tables?table=raw.orders&tab=rows", ".detail .grid"),
    "run": ("runs?run=00000000-0000-000e-0000-000000000000", ".panel .facts"),
    "issues": ("issues", ".issues li"),
    "sql": ("sql?q=SELECT%201%20AS%20one", ".results .grid"),
    "play": ("play", ".stage .box"),
    "nowhere": ("nowhere", ".notice"),
}


@pytest.fixture(scope="session")
def axe(tmp_path_factory):
    """The script of axe-core, fetched by npm."""
    if shutil.which("npm") is None:
        pytest.skip("no npm on this machine: axe-core was not run")
    folder = tmp_path_factory.mktemp("axe")
    command = ["npm", "install", "--silent", "--no-fund", "--no-audit", "--prefix", str(folder), "axe-core@4"]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("npm cannot fetch axe-core: it was not run")
    return (folder / "node_modules" / "axe-core" / "axe.min.js").read_text()


@pytest.mark.slow
@pytest.mark.parametrize("look", ["light", "dark", "phone"])
def test_axe_finds_nothing(page, axe, look):
    page.emulate_media(color_scheme="dark" if look == "dark" else "light", reduced_motion="reduce")
    if look == "phone":
        page.set_viewport_size({"width": 390, "height": 844})
    found = []
    for name, (path, ready) in PLACES.items():
        page.goto(page.base + path)
        page.wait_for_selector(ready, state="attached")
        page.wait_for_timeout(150)  # colours have settled
        page.evaluate(axe)
        result = page.evaluate("() => axe.run(document, {resultTypes: ['violations']})")
        for violation in result["violations"]:
            for node in violation["nodes"]:
                about = node["any"][0]["message"] if node["any"] else ""
                found.append((name, violation["id"], violation["impact"], node["html"][:140], about[:160]))
        wide = page.evaluate("() => document.documentElement.scrollWidth - window.innerWidth")
        assert wide <= 0, f"{name} is wider than the window"
    assert not found, "\n".join(map(str, found))


def test_all_can_be_reached_by_keys(page):
    page.goto(page.base)
    page.wait_for_selector(".busiest a")
    page.keyboard.press("Tab")
    assert page.evaluate("() => document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    wait(page, "() => document.activeElement.id === 'view' || location.hash === '#view'")
    page.goto(f"{page.base}map")
    page.wait_for_selector(".map .list a")
    page.focus(".map .list a >> nth=0")
    page.keyboard.press("Enter")
    page.wait_for_selector(".map .list .up")
    page.focus(".map .list h2:has-text('Tables') + ul a >> nth=0")
    page.keyboard.press("Enter")
    page.wait_for_selector(".stage .box")


def test_motion_can_be_off(page):
    page.emulate_media(reduced_motion="reduce")
    page.goto(f"{page.base}map")
    page.wait_for_selector(".map .list a")
    before = page.evaluate("() => document.querySelector('.mapstage canvas').toDataURL()")
    page.click(".map .list a >> nth=0")
    page.wait_for_selector(".map .list .up")
    wait(page, "before => document.querySelector('.mapstage canvas').toDataURL() !== before", before)
    assert page.evaluate("() => document.getAnimations().length") == 0
