"""What a target is asked: one turn, several, a system prompt, a raw text; anything that cannot be asked is named."""

import pytest

from eagle_viz.engine.prompts import PROMPTS, Prompt


def ask(text, **more):
    return Prompt("own", "Own", "own", text, **more)


def test_a_chat_is_put_into_the_template_turn_by_turn(tiny_target):
    """The template by hand: `user`, the message, the end token for each message, then `bot` where the answer begins."""
    assert ask("w7 w8").encode(tiny_target) == tiny_target.encode_chat("w7 w8") == [2, 7, 8, 1, 3]
    assert ask("w9", before=("w7", "w8")).encode(tiny_target) == [2, 7, 1, 2, 8, 1, 2, 9, 1, 3]
    assert ask("w9", system="w20").encode(tiny_target) == [2, 20, 1, 2, 9, 1, 3]


def test_a_raw_prompt_is_taken_as_it_stands(tiny_target):
    """No template around it."""
    assert ask("w7 w8", raw=True).encode(tiny_target) == [7, 8]


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (lambda: ask(" "), "prompt: nothing given"),
        (lambda: ask("a", before=(" ", "b")), "prompt: nothing given"),
        (lambda: ask("a", before=("b",)), "before: 1 turns given"),
        (lambda: ask("a", system="s", raw=True), "system: given beside raw"),
        (lambda: ask("a", before=("b", "c"), raw=True), "turns: given beside raw"),
    ],
)
def test_what_cannot_be_asked_is_named(made, words):
    """One sentence that names the field."""
    with pytest.raises(ValueError, match=f"^{words}"):
        made()


def test_a_template_that_takes_no_system_prompt_says_so(tiny_target, monkeypatch):
    """Some chat templates raise on a system message: that is one sentence, not jinja's traceback."""
    refusing = "{% if messages[0]['role'] == 'system' %}{{ raise_exception('no system role') }}{% endif %}bot"
    monkeypatch.setattr(tiny_target.tokenizer, "chat_template", refusing)
    assert ask("w7").encode(tiny_target) == [3]
    with pytest.raises(ValueError, match=r"^prompt: the target's chat template does not take system, user \(no system role\)"):
        ask("w7", system="w8").encode(tiny_target)


def test_prompts_are_of_many_kinds_and_names_differ():
    """The shipped prompts are told apart by name, and are of at least six kinds."""
    assert len({prompt.name for prompt in PROMPTS}) == len(PROMPTS) >= 8
    assert {"legal", "verse", "code", "story", "fact", "list"} <= {prompt.kind for prompt in PROMPTS}
