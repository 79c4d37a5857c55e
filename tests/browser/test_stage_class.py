"""In front of a class: the full screen, words explained, expected beside measured, names of policies, buttons that say why."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree

import pytest

from eagle_viz import POLICIES, SyntheticLandscape
from eagle_viz.stage.player import player_html
from eagle_viz.stage.trace import build_trace
from tests.browser.stage_reading import drag_to, glided, inside, part, read
from tests.browser.test_stage_share import saved

SIZES = """return [...root.querySelectorAll('svg.tree .value')].filter((e) => e.getClientRects().length)
  .map((e) => e.getBoundingClientRect().height)"""


REFUSED = "() => { Element.prototype.requestFullscreen = () => Promise.reject(new Error('refused')); }"
"""Without the browser's full screen the stage fills its page at once: the same picture, and nothing to wait for."""


@pytest.mark.parametrize(("width", "height", "larger"), [(1024, 768, 1.2), (1920, 1080, 1.7)])
def test_the_full_screen_has_larger_labels_and_its_controls_above_the_fold(drawn, width, height, larger):
    """F fills the screen with the trees and their words; F again gives the page back as it was."""
    page = drawn(page={"width": width, "height": height})
    before, small = read(page), max(inside(page, SIZES))
    page.bring_to_front()  # Chromium keeps the whole screen for the page in front
    page.keyboard.press("f")
    page.wait_for_function("() => document.fullscreenElement")
    glided(page)
    assert max(inside(page, SIZES)) >= larger * small
    for name in ("stage-play", "stage-budget", "stage-full", "stage-gain"):
        box = part(page, name).bounding_box()
        assert box["y"] >= 0 and box["y"] + box["height"] <= height and box["x"] + box["width"] <= width
    assert set(read(page)["dynamic"]) == set(before["dynamic"])
    page.keyboard.press("ArrowLeft")
    assert read(page)["step"] == "24"
    page.keyboard.press("ArrowRight")
    page.keyboard.press("F")
    page.wait_for_function("() => !document.fullscreenElement")
    assert glided(page) == before and page.errors == []


def test_a_node_is_found_under_the_pointer_on_the_full_screen(drawn):
    """Marks are larger there, and looking at one still finds it."""
    page = drawn()
    page.evaluate(REFUSED)
    part(page, "stage-full").click()
    page.mouse.move(*glided(page)["dynamic"]["0.0"][:2])
    assert inside(page, "return [...root.querySelectorAll('.looked')].map((e) => e.dataset.path)") == ["0.0", "0.0"]


def test_where_the_browser_refuses_the_full_screen_the_stage_fills_its_page(drawn):
    """A frame without that right still gets the larger words; Escape ends it."""
    page = drawn()
    page.evaluate(REFUSED)
    part(page, "stage-full").click()
    box = part(page, "stage").bounding_box()
    assert (box["x"], box["y"], box["width"], box["height"]) == (0, 0, 1280, 900)
    page.locator("body").evaluate("() => document.activeElement.blur()")
    page.keyboard.press("Escape")
    assert part(page, "stage").bounding_box()["y"] > 0 and page.errors == []


@pytest.mark.parametrize("word", ["expected tokens accepted per pass", "path product", "confidence", "budget", "tau"])
def test_the_words_of_the_field_are_explained_on_hover_and_focus(drawn, word):
    """Every explanation opens within the page's width, also on a phone."""
    page = drawn(page={"width": 390, "height": 844})
    term = page.locator("dfn").filter(has_text=re.compile(f"^{word}")).first
    bubble = term.locator(".bubble")
    assert not bubble.is_visible()
    term.focus()
    assert bubble.is_visible() and len(bubble.inner_text()) > 40
    box = bubble.bounding_box()
    assert box["x"] >= 0 and box["x"] + box["width"] <= 390 and page.evaluate("document.documentElement.scrollWidth") <= 390


def test_in_verify_expected_and_measured_stand_together_each_labelled(drawn):
    """After n rolls the measured number is the mean of what the tree accepted, tau one more."""
    page = drawn()
    assert not part(page, "stage-dynamic-measured").is_visible()
    part(page, "stage-mode-verify").click()
    drag_to(page, "stage-step", 400)
    means = re.search(r"mean so far ([\d.]+) against ([\d.]+)", read(page)["sentence"]).groups()
    for side, mean in zip(("static", "dynamic"), means, strict=True):
        assert "expected tokens accepted per pass" in page.locator(f".readout.{side} dt").inner_text()
        said = part(page, f"stage-{side}-measured").inner_text()
        measured, tau = re.search(r"measured: ([\d.]+) \(tau\s([\d.]+)\)", said).groups()
        assert measured == mean and float(tau) == pytest.approx(float(mean) + 1)


def test_a_side_is_named_by_its_policy_wherever_it_stands(drawn):
    """With the policies swapped, nothing calls EAGLE-2 static or gray and nothing calls EAGLE-1 dynamic or blue."""
    page = drawn(static="eagle2", dynamic="eagle1")
    part(page, "stage-mode-verify").click()
    part(page, "stage-next").click()
    titles = inside(page, "return [...root.querySelectorAll('h3')].map((e) => e.textContent)")
    assert titles[0].startswith("EAGLE-2fits its tree") and titles[1].startswith("EAGLE-1 shapealways the same tree")
    text = part(page, "stage").inner_text()
    assert not re.search(r"\b(gray|blue|static|dynamic)\b", text, re.IGNORECASE)
    assert "EAGLE-2 keeps" in text


def test_two_sides_of_one_policy_are_told_apart(drawn):
    """The same title on both sides gets the colour behind it."""
    page = drawn(static="eagle2", dynamic="eagle2")
    assert inside(page, "return [...root.querySelectorAll('h3 .title')].map((e) => e.textContent)") == [
        "EAGLE-2 (gray)",
        "EAGLE-2 (blue)",
    ]


def test_a_button_with_nothing_to_show_says_why(drawn):
    """It stays in reach of the pointer and the keyboard, changes nothing, and gives the reason."""
    page = drawn(dynamic="best_first")
    phases = part(page, "stage-mode-phases")
    assert phases.get_attribute("aria-disabled") == "true" and "no phases to watch" in phases.get_attribute("title")
    phases.dispatch_event("click")
    assert phases.get_attribute("aria-pressed") == "false" and "no phases to watch" in page.locator(".notice").inner_text()


def test_look_and_label_of_a_small_node_agree(drawn):
    """What is drawn as worth under 0.02 has a number under 0.02 beside it, and nothing else has."""
    page = drawn(budget=60)
    nodes = inside(
        page,
        """return [...root.querySelectorAll('[data-tree]')].map((e) =>
      [e.classList.contains('faint'), e.querySelector('.value').textContent])""",
    )
    assert {faint for faint, _ in nodes} == {True, False}
    assert all(faint == (text == "<0.01" or float(text) < 0.02) for faint, text in nodes)


def test_the_zoom_buttons_keep_the_trees_in_sight(drawn):
    """Zooming in and out again with the buttons never loses the middle of the trees."""
    page = drawn()
    for _ in range(4):
        part(page, "stage-zoom-in").click()
    frame = page.locator("svg.tree").nth(1).bounding_box()
    xs = [x for x, _, _ in read(page)["dynamic"].values()]
    ys = [y for _, y, _ in read(page)["dynamic"].values()]
    assert frame["x"] < (min(xs) + max(xs)) / 2 < frame["x"] + frame["width"]
    assert frame["y"] < (min(ys) + max(ys)) / 2 < frame["y"] + frame["height"]


def test_a_tip_never_covers_the_way_it_explains(drawn):
    """At every node of the dynamic tree the tip leaves all marks of its path free."""
    page = drawn()
    covered = """const tip = root.querySelector('.panel.dynamic .tip').getBoundingClientRect();
      return [...root.querySelectorAll('.panel.dynamic .node.lit .mark')].map((e) => e.getBoundingClientRect())
        .filter((b) => b.left < tip.right && tip.left < b.right && b.top < tip.bottom && tip.top < b.bottom).length"""
    for x, y, _ in list(read(page)["dynamic"].values()):
        page.mouse.move(x, y)
        assert inside(page, covered) == 0


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_before_the_first_node_the_picture_says_what_play_does(drawn, width, scheme):
    """Each empty tree shows its root and the same offer, also on the full screen; no node and no saved picture has it."""
    page = drawn(step=0, page={"width": width, "height": 844, "color_scheme": scheme})
    words = page.locator(".idle")
    said = [text.replace("\n", " ") for text in words.all_inner_texts()]
    assert said == [
        "Step 0 of 25: press Play. Each step adds one node, always in the same order.",
        "Step 0 of 25: press Play. Each step adds one node, chosen for this context.",
    ]
    assert page.locator("[data-root] .mark").count() == 2 and b"press Play" not in saved(page, "stage-save-svg")[1]
    for full in (False, True):
        if full:
            page.evaluate(REFUSED)
            part(page, "stage-full").click()
            glided(page)
        for i in range(2):
            inner, frame = words.nth(i).bounding_box(), page.locator(".field").nth(i).bounding_box()
            assert frame["x"] <= inner["x"] and inner["x"] + inner["width"] <= frame["x"] + frame["width"]
            assert frame["y"] <= inner["y"] and inner["y"] + inner["height"] <= frame["y"] + frame["height"]
    part(page, "stage-play").click()
    assert not words.first.is_visible()
    part(page, "stage-first").click()
    assert words.first.is_visible() and words.nth(1).is_visible()
    part(page, "stage-next").click()
    assert not words.first.is_visible() and not words.nth(1).is_visible()


def test_a_saved_picture_has_its_title_and_legend(drawn):
    """Who sees the picture alone can read it."""
    page = drawn()
    texts = [
        text.text for text in ElementTree.fromstring(saved(page, "stage-save-svg")[1]).iter("{http://www.w3.org/2000/svg}text")
    ]
    assert texts[0] == "seed 11, sharpness 2.5"
    assert {"in both trees", "only in this one", "worth under 0.02"} <= set(texts)


def test_a_player_has_its_title_and_prompt(open_page, tmp_path):
    """The offline file says what its trees are of, hostile text included."""
    policies = POLICIES["eagle1"](), POLICIES["eagle2"]()
    trace = build_trace(SyntheticLandscape(seed=11), *policies, tier=32, label="A list", prompt="Name <b>three</b> rivers.")
    (tmp_path / "player.html").write_text(player_html(trace), encoding="utf-8")
    page = open_page((tmp_path / "player.html").as_uri(), offline=True)
    assert page.locator("h1").inner_text() == "A list" and page.locator(".prompt").inner_text() == "Name <b>three</b> rivers."
    name, content = saved(page, "stage-save-svg")
    assert b"Name &lt;b&gt;three&lt;/b&gt; rivers." in content
