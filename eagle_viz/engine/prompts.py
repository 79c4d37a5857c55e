"""What a target is asked, and the prompts that the shipped recordings answer: different kinds of text, so that the trees differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from eagle_viz.engine.target import Target


@dataclass(frozen=True)
class Prompt:
    """What is asked, `text`: a user turn in the target's chat template, or, if `raw`, a text to go on with as it stands.

    `name` for files and links, `title` for people, `kind` of text. A chat may have a `system` prompt and turns `before` this
    one, the user's and the answers in turn. Raises ValueError naming the field where there is nothing to answer.
    """

    name: str
    title: str
    kind: str
    text: str
    system: str = ""
    before: tuple[str, ...] = ()
    raw: bool = False

    def __post_init__(self):
        if not self.text.strip() or not all(turn.strip() for turn in self.before[::2]):
            raise ValueError("prompt: nothing given, a question or a task is needed")
        if len(self.before) % 2:
            raise ValueError(f"before: {len(self.before)} turns given, allowed are pairs: the user's turn and its answer")
        if self.raw and (self.system or self.before):
            field = "system" if self.system else "turns"
            raise ValueError(f"{field}: given beside raw, allowed only in a chat: a raw prompt is taken as it stands")

    def encode(self, target: Target) -> list[int]:
        """Token ids up to where the answer begins; raises ValueError where the target's chat template does not take it."""
        if self.raw:
            return target.encode_raw(self.text)
        roles = ("user", "assistant")
        turns = [{"role": roles[i % 2], "content": turn} for i, turn in enumerate((*self.before, self.text))]
        return target.encode_chat([{"role": "system", "content": self.system}, *turns] if self.system.strip() else turns)


_LETTER = (
    "Dear {},\n\nThank you for your order. It will arrive on Monday between nine and noon. "
    "If you are not at home, we will leave it with your neighbour.\n\nKind regards,\nThe shop\n\n"
)

_VERSE = (
    "{0} green bottles hanging on the wall,\n{0} green bottles hanging on the wall,\nAnd if one green bottle should accidentally "
    "fall,\nThere'll be {1} green bottles hanging on the wall.\n\n"
)

PROMPTS = (
    Prompt(
        "legal",
        "A legal clause",
        "legal",
        "Write a confidentiality clause for an employment contract. Start with: 1. Confidentiality. The Employee shall",
    ),
    Prompt("lease", "A rental agreement", "legal", "Draft the section of a residential lease that covers the security deposit."),
    Prompt("limerick", "A limerick", "verse", "Write a five-line limerick about an old man with a beard."),
    Prompt("poem", "A rhyming poem", "verse", "Write a short rhyming poem about autumn rain."),
    Prompt("python", "Python code", "code", "Write a Python function that returns the n-th Fibonacci number, with a docstring."),
    Prompt("sql", "A SQL query", "code", "Write a SQL query that lists the ten customers with the highest total order amount."),
    Prompt(
        "story",
        "An open-ended story",
        "story",
        "Begin a strange story in which a lighthouse keeper finds a door on the beach.",
    ),
    Prompt("dialogue", "A dialogue", "story", "Write a dialogue between a fox and a clockmaker. Begin with: Fox:"),
    Prompt("numbers", "Counting", "predictable", "Write the numbers from 1 to 40, one a line."),
    Prompt("json", "A JSON list", "predictable", "Write a JSON list of ten users with the fields id, name and email."),
    Prompt(
        "letter",
        "A form letter, repeated",
        "predictable",
        _LETTER.format("Anna") + _LETTER.format("Ben") + "Dear Clara,\n",
        raw=True,
    ),
    Prompt(
        "nursery",
        "A nursery rhyme",
        "predictable",
        _VERSE.format("Ten", "nine") + _VERSE.format("Nine", "eight") + "Eight green bottles",
        raw=True,
    ),
    Prompt("open", "Anything at all", "open", "Write a few lines about anything you like."),
    Prompt("fact", "A factual answer", "fact", "Why is the sky blue? Answer in a few sentences."),
    Prompt("list", "A list", "list", "List the planets of the solar system in order from the Sun, numbered."),
    Prompt("recipe", "A recipe", "list", "Write down a recipe for tomato soup."),
    Prompt("maths", "A worked sum", "mathematics", "A shop sells pens for 3 euros each. How much do 12 pens cost? Show the steps."),
)
"""Our own, none of them from a benchmark."""
