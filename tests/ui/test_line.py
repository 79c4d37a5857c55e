"""The queue before the one model: in the order of coming, one at a time, places told, leavers gone."""

import threading
import time

import pytest

from eagle_viz.ui.line import Line


def test_one_works_at_a_time_in_the_order_of_coming():
    """Five threads that come one after the other: each finds nobody at work, and they work in that order."""
    line, order, inside, most = Line(), [], [], []

    def work(name):
        with line.turn(lambda before: None):
            inside.append(name)
            most.append(len(inside))
            order.append(name)
            time.sleep(0.01)
            inside.remove(name)

    with line.turn(lambda before: None):
        threads = [threading.Thread(target=work, args=(name,)) for name in range(5)]
        for place, thread in enumerate(threads, start=2):
            thread.start()
            while len(line._tickets) < place:
                time.sleep(0.001)
        assert order == []
    for thread in threads:
        thread.join(timeout=10)
    assert order == [0, 1, 2, 3, 4] and most == [1] * 5


def test_the_place_is_told_and_a_leaver_frees_it():
    """Third in line hears 2; when the second leaves by raising, it hears 1; when the first is done it works."""
    line, told, done = Line(), [], threading.Event()
    gone = threading.Event()

    def leaver(before):
        if gone.is_set():
            raise RuntimeError("had enough")

    def second():
        with pytest.raises(RuntimeError, match="had enough"), line.turn(leaver):
            pass

    def third():
        with line.turn(told.append):
            done.set()

    with line.turn(lambda before: None):
        threads = [threading.Thread(target=second), threading.Thread(target=third)]
        for place, thread in enumerate(threads, start=2):
            thread.start()
            while len(line._tickets) < place:
                time.sleep(0.001)
        while not told:
            time.sleep(0.001)
        gone.set()
        threads[0].join(timeout=10)
        while told[-1] != 1:
            time.sleep(0.001)
        assert not done.is_set()
    assert done.wait(10) and told[0] == 2 and set(told) == {2, 1}
    threads[1].join(timeout=10)


def test_an_error_at_work_lets_the_next_one_in():
    """What fails inside the turn ends the turn."""
    line = Line()
    with pytest.raises(ValueError), line.turn(lambda before: None):
        raise ValueError
    with line.turn(lambda before: pytest.fail("nobody is before")):
        pass
