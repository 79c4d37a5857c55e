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


AT_REST = """const places = () => [...root.querySelectorAll('[data-tree], [data-root]')].map((e) => {
    const box = e.getBoundingClientRect();
    return [e.dataset.path, box.x, box.y];
  }).join();
  return new Promise((done) => {
    let [last, same] = [places(), 0];
    const look = () => {
      const now = places();
      same = now === last ? same + 1 : 0;
      last = now;
      same < 6 ? requestAnimationFrame(look) : done();
    };
    requestAnimationFrame(look);
  });"""


def glided(page):
    """What is on the screen once nothing has moved for six frames, however long the machine takes to draw them."""
    inside(page, AT_REST)
    return read(page)


def drag_to(page, testid, value):
    """One input event, as a slider that is still held sends it; what is on the screen right after it."""
    part(page, testid).evaluate(SET, str(value))
    return read(page)


def stage_url(serve):
    """Address of the stage alone."""
    return serve(Path(__file__).with_name("stage_page.py"))


HOLDER = "[...document.querySelectorAll('*')].find((e) => e.shadowRoot?.querySelector('[data-testid=stage]'))"


def in_root(script):
    """A function with this body and with ``root``, the stage's shadow root."""
    return f"() => {{ const root = {HOLDER}?.shadowRoot ?? document; {script} }}"


def inside(page, script):
    """Run the body of a function in the page with ``root``, the stage's shadow root."""
    return page.evaluate(in_root(script))


def until(page, condition):
    """Wait until an expression of ``root`` is true, looked at in every frame."""
    page.wait_for_function(in_root(f"return {condition};"))
