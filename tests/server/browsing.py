"""What tests of the page do again and again."""

from urllib.parse import quote


def wait(page, condition, argument=None):
    page.wait_for_function(condition, arg=argument, timeout=15_000)


def boxes(page):
    return set(page.eval_on_selector_all(".stage .box", "found => found.map(each => each.id.slice(4))"))


def drawn(page, *names):
    wait(page, "names => names.every(name => document.getElementById('box-' + name))", list(names))


def graph(page, select, **more):
    query = "".join(f"&{name}={quote(value)}" for name, value in more.items())
    page.goto(f"{page.base}graph?select={quote(select, safe='')}{query}")
    page.wait_for_selector(".stage .box")


def lit(page):
    return set(page.eval_on_selector_all(".stage .line.on", "found => found.map(each => each.id)"))
