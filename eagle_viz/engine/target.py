"""The target model: a causal language model with a key-value cache and tree attention."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import torch
from jinja2 import TemplateError
from torch import Tensor

from eagle_viz.engine.checkpoint import tensor_digest
from eagle_viz.engine.linear import Linear
from eagle_viz.engine.llama import Llama, LlamaShape, is_plain_llama
from eagle_viz.engine.placed import PlacedHead, TransformersBody, load_placed, weight_of
from eagle_viz.engine.texts import decode


class TargetPass(NamedTuple):
    """What one pass over n positions gives: logits [n, V], features [n, H], and tapped hidden states, [n, H] each.

    A feature is the last hidden state after the final norm, the vector that the lm_head reads.
    """

    logits: Tensor
    features: Tensor
    taps: list[Tensor]

    @property
    def read(self) -> Tensor:
        """What a drafter reads of the pass: the tapped hidden states side by side, [n, taps * H], or the features if none were."""
        return torch.cat(self.taps, dim=-1) if self.taps else self.features


def check_architecture(model) -> None:
    """Raise ValueError for a model that a tree mask does not fit, by the reason."""
    config, kind = model.config, model.config.model_type
    if config.is_encoder_decoder:
        raise ValueError(f"target: {kind} models have an encoder; allowed are decoders alone")
    layers = {str(layer) for layer in getattr(config, "layer_types", None) or ()}
    foreign = sorted(layer for layer in layers if not layer.endswith("attention") or "linear" in layer)
    # `_is_stateful` is Hugging Face's own mark of models that keep a state instead of (or beside) keys and values.
    if getattr(model, "_is_stateful", False) or foreign:
        raise ValueError(f"target: {kind} models keep a recurrent state, which cannot hold the branches of a tree at once")
    if kind in ("bloom", "mpt") or getattr(config, "alibi", False):
        raise ValueError(f"target: {kind} models place tokens by ALiBi, which counts rows of the tree mask instead of depths")
    if getattr(config, "final_logit_softcapping", None):
        raise ValueError(
            f"target: {kind} models cap their logits after the lm_head (final_logit_softcapping), which is not covered"
        )
    if not hasattr(config, "max_position_embeddings"):
        raise ValueError(f"target: {kind} models do not say how many positions they count (max_position_embeddings)")


class Target:
    """A frozen causal language model that can be asked about trees of tokens.

    >>> target = Target.load("~/models/SmolLM2-135M-Instruct")     # doctest: +SKIP
    >>> cache = target.new_cache(512)
    >>> logits, features, _ = target.forward(target.encode_chat("Name a river."), cache=cache)
    """

    def __init__(self, model, tokenizer, dtype: torch.dtype = torch.float32, placed: bool = False):
        check_architecture(model)
        self.config, self.tokenizer, self.dtype = model.config, tokenizer, dtype
        self._generation_config = getattr(model, "generation_config", None)
        lm_head = model.get_output_embeddings()
        self.lm_head_weight = weight_of(lm_head).to(dtype)
        if placed:
            self.body, self._lm_head = TransformersBody(model), PlacedHead(lm_head)
        else:
            bias = getattr(lm_head, "bias", None)
            self._lm_head = Linear(self.lm_head_weight, None if bias is None else bias.detach().to(dtype))
            lean = is_plain_llama(model.config)
            self.body = Llama(LlamaShape.of(model.config), model.state_dict(), dtype) if lean else TransformersBody(model.to(dtype))
        if isinstance(self.body, TransformersBody):
            self._check_logits(self.body)

    @classmethod
    def load(cls, folder: str | Path, dtype: torch.dtype = torch.float32, placed: bool = False) -> "Target":
        """Load a Hugging Face causal LM and its tokenizer from a local folder or a hub id.

        `placed`: its layers go to the devices that accelerate finds; otherwise all is computed on this processor.
        Raises ValueError if the folder holds no such model, or one whose attention a tree mask does not fit.
        """
        from transformers import AutoModelForCausalLM, AutoTokenizer

        folder = Path(folder).expanduser() if Path(folder).expanduser().exists() else folder
        try:
            tokenizer = AutoTokenizer.from_pretrained(folder)
            if placed:
                model, found = load_placed(folder, dtype)
            else:
                model, found = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, output_loading_info=True)
        except Exception as error:  # what these libraries raise for a broken file is of any kind, plain Exception among them
            reason = " ".join(str(error).split())[:300] or type(error).__name__
            raise ValueError(f"target {str(folder)!r} is not a Hugging Face causal language model: {reason}") from error
        for kind, words in (("missing_keys", "lacks"), ("unexpected_keys", "holds, with no place for it in its config,")):
            if found.get(kind):
                raise ValueError(f"target {str(folder)!r} {words} the tensor {min(found[kind])!r}")
        return cls(model.eval(), tokenizer, dtype, placed)

    @torch.inference_mode()
    def _check_logits(self, body: TransformersBody) -> None:
        """Raise ValueError where the model does more to its logits than the lm_head (softcapping, scaling)."""
        tokens = torch.arange(min(8, self.vocabulary))
        wanted, found = body.logits(tokens).float(), self.forward(tokens).logits.float()
        if not torch.allclose(found, wanted, rtol=0.02, atol=0.02 * float(wanted.abs().max())):
            raise ValueError(f"target: {self.config.model_type} models change their logits after the lm_head, which is not covered")

    @cached_property
    def digest(self) -> str:
        """A short name of these weights, by their embeddings and lm_head."""
        return tensor_digest({"embeddings": self.embeddings, "lm_head": self.lm_head_weight})

    @property
    def embeddings(self) -> Tensor:
        """The token embeddings, [V, H]."""
        return self.body.embeddings

    @property
    def hidden(self) -> int:
        """H, the size of a feature."""
        return self.lm_head_weight.shape[1]

    @property
    def vocabulary(self) -> int:
        """V, the number of logits."""
        return self.lm_head_weight.shape[0]

    @property
    def end_tokens(self) -> frozenset[int]:
        """Token ids after which an answer is over: what config.json, generation_config.json and the tokenizer name together."""
        named = (self.config, self._generation_config, self.tokenizer)
        ends = [getattr(place, "eos_token_id", None) for place in named]
        ends = [one for end in ends for one in (end if isinstance(end, (list, tuple)) else [end])]
        return frozenset(end for end in ends if end is not None)

    @property
    def longest_text(self) -> int:
        """Positions that a text may have: all that the model counts, and no more than its shortest attention window.

        Within the window every position sees all before it, as the tree mask says; beyond it the model would see less.
        """
        windows = [getattr(self.config, field, None) for field in ("sliding_window", "attention_chunk_size")]
        used = getattr(self.config, "use_sliding_window", True)
        return min([self.config.max_position_embeddings, *(window for window in windows if window and used)])

    def encode_chat(self, prompt: str | Sequence[Mapping[str, str]]) -> list[int]:
        """Token ids of one user turn, or of messages with `role` and `content`, in the chat template, up to the answer.

        Raises ValueError for a tokenizer without a chat template, or with one that refuses these messages.
        """
        if not getattr(self.tokenizer, "chat_template", None):
            raise ValueError("target: its tokenizer has no chat template; give a raw prompt, or a folder with a chat template")
        messages = [{"role": "user", "content": prompt}] if isinstance(prompt, str) else list(prompt)
        try:
            text = self.tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
        except TemplateError as error:
            roles = ", ".join(message["role"] for message in messages)
            raise ValueError(f"prompt: the target's chat template does not take {roles} ({error})") from error
        return self.tokenizer.encode(text, add_special_tokens=False)

    def encode_raw(self, text: str) -> list[int]:
        """Token ids of a text as it stands, behind the token that the tokenizer puts before every text, if it has one."""
        return self.tokenizer.encode(text)

    def decode(self, tokens: list[int]) -> str:
        """Text of token ids, without special tokens."""
        return decode(self.tokenizer, tokens)

    def new_cache(self, capacity: int = 2048):
        """An empty cache for one sequence of at most `capacity` positions, tree nodes included."""
        return self.body.new_cache(capacity)

    def logits(self, features: Tensor) -> Tensor:
        """The lm_head applied to features: [..., H] -> [..., V]."""
        return self._lm_head(features)

    @torch.inference_mode()
    def forward(self, tokens, mask: Tensor | None = None, position_ids=None, cache=None, taps=()) -> TargetPass:
        """One pass over n new tokens behind everything in `cache`.

        tokens        n token ids (list or [n] int64).
        mask          bool [n, w]: which of the last w positions (cached and new) each row sees; all earlier ones are
                      visible. A tree's own [n, n] mask fits. None: a chain.
        position_ids  [n], None: counting on from the cache's length. Of a tree: prefix length + depth.
        cache         from `new_cache`; all n rows are written into it, `cache.keep` drops those not wanted.
        """
        tokens = torch.as_tensor(tokens, dtype=torch.long)[None]
        cache = self.new_cache(tokens.shape[1]) if cache is None else cache
        if position_ids is None:
            position_ids = torch.arange(cache.length, cache.length + tokens.shape[1])
        positions = torch.as_tensor(position_ids, dtype=torch.long)[None]
        features, tapped = self.body.forward(tokens, mask, positions, cache, tuple(taps))
        return TargetPass(self.logits(features[0]), features[0], [t[0] for t in tapped])
