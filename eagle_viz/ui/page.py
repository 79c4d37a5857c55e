"""The page's state as one value, what a change makes of it, and which parts of the page then run again. No streamlit here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum, auto

from ..stage import Command
from .presets import LANDSCAPE, shown
from .settings import ALL_STEPS, USUAL_BUDGET, Settings, effective_settings, offered_parameters
from .world import trace_size

STAGE, SETTINGS, CHARTS = "stage", "settings", "charts"
"""Keys of the fragments: parts of the page that can run again by themselves."""
WHOLE = ("app",)
"""What ``touched`` says where the whole page has to run again."""
_TREES = (*LANDSCAPE, "position", "static", "shape", "dynamic", *offered_parameters())
"""The settings, apart from the budget, that decide which trees there are."""


class Origin(Enum):
    """Who changed something: a widget of the page, the stage itself, or new content under the same name (a file, a live run)."""

    WIDGET = auto()
    STAGE = auto()
    CONTENT = auto()


@dataclass(frozen=True)
class Refusal:
    """What was typed into a field and could not be taken, and why."""

    text: str
    why: str


@dataclass(frozen=True)
class Page:
    """All that the page knows, apart from the values of its widgets and the files opened on it.

    ``notes``: what could not be taken from the URL that was opened, a sentence each. ``url``: the query that the page last read or
    wrote. ``revision`` rises with every change; ``told`` is what the stage was last told, at which revision; ``painted``: the last
    revision whose trees the browser has painted, 0 before the first. ``held``: the stage's sharpness slider is held right now.
    ``large``: budgets above 128 are within reach. ``left_at``: the stop at which the tour was left, 0 for none. ``content`` rises
    when a file or a live run brings something new. ``refused``: by the name of a setting, what was typed for it last
    and could not be taken; the setting stays what it was. ``frame``: what stands around the fragments, None while the whole page
    runs.
    """

    settings: Settings
    notes: tuple[str, ...]
    url: Mapping[str, str]
    revision: int
    told: Command
    painted: int = 0
    held: bool = False
    large: bool = False
    left_at: int = 0
    content: int = 0
    refused: Mapping[str, Refusal] = field(default_factory=dict)
    frame: tuple[object, ...] | None = None

    @classmethod
    def opened(cls, settings: Settings, notes: tuple[str, ...], url: Mapping[str, str]) -> Page:
        """The page as a URL opens it."""
        return cls(settings, notes, url, 1, _command(1, settings), large=settings.budget > USUAL_BUDGET)

    def changed(
        self, change: Settings | Mapping[str, object], origin: Origin = Origin.WIDGET, in_sight: bool = False, **own: object
    ) -> Page:
        """The page after a change: settings in place of all of these, or new values of some; ``in_sight``: the stage, where it is
        told, scrolls itself into sight; ``own``: other fields of the page.

        Law: the stage is told whenever somebody else changes its budget, step or mode, or replaces all settings; never when it
        reports them itself. Trees that a change leaves alone stay painted; other trees, asked for before the first node was kept,
        are shown whole. Raises ``ValueError`` for a value outside its range.
        """
        settings = change if isinstance(change, Settings) else _grown(self.settings.but(**change), self.settings, origin)
        retold = isinstance(change, Settings) or (origin is not Origin.STAGE and _shown(settings) != _shown(self.settings))
        content = self.content + (origin is Origin.CONTENT)
        revision = self.revision + (retold or settings != self.settings or content != self.content)
        after = replace(
            self,
            settings=settings,
            revision=revision,
            told=_command(revision, settings, in_sight) if retold else self.told,
            content=content,
            held=False,
            large=self.large or settings.budget > USUAL_BUDGET,
            refused={} if isinstance(change, Settings) else {name: one for name, one in self.refused.items() if name not in change},
        )
        read = _drawn(after) != _drawn(self)  # the sentences about the link have been read by now
        kept = after.revision if self.standing and trees(after) == trees(self) else self.painted
        return replace(after, **{"notes": () if read else self.notes, "painted": kept} | own)

    def has_painted(self, revision: int | None) -> Page:
        """The page after the browser said that it painted a revision; unchanged where the settings have moved on since."""
        return replace(self, painted=revision) if revision == self.revision else self

    @property
    def standing(self) -> bool:
        """Whether the trees of these settings are on screen (or there are none to wait for)."""
        return self.painted == self.revision


def _shown(settings: Settings) -> tuple[int, int, str]:
    step = settings.budget if settings.step == ALL_STEPS else min(settings.step, settings.budget)
    return settings.budget, step, settings.mode


def _grown(now: Settings, before: Settings, origin: Origin) -> Settings:
    """Other trees asked for by a widget at step 0 are shown whole: before the first node there would be nothing to see change."""
    other = any(getattr(now, name) != getattr(before, name) for name in _TREES)
    return now.but(step=ALL_STEPS) if other and origin is Origin.WIDGET and now.step == 0 and now.mode == "nodes" else now


def _command(revision: int, settings: Settings, in_sight: bool = False) -> Command:
    return Command(revision, *_shown(settings), in_sight)


def _drawn(page: Page) -> tuple[object, ...]:
    """What anything outside the stage depends on."""
    return page.settings.but(step=ALL_STEPS, mode="nodes"), page.content, page.large


def _column(page: Page) -> tuple[object, ...]:
    """What the settings column depends on: all of that but the budget."""
    settings, *rest = _drawn(page)
    return settings.but(budget=1), *rest


def trees(page: Page) -> tuple[object, ...]:
    """What decides the trees in the stage's hands. A budget within what it holds already is no new tree."""
    settings = effective_settings(page.settings)
    return page.content, *(getattr(settings, name) for name in _TREES), *trace_size(settings)


def frame(page: Page) -> tuple[object, ...]:
    """What decides what stands around the fragments; which recording is read is settled there too."""
    now = page.settings
    preset = now.preset and shown(now)
    return now.view, now.tour, now.hide, now.source, now.recording, preset, page.content, page.notes


def touched(before: Page, after: Page) -> tuple[str, ...]:
    """The parts that run again after a change, ``WHOLE``, or none beyond the one in which something was done.

    A change in the lab runs the stage and the settings column. The charts below follow when the browser has painted the trees, or
    at once where the trees are there already. While a slider of the stage is held, only the stage runs.
    """
    if after.held:
        return ()
    freed = before.held
    moved = freed or after.told != before.told or _drawn(after) != _drawn(before)
    if moved and (after.settings.view != "lab" or after.frame != frame(after)):
        return WHOLE
    if not moved and after.standing <= before.standing:
        return ()
    column = freed or _column(after) != _column(before)
    return (
        STAGE,
        *([SETTINGS] if column and not after.settings.hides("settings") else []),
        *([CHARTS] if after.standing and not after.settings.hides("charts") else []),
    )
