"""DiffusionGemma's layers as transformers has them, with weights that are read by our own loader.

Of the model, what denoises text is kept: a causal encoder, which appends, and a decoder, which sees the context and the
whole canvas. They share their weights but for one number a layer. The vision tower is left out.
"""

from collections.abc import Iterator, Mapping
from math import prod
from typing import Any

import torch
from torch import Tensor, nn

from unmask.engine.families.decoder import ReadTensor
from unmask.engine.families.gemma.attention import ATTENTION, attend, layer_sizes
from unmask.errors import CheckpointFolderError

_ENCODER = "model.encoder.language_model."
_LEFT_OUT = ("model.encoder.vision_tower.", "model.encoder.embed_vision.")
_TIED = "lm_head.weight"
_OWN = ".layer_scalar"
"""What encoder and decoder do not share."""


class GemmaNetwork:
    """The layers; without weights until `load`.

    Args:
        library: the package ``transformers``.
        config: what ``config.json`` holds.

    Raises:
        CheckpointFolderError: transformers cannot make a model of the configuration.
    """

    def __init__(self, library: Any, config: Mapping[str, object]) -> None:  # noqa: ANN401 - has no stubs
        try:
            read = library.DiffusionGemmaConfig.from_dict(dict(config))
            library.AttentionInterface.register(ATTENTION, attend)
            with torch.device("meta"):
                self._model = library.DiffusionGemmaForBlockDiffusion(read).eval()
            self._model.set_attn_implementation(ATTENTION)
        except Exception as error:  # whatever the configuration makes fail in code that is not ours
            raise CheckpointFolderError(
                f"config.json: transformers makes no DiffusionGemma of it: {error}. "
                "Take the published configuration of the checkpoint."
            ) from error
        self.config = read.text_config
        self._softcap = float(self.config.final_logit_softcapping)

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Sizes of the tensors that are read, by their names; weights that are shared have one."""
        return {name: tuple(tensor.shape) for name, tensor in self._model.state_dict().items() if _is_read(name)}

    @property
    def parameters(self) -> int:
        """How many numbers these are."""
        return sum(prod(shape) for shape in self.shapes.values())

    @property
    def kept(self) -> tuple[tuple[int, int], ...]:
        """Heads of keys and values, and their width, of each layer."""
        return layer_sizes(self._decoder.layers)

    @property
    def device(self) -> torch.device:
        """Where it runs."""
        return self._table.device

    @property
    def dtype(self) -> torch.dtype:
        """What it runs in."""
        return self._table.dtype

    def load(self, read: ReadTensor, device: torch.device) -> None:
        """Read all weights."""
        for name in self.shapes:
            place, _, leaf = name.rpartition(".")
            module, tensor = self._model.get_submodule(place), read(name)
            is_learned = isinstance(getattr(module, leaf), nn.Parameter)
            setattr(module, leaf, nn.Parameter(tensor, requires_grad=False) if is_learned else tensor)
        self._model.tie_weights()
        for part in (self._encoder, self._decoder):
            # What is worked out and not stored: rotary rates, and the scale of embeddings.
            part.rotary_emb = type(part.rotary_emb)(self.config, device=device)
            part.embed_tokens.embed_scale = torch.tensor(part.embed_tokens.scalar_embed_scale, device=device)
        missing = [name for part in (self._encoder, self._decoder, self._model.lm_head) for name in _unread(part)]
        assert not missing, f"every weight is read or shared: {missing}"

    def encode(self, tokens: Tensor, positions: Tensor, rows: object) -> None:
        """Run the encoder over flat tokens, ``[tokens]`` each; what is kept of them ``rows`` keep."""
        self._through(self._encoder, self._encoder.embed_tokens(tokens[None]), positions[None], rows)

    def decode(self, tokens: Tensor, conditioning: Tensor, positions: Tensor, rows: object) -> Tensor:
        """Run the decoder over flat canvases.

        Args:
            tokens: ids ``[tokens]``.
            conditioning: ``[tokens, width]``, zeros at first steps.
            positions: ``[tokens]``.
            rows: where each row's context is; see `unmask.engine.families.gemma.attention.Rows`.

        Returns:
            ``[tokens, width]``.
        """
        decoder = self._decoder
        hidden = decoder.self_conditioning(decoder.embed_tokens(tokens[None]), conditioning[None])
        found: Tensor = decoder.norm(self._through(decoder, hidden, positions[None], rows))
        return found[0]

    def logits(self, hidden: Tensor) -> Tensor:
        """Return logits ``[tokens, vocabulary]`` in single precision."""
        found: Tensor = self._model.lm_head(hidden).float()
        return found.div_(self._softcap).tanh_().mul_(self._softcap)

    def conditioning(self, logits: Tensor) -> Tensor:
        """Return the embeddings ``[tokens, width]`` that logits expect."""
        table = self._table
        expected = logits.to(table.dtype).softmax(-1, dtype=torch.float32).to(table.dtype) @ table
        scale: Tensor = self._decoder.embed_tokens.embed_scale
        return expected * scale.to(table.dtype)

    def no_conditioning(self, length: int) -> Tensor:
        """Return what a first step is conditioned on."""
        return torch.zeros(length, self._table.shape[1], dtype=self.dtype, device=self.device)

    @property
    def _encoder(self) -> Any:  # noqa: ANN401 - has no stubs
        return self._model.model.encoder.language_model

    @property
    def _decoder(self) -> Any:  # noqa: ANN401 - has no stubs
        return self._model.model.decoder

    @property
    def _table(self) -> Tensor:
        table: Tensor = self._decoder.embed_tokens.weight
        return table

    def _through(self, part: Any, hidden: Tensor, positions: Tensor, rows: object) -> Tensor:  # noqa: ANN401 - no stubs
        kinds = self.config.layer_types
        turns = {kind: part.rotary_emb(hidden, positions, kind) for kind in set(kinds)}
        for kind, layer in zip(kinds, part.layers, strict=True):
            # Masks and caches are those of `rows`, which layers hand on to `attend`.
            hidden = layer(
                hidden, position_embeddings=turns[kind], attention_mask=None, position_ids=positions, rows=rows
            )
        return hidden


def _is_read(name: str) -> bool:
    is_shared = name == _TIED or (name.startswith(_ENCODER) and not name.endswith(_OWN))
    return not is_shared and not name.startswith(_LEFT_OUT)


def _unread(part: nn.Module) -> Iterator[str]:
    tensors = (*part.named_parameters(), *part.named_buffers())
    return (name for name, tensor in tensors if tensor.device.type == "meta")
