"""Any Hugging Face causal LM behind the interface of `Llama`, wherever accelerate has placed its layers."""

import torch
from torch import Tensor

from eagle_viz.engine.llama import additive_mask


class TransformersCache:
    """A Hugging Face cache with the few verbs this package needs."""

    def __init__(self):
        from transformers import DynamicCache

        self.inner = DynamicCache()

    @property
    def length(self) -> int:
        """Positions filled."""
        return self.inner.get_seq_length()

    def keep(self, start: int, rows: list[int]) -> None:
        """Keep only `rows`, counted from `start`, of all positions from `start` on (see `KeyValueCache.keep`)."""
        index = torch.tensor([*range(start), *(start + row for row in rows)], dtype=torch.long)
        for layer in self.inner.layers:
            there = index.to(layer.keys.device)
            layer.keys, layer.values = layer.keys[:, :, there], layer.values[:, :, there]


class TransformersBody:
    """A whole model as Hugging Face runs it: slower than `Llama`, but of every architecture and on every device.

    What goes in and what comes out lies in this machine's memory, so that nothing else need know where the layers are.
    """

    def __init__(self, model):
        self.model, self.dtype = model, model.dtype
        self.embeddings = weight_of(model.get_input_embeddings())
        self._device = _device_of(model.get_input_embeddings())

    def new_cache(self, capacity: int, batch: int = 1) -> TransformersCache:
        """An empty cache; it grows as needed, so `capacity` is not used."""
        return TransformersCache()

    def forward(self, tokens: Tensor, mask, positions: Tensor, cache: TransformersCache, taps: tuple[int, ...] = ()):
        """Features [B, n, H] and the hidden states entering the layers `taps` (see `Llama.forward`)."""
        new = tokens.shape[1]
        added = additive_mask(mask, new, cache.length + new, self.dtype)
        out = self.model.get_decoder()(
            input_ids=tokens.to(self._device),
            attention_mask=None if added is None else added.to(self._device),
            position_ids=positions.to(self._device),
            past_key_values=cache.inner,
            output_hidden_states=bool(taps),
        )
        return out.last_hidden_state.cpu(), [out.hidden_states[i].cpu() for i in taps]

    def logits(self, tokens: Tensor) -> Tensor:
        """The model's own logits [n, V] of a text [n], all that it does to them included."""
        return self.model(tokens[None].to(self._device)).logits[0].cpu()


class PlacedHead:
    """The lm_head where it lies: features [..., H] in, logits [..., V] out, both in this machine's memory."""

    def __init__(self, lm_head):
        self._lm_head, self._device = lm_head, _device_of(lm_head)

    def __call__(self, features: Tensor) -> Tensor:
        return self._lm_head(features.to(self._device)).cpu()


def weight_of(module) -> Tensor:
    """A module's weight in this machine's memory, also where accelerate keeps it elsewhere until it is needed."""
    from accelerate.utils import align_module_device

    with align_module_device(module):
        return module.weight.detach().cpu()


def load_placed(folder, dtype: torch.dtype):
    """The model with its layers on the devices that accelerate finds, what does not fit them in this machine's memory.

    Returns the model and transformers' report on missing and unexpected tensors.
    """
    from transformers import AutoModelForCausalLM

    return AutoModelForCausalLM.from_pretrained(folder, dtype=dtype, device_map="auto", output_loading_info=True)


def _device_of(module) -> torch.device:
    """Where a module computes: the place its hook names, or where its weight lies."""
    hook = getattr(module, "_hf_hook", None)
    place = getattr(hook, "execution_device", None)
    return module.weight.device if place is None else torch.device(place)
