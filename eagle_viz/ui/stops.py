"""The stops of the tour: what each sets on the page, and what it says to look at. Numbers are checked in tests/ui."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from . import story
from .presets import PRESETS
from .settings import ALL_STEPS, Settings


@dataclass(frozen=True)
class Stop:
    """``changes`` are settings against the page's defaults; ``find`` gives further ones, ``told`` a further sentence, both counted
    on the recordings when the stop is reached.
    """

    title: str
    text: str
    changes: Mapping[str, object]
    find: Callable[[], Mapping[str, object]] = dict
    told: Callable[[], str] = str


STOPS: tuple[Stop, ...] = (
    Stop(
        "What is a node worth?",
        "The first guess is right with probability 0.95, so it is worth 0.95 tokens. A later one only counts if everything before "
        "it was right: 0.95 × 0.99 × 1.00 × 0.51 = 0.48. All these products added up are the tokens you can expect to be accepted. "
        "Press the right arrow key a few times: each step says what was added and why. Node 0.1 is the second guess after the "
        "first.",
        {"step": 4},
    ),
    Stop(
        "A sharp context: go deep",
        "With all 25 nodes bought, blue follows the sure path six levels down, one level for each draft pass, and keeps what else "
        "is probable. Gray has one shape for every context: 16 of its nodes are worth less than anything blue keeps. 5.47 against "
        "4.33 expected tokens.",
        {"step": ALL_STEPS},
    ),
    Stop(
        "A flat context: go wide",
        "Same seed, confidences levelled out. Both trees are now wide and five levels deep, and 4 % apart. Dynamic wins exactly "
        "as much as contexts differ from the average one. Drag sharpness back up and watch the gain return.",
        {"sharpness": 0.8},
    ),
    Stop(
        "How EAGLE-2 finds the tree",
        "Expand: each draft pass scores the children of the ten best nodes of the last layer. Rerank: keep the 25 largest "
        "products of everything scored. The kept set is always connected, because a child is never worth more than its parent. "
        "Press Play.",
        {"mode": "phases", "step": 0},
    ),
    Stop(
        "Count tokens, not whole branches",
        "The blue chain survives to its end 40 % of the time, and is worth 2.57 tokens. In the gray tree a whole "
        "branch is certain to be accepted, and it is worth 1.00. Maximising that chance gives wide, shallow trees that win few "
        "tokens.",
        dict(PRESETS["sweep"].changes),
    ),
    Stop(
        "Real text, a new tree in every pass",
        "A real answer, drafted and verified. Underlined tokens were drafted and accepted, boxed ones are the target's own. In the "
        "marked pass blue gets tokens accepted that gray did not guess. The bars below show both trees in every pass: gray never "
        "changes its shape, blue goes deep where the text is predictable. Click another pass.",
        {"view": "text", "source": "recording"},
        find=story.clearest_example,
        told=story.how_often,
    ),
    Stop(
        "Confidence is close to acceptance",
        "All this rests on one thing: that the drafter's confidence tells how often the target will accept. Dots on the "
        "diagonal mean that it does. The ladder below shows what each idea adds at the same budget.",
        {"view": "confidence"},
    ),
    Stop(
        "What it buys, and what it costs",
        "More nodes never lower expected tokens per pass, but can lower tokens per second. Here is a setting that pays on two "
        "processor cores: 15 nodes in 4 draft passes instead of 25 in 6; the sentence below the curve says how much faster than "
        "plain decoding it is. On another machine another setting pays; choose one on the left. The paper reports 20 to 40 % over "
        "EAGLE-1 with the same head and the same verification.",
        {"view": "speed", "budget": 15, "max_depth": 4},
    ),
)


def settings_at(stop: int) -> Settings:
    """The settings of stop 1, 2, ...; raises ``IndexError`` where there is none."""
    here = STOPS[stop - 1]
    return Settings(tour=stop, **{**here.changes, **here.find()})
