"""Fingers on the trees: two zoom and pan them as on a map, one scrolls the page."""

from __future__ import annotations

import pytest

from tests.browser.stage_reading import inside, read

PHONE = {"width": 390, "height": 844, "has_touch": True, "is_mobile": True}


@pytest.fixture
def phone(drawn):
    """The offline stage on a touch screen, its first tree in sight, and a hand: ``hand(kind, *points)`` sends one touch event."""
    page = drawn(page=PHONE)
    page.locator("svg.tree").first.scroll_into_view_if_needed()
    session = page.context.new_cdp_session(page)

    def hand(kind, *points):
        touches = [{"x": x, "y": y, "id": finger} for finger, (x, y) in enumerate(points)]
        session.send("Input.dispatchTouchEvent", {"type": f"touch{kind}", "touchPoints": touches})
        page.evaluate("new Promise((drawn) => requestAnimationFrame(drawn))")  # a hand is no faster than the screen

    return page, hand


def corner(page):
    box = page.locator("svg.tree").first.bounding_box()
    return box["x"], box["y"]


def move(hand, start, end, steps=6):
    """Put the fingers down one after the other, move them evenly, lift them."""
    for count in range(1, len(start) + 1):
        hand("Start", *start[:count])
    for step in range(1, steps + 1):
        part = step / steps
        hand("Move", *[(a + (c - a) * part, b + (d - b) * part) for (a, b), (c, d) in zip(start, end, strict=True)])
    hand("End")


def scrolled(page):
    return page.evaluate("scrollY")


def test_a_pinch_spreads_both_trees_about_the_point_between_the_fingers_and_the_page_stays(phone):
    page, hand = phone
    left, top = corner(page)
    middle = (left + 150, top + 150)
    before, stood = read(page), scrolled(page)
    move(
        hand,
        [(middle[0] - 40, middle[1] - 30), (middle[0] + 40, middle[1] + 30)],
        [(middle[0] - 80, middle[1] - 60), (middle[0] + 80, middle[1] + 60)],
    )
    after = read(page)
    assert scrolled(page) == stood and page.evaluate("visualViewport.scale") == 1
    offset = corner(page)[1] - page.locator("svg.tree").nth(1).bounding_box()["y"]
    for side, shift in (("static", 0), ("dynamic", -offset)):
        centre = (middle[0], middle[1] + shift)
        for path, (x, y, _) in before[side].items():
            wanted = [at + 2 * (now - at) for at, now in zip(centre, (x, y), strict=True)]
            assert after[side][path][:2] == pytest.approx(wanted, abs=2)


def test_two_fingers_moving_together_pan_without_zoom(phone):
    page, hand = phone
    left, top = corner(page)
    before, stood = read(page), scrolled(page)
    move(hand, [(left + 100, top + 120), (left + 180, top + 120)], [(left + 130, top + 170), (left + 210, top + 170)])
    after = read(page)
    assert scrolled(page) == stood
    for path, (x, y, _) in before["static"].items():
        assert after["static"][path][:2] == pytest.approx([x + 30, y + 50], abs=2)


def test_one_finger_scrolls_the_page_and_leaves_the_view(phone):
    page, hand = phone
    left, top = corner(page)
    places = "return [...root.querySelectorAll('[data-tree]')].map((e) => e.getAttribute('transform'))"
    before, stood = inside(page, places), scrolled(page)
    for _ in range(10):  # where others have the processor, Chromium drops a touch that the page answers too late
        if scrolled(page) <= stood + 60:
            move(hand, [(left + 150, top + 180)], [(left + 150, top + 60)], steps=12)
            page.wait_for_timeout(300)
    assert scrolled(page) > stood + 60
    assert inside(page, places) == before


def test_the_finger_that_is_left_after_a_pinch_moves_nothing(phone):
    page, hand = phone
    left, top = corner(page)
    hand("Start", (left + 100, top + 120))
    hand("Start", (left + 100, top + 120), (left + 180, top + 120))
    hand("Move", (left + 90, top + 120), (left + 190, top + 120))
    hand("End", (left + 90, top + 120))
    before = read(page)
    hand("Move", (left + 30, top + 120))
    hand("End")
    assert read(page) == before
