"""Tokens as text: one decoder for a text that grows, and what a token reads as by itself."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

CUT = "\ufffd"
"""What tokenizers decode the first bytes of a character to, as long as its last ones are missing."""


class TextStream:
    """The text that each next token adds; a character cut between tokens is added by the last of them.

    Law: all that `add` returned, and `rest` behind it, is the decoded text of the tokens, special ones left out, wherever their
    bytes are text. Only the tokens since the last whole character, and those of that character, are decoded again.
    """

    def __init__(self, tokenizer):
        self._tokenizer = tokenizer
        self._window: list[int] = []
        self._before = 0
        self._told = 0

    def add(self, token: int) -> str:
        """What the next token adds; empty where it ends within a character, or is a special one."""
        self._window.append(token)
        text = decode(self._tokenizer, self._window)
        whole = text.rstrip(CUT)
        added, self._told = whole[self._told :], max(self._told, len(whole))
        if added and whole == text:
            # The last whole character stays in the window: what follows is joined to it, and stray bytes would read as broken.
            self._window = self._window[self._before :]
            self._before, self._told = len(self._window), len(decode(self._tokenizer, self._window))
        return added

    def rest(self) -> str:
        """What is still cut when the text is over."""
        return decode(self._tokenizer, self._window)[self._told :]


def decode(tokenizer, tokens: Sequence[int]) -> str:
    """Text of token ids as the model wrote it: special tokens left out, no spaces tidied away."""
    return tokenizer.decode(list(tokens), skip_special_tokens=True, clean_up_tokenization_spaces=False)


def pieces(tokenizer, tokens: Sequence[int]) -> tuple[str, ...]:
    """The text that each token of an answer adds. Law: joined they are the decoded text."""
    stream = TextStream(tokenizer)
    added = [stream.add(token) for token in tokens]
    return (*added[:-1], added[-1] + stream.rest()) if added else ()


class TokenTexts(Mapping[int, str]):
    """What each token id reads as by itself, decoded when first asked for."""

    def __init__(self, tokenizer):
        self._tokenizer, self._known = tokenizer, {}

    def __getitem__(self, token: int) -> str:
        if token not in self._known:
            self._known[token] = self._tokenizer.decode([token])
        return self._known[token]

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self._tokenizer)))

    def __len__(self) -> int:
        return len(self._tokenizer)

    def of(self, tokens: Iterable[int]) -> dict[int, str]:
        """The texts of these tokens, smallest id first."""
        return {token: self[token] for token in sorted(set(tokens))}
