"""Presets: a name for the URL, a button, a sentence that says what to try and what it shows, and the settings it starts from.

Every number in a sentence is checked against the core in tests/ui/test_presets.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..core.policies import POLICIES
from .settings import MISCONCEPTION, Settings, base_of


@dataclass(frozen=True)
class Preset:
    """``changes`` are settings against the page's defaults; ``first``: shown at once, the others behind "More"."""

    title: str
    sentence: str
    changes: Mapping[str, object]
    first: bool = False


PRESETS: dict[str, Preset] = {
    "sharp": Preset(
        "Sharp, 2.5",
        "At most places one word is nearly certain. EAGLE-2 follows it six levels down and adds what else is probable; EAGLE-1's "
        "shape spends 16 of its 25 nodes on siblings worth next to nothing: 5.47 against 4.33 expected tokens. Step through it "
        "and watch the gain climb.",
        {"sharpness": 2.5},
        first=True,
    ),
    "flat": Preset(
        "Flat, 0.8",
        "The same seed with its confidences levelled out. Both trees go wide and shallow and look alike: 2.88 against 2.77 tokens, "
        "4 % more. There is little to adapt to.",
        {"sharpness": 0.8},
        first=True,
    ),
    "sweep": Preset(
        "Safest tree",
        "The blue chain, 0.90, 0.72, 0.55, 0.40, is accepted to its end only 40 % of the time, and is worth 2.57 tokens. The "
        "gray tree is certain to have a whole branch accepted, and is worth 1.00. Count tokens, not whole branches.",
        {"source": "levels", "levels": MISCONCEPTION, "budget": 4, "static": "max_sweep", "dynamic": "best_first"},
        first=True,
    ),
    "deep": Preset(
        "Deep, 12 levels",
        "The sharp landscape again, with twelve draft passes a tree instead of the paper's six: EAGLE-2 follows the sure path "
        "twelve levels down, 6.07 against 4.33 expected tokens. Each draft pass costs time, so deeper is not always faster: see "
        "Budget & speed.",
        {"max_depth": 12},
    ),
    "misses": Preset(
        "Misses, 0.9",
        "The sharp landscape, but at each place the next token is with 10 % chance none of the candidates, as happens to a real "
        "drafter. Deep guesses suffer most: 3.89 against 3.28 expected tokens, 19 % more instead of 26 %.",
        {"coverage": 0.9},
    ),
    "chain": Preset(
        "One sure chain",
        "Every next word is 97 % certain. With twelve levels allowed, EAGLE-2 puts all 12 nodes into one chain worth 9.90 tokens; "
        "EAGLE-1's shape has five levels and gets 4.64.",
        {"source": "levels", "levels": "0.97 0.01 0.01 0.005", "budget": 12, "max_depth": 12},
    ),
    "ties": Preset(
        "Ties",
        "All confidences are powers of one half, so eight nodes tie at 1/16 and five of them fit. The order is strict (value, then "
        "shallower, then earlier): every machine keeps the same five, worth 1.81 in all.",
        {"source": "levels", "levels": "0.5 0.25 0.125 0.0625", "budget": 12},
    ),
    "tail": Preset(
        "Heavy tail",
        "Ten candidates, none of them likely: the next word is open. The tree turns wide and two levels deep, 1.14 against 0.68 "
        "tokens. Choose Best static shape for gray: it gets 1.14 too, so here the gain is a better shape, not a look at the "
        "context.",
        {"source": "levels", "levels": "0.16 0.13 0.11 0.1 0.09 0.08 0.07 0.06 0.05 0.04"},
    ),
    "average": Preset(
        "Static wins",
        "Every context is the average one, so the best static shape is the best tree there is: 2.71 tokens. EAGLE-2 with 3 "
        "nodes expanded per level gets 2.64 because it loses nodes that the fixed shape has. Raise top_k to 10 under More "
        "settings and it ties.",
        {"source": "levels", "levels": "0.6 0.2 0.1 0.05", "static": "best_static", "top_k": 3},
    ),
    "legal": Preset(
        "A legal clause",
        "With the shipped head, a small one, and twelve levels allowed, the trees in this clause are 3 to 7 levels deep. Choose A "
        "legal clause · upper bound as the recorded text to see what a perfectly calibrated drafter builds for the same prompt: 4 "
        "to 9 levels.",
        {"view": "text", "source": "recording", "recording": "legal", "max_depth": 12},
    ),
    "limerick": Preset(
        "A limerick",
        "Verse is open: EAGLE-2 expects 1.80 accepted tokens a pass, of Counting 5.27, and its trees are wide where a line may "
        "go on in many ways. Compare the strip with that of Counting.",
        {"view": "text", "source": "recording", "recording": "limerick"},
    ),
    "code": Preset(
        "Python code",
        "EAGLE-2 expects 2.56 accepted tokens a pass here. A name is a free choice, the syntax after it is not; the tree follows, "
        "between 3 and 6 levels deep.",
        {"view": "text", "source": "recording", "recording": "python"},
    ),
    "counting": Preset(
        "Counting",
        "The most predictable of the thirteen texts: EAGLE-2 expects 8.28 accepted tokens a pass. With twelve levels allowed its "
        "trees are 6 to 12 levels deep, a chain where the next number is certain and wide where a digit may follow.",
        {"view": "text", "source": "recording", "recording": "numbers", "max_depth": 12},
    ),
}


SHOWN_BY_DEFAULT = "sharp"
"""The preset whose landscape the lab opens on."""
LANDSCAPE = ("source", "seed", "sharpness", "branching", "coverage", "levels", "recording")


def shown(settings: Settings) -> str:
    """The preset whose landscape is on the page, or an empty text once it was changed for another."""
    preset = settings.preset or (SHOWN_BY_DEFAULT if settings.view == "lab" else "")
    if preset not in PRESETS:
        return ""
    start = base_of(preset, changes_by_name())
    for name in LANDSCAPE:
        now, then = getattr(settings, name), getattr(start, name)
        if now != then and not (name == "recording" and str(now).endswith(f"-{then}")):
            return ""
    return preset


def note(settings: Settings) -> str:
    """The sentence of the preset that is on the page; where the trees were changed since, what it was loaded with stands before it.

    Empty where no preset is on.

    >>> note(Settings(budget=40, max_depth=9))[:36]
    'Loaded with 25 nodes and 6 levels: A'
    """
    name = shown(settings)
    if not name:
        return ""
    start, sentence = base_of(name, changes_by_name()), PRESETS[name].sentence
    words = {
        "budget": f"{start.budget} nodes",
        "static": f"{POLICIES[start.static].title} (gray)",
        "dynamic": f"{POLICIES[start.dynamic].title} (blue)",
        "top_k": f"top_k {start.top_k}",
        "max_depth": f"{start.max_depth} levels",
    }
    changed = [said for part, said in words.items() if getattr(settings, part) != getattr(start, part)]
    return f"Loaded with {' and '.join(changed)}: {sentence}" if changed else sentence


def changes_by_name() -> dict[str, Mapping[str, object]]:
    """What ``settings.parse`` and ``settings.to_query`` need to know of the presets."""
    return {name: preset.changes for name, preset in PRESETS.items()}
