"""The prompts that the shipped recordings answer: different kinds of text, so that the trees differ in shape."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Prompt:
    """One user turn: `name` for files and links, `title` for people, `kind` of text, and what is asked."""

    name: str
    title: str
    kind: str
    text: str


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
    Prompt("fact", "A factual answer", "fact", "Why is the sky blue? Answer in a few sentences."),
    Prompt("list", "A list", "list", "List the planets of the solar system in order from the Sun, numbered."),
    Prompt("recipe", "A recipe", "list", "Write down a recipe for tomato soup."),
    Prompt("maths", "A worked sum", "mathematics", "A shop sells pens for 3 euros each. How much do 12 pens cost? Show the steps."),
)
"""Our own, none of them from a benchmark."""
