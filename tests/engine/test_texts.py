"""Text as the model wrote it: whatever way characters are cut into tokens, the pieces join to the text and none is broken."""

import hypothesis
import pytest
from hypothesis import strategies as st
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from eagle_viz.engine.texts import CUT, TextStream, TokenTexts, decode, pieces
from tests.engine.tiny import tiny_tokenizer

FAMILY = "\U0001f469\u200d\U0001f469\u200d\U0001f467"
"""One sign on the screen, five characters, 18 bytes."""


def byte_tokenizer() -> PreTrainedTokenizerFast:
    """A token a byte, as GPT-2's alphabet writes them."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    core = Tokenizer(models.BPE({sign: i for i, sign in enumerate(alphabet)} | {"<end>": 256}, []))
    core.pre_tokenizer, core.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    return PreTrainedTokenizerFast(tokenizer_object=core, eos_token="<end>")


def sentencepiece_tokenizer() -> PreTrainedTokenizerFast:
    """Words with a mark for the space before them, bytes for all else; the first space of a text is not shown."""
    words = {"<unk>": 0, "\u2581a": 1, "\u2581bc": 2, "d": 3} | {f"<0x{byte:02X}>": 4 + byte for byte in range(256)}
    core = Tokenizer(models.BPE(words, [], unk_token="<unk>", byte_fallback=True))
    core.decoder = decoders.Sequence(
        [decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    return PreTrainedTokenizerFast(tokenizer_object=core, unk_token="<unk>")


TOKENIZERS = {"bytes": byte_tokenizer(), "sentencepiece": sentencepiece_tokenizer(), "words": tiny_tokenizer()}


@pytest.mark.parametrize("name", TOKENIZERS)
@hypothesis.given(data=st.data())
def test_pieces_join_to_the_decoded_text(name, data):
    """Any tokens: the pieces joined are what decoding all at once gives (sentencepiece alters a text backwards at broken bytes)."""
    tokenizer = TOKENIZERS[name]
    tokens = data.draw(st.lists(st.integers(0, len(tokenizer) - 1), max_size=24))
    found, wanted = pieces(tokenizer, tokens), decode(tokenizer, tokens)
    assert len(found) == len(tokens) and (name == "sentencepiece" and CUT in wanted or "".join(found) == wanted)


@hypothesis.given(text=st.text(max_size=12))
def test_no_piece_of_a_text_is_broken(text):
    """A text cut into bytes: what is shown after each byte is the part of the text whose characters are whole."""
    tokenizer = TOKENIZERS["bytes"]
    stream, shown, data = TextStream(tokenizer), "", text.encode()
    for count, token in enumerate(tokenizer.encode(text, add_special_tokens=False), start=1):
        shown += stream.add(token)
        assert shown.rstrip(CUT) == data[:count].decode(errors="ignore").rstrip(CUT)
    assert shown + stream.rest() == text


@hypothesis.given(words=st.lists(st.sampled_from(["\u2581a", "d", "\u00e9", FAMILY, "\n"]), max_size=8))
def test_characters_from_single_bytes_follow_each_other_unbroken(words):
    """Words and byte-fallback characters in any order: the pieces join to the text, and none is broken."""
    tokenizer = TOKENIZERS["sentencepiece"]
    known = tokenizer.get_vocab()
    tokens = [t for word in words for t in ([known[word]] if word in known else [4 + byte for byte in word.encode()])]
    found = pieces(tokenizer, tokens)
    assert "".join(found) == "".join(words).replace("\u2581", " ").removeprefix(" ") and CUT not in "".join(found)


def test_a_family_of_three_is_shown_character_by_character():
    """By hand: 18 byte tokens, of which the 4th, 7th, 11th, 14th and 18th add a character; alone each reads as a broken sign."""
    tokenizer = TOKENIZERS["bytes"]
    tokens = tokenizer.encode(FAMILY, add_special_tokens=False)
    added = pieces(tokenizer, tokens)
    assert [i for i, piece in enumerate(added, start=1) if piece] == [4, 7, 11, 14, 18] and "".join(added) == FAMILY
    assert set(TokenTexts(tokenizer).of(tokens).values()) == {CUT}


def test_a_text_that_ends_within_a_character_says_so_at_its_end():
    """Three of a sign's four bytes: nothing is shown while it may still come, a broken sign when the text is over."""
    stream = TextStream(TOKENIZERS["bytes"])
    tokens = TOKENIZERS["bytes"].encode("a\U0001f600", add_special_tokens=False)[:-1]
    assert "".join(map(stream.add, tokens)) == "a" and stream.rest() == CUT


def test_special_tokens_are_no_text():
    """The end token adds nothing."""
    tokenizer = TOKENIZERS["bytes"]
    assert pieces(tokenizer, [*tokenizer.encode("ab", add_special_tokens=False), 256]) == ("a", "b", "")
