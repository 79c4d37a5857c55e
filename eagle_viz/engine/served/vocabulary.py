"""Whether two served models cut text into the same tokens: only then does a drafted token mean the same to the target."""

from .client import ServedError
from .model import ServedModel

PROBE = (
    "The quick brown fox, aged 42, said: \"That's 3.14159!\"\n\tdef f(x_1):  # ok?\n\t\treturn {'a': [x**2]}\n"
    "Ünïcödé naïve Straße, Καλημέρα, Привет, 你好世界, こんにちは, สวัสดี, שלום, नमस्ते 🙂 \u200d https://example.org/?q=1&r=2"
)
"""A text that tokenizers of different models cut differently: words, digits, code, many scripts."""


def same_vocabulary(drafter: ServedModel, target: ServedModel) -> None:
    """Raise ``ServedError`` unless both models cut a probing text into the same token ids and read each of them alike."""
    ours, theirs = drafter.encode(PROBE), target.encode(PROBE)
    both = f"{drafter.title} and {target.title}"
    if ours != theirs:
        raise ServedError(
            f"{both} have different vocabularies: one text is other tokens to the drafter ({len(ours)}) than to the target "
            f"({len(theirs)}); a drafter needs the target's tokenizer"
        )
    tokens = sorted(set(ours))
    read, meant = drafter.texts(tokens), target.texts(tokens)
    apart = next((token for token in tokens if read[token] != meant[token]), None)
    if apart is not None:
        raise ServedError(
            f"{both} have different vocabularies: token {apart} reads {read[apart]!r} to the drafter and {meant[apart]!r} to the "
            f"target; a drafter needs the target's tokenizer"
        )
