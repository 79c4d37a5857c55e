"""What the stage's browser tests share: opening it, reading what is on the screen, one input event."""

from __future__ import annotations

from pathlib import Path

READ = """() => {
  const host = [...document.querySelectorAll('*')].find((e) => e.shadowRoot?.querySelector('[data-testid=stage]'));
  const root = host?.shadowRoot ?? document;
  const nodes = (side) => Object.fromEntries([...root.querySelectorAll(`[data-tree=${side}]`)].map((e) => {
    const box = e.querySelector('.mark').getBoundingClientRect();
    return [e.dataset.path, [Math.round(box.x + box.width / 2), Math.round(box.y + box.height / 2), Number(e.dataset.value)]];
  }));
  const text = (id) => root.querySelector(`[data-testid=${id}]`).textContent;
  return {static: nodes('static'), dynamic: nodes('dynamic'), sentence: text('stage-sentence'), phase: text('stage-phase'),
    expected: [Number(text('stage-static-expected')), Number(text('stage-dynamic-expected'))], gain: text('stage-gain'),
    step: root.querySelector('[data-testid=stage-step]').value, budget: root.querySelector('[data-testid=stage-budget]').value};
}"""
SET = "(e, v) => { e.value = v; e.dispatchEvent(new Event('input', {bubbles: true})); }"


def outside(page):
    """Addresses asked for beyond this machine."""
    return [url for url in page.requests if not url.startswith(("http://127.0.0.1:", "blob:http://127.0.0.1:", "data:"))]


def part(page, testid):
    return page.locator(f"[data-testid={testid}]")


def read(page):
    return page.evaluate(READ)


def glided(page):
    page.wait_for_timeout(350)
    return read(page)


def drag_to(page, testid, value):
    """One input event, as a slider that is still held sends it; what is on the screen right after it."""
    part(page, testid).evaluate(SET, str(value))
    return read(page)


def stage_url(serve):
    """Address of the stage alone."""
    return serve(Path(__file__).with_name("stage_page.py"))


def inside(page, script):
    """Run the body of a function in the page with ``root``, the stage's shadow root."""
    holder = "[...document.querySelectorAll('*')].find((e) => e.shadowRoot?.querySelector('[data-testid=stage]'))"
    return page.evaluate(f"() => {{ const root = {holder}?.shadowRoot ?? document; {script} }}")
