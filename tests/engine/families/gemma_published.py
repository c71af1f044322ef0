"""What `generate()` of transformers answers on a small random DiffusionGemma, and the same checkpoint for our own.

The file holds numbers, a seed and settings. ``python -m tests.engine.families.gemma_published`` writes it anew, of what
the installed transformers answers. Both sides are given the same draws: what is compared is what they do with them.
"""

import json
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import torch
from torch import Tensor

from unmask.engine.adapter import NO_MASK, Adapter
from unmask.engine.families.gemma.config import GemmaDescription, describe
from unmask.engine.families.gemma.library import transformers_library
from unmask.engine.families.gemma.network import GemmaNetwork
from unmask.engine.families.gemma.runner import GemmaRunner
from unmask.engine.renoising.canvas import noise
from unmask.testing.checkpoints import random_weights

FILE = Path(__file__).parent / "fixtures" / "gemma.json"
PAGE = 16
LIBRARY = transformers_library("small")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What was generated from, with the steps that each canvas might take."""

    prompt: tuple[int, ...]
    seed: int
    max_steps: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """Tokens up to the first end token, and the steps that they took."""

    tokens: tuple[int, ...]
    steps: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedGemma:
    """The file.

    Attributes:
        config: of the checkpoint.
        generation: how it samples.
        seed: of its weights.
        rows: what was asked, and the answers.
    """

    config: dict[str, Any]
    generation: dict[str, Any]
    seed: int
    rows: tuple[tuple[Asked, Answered], ...]

    @property
    def description(self) -> GemmaDescription:
        """The checkpoint as it is served."""
        return describe(self.config, self.generation)

    @property
    def adapter(self) -> Adapter:
        """Ids of the checkpoint."""
        return Adapter(mask=NO_MASK, end=self.generation["eos_token_id"], forbidden=())

    @property
    def network(self) -> GemmaNetwork:
        """The layers with their weights."""
        return _network(json.dumps(self.config), self.seed)

    @property
    def weights(self) -> dict[str, Tensor]:
        """Of the checkpoint, by name."""
        return gemma_weights(self.network.shapes, self.seed)

    def runner(self, *, pages: int = 64) -> GemmaRunner:
        """Return a runner over the checkpoint."""
        return GemmaRunner(self.network, pages=pages, page_size=PAGE)

    def generate(self, asked: Sequence[Asked]) -> tuple[Answered, ...]:
        """Let transformers answer a batch, shorter prompts padded on the left; all have the steps of the first."""
        settings = LIBRARY.models.diffusion_gemma.generation_diffusion_gemma.DiffusionGemmaGenerationConfig(
            **deepcopy(self.generation) | {"max_denoising_steps": asked[0].max_steps}
        )
        pad, end = settings.pad_token_id, settings.eos_token_id
        longest = max(len(row.prompt) for row in asked)
        ids = torch.tensor([[pad] * (longest - len(row.prompt)) + list(row.prompt) for row in asked])
        seen = torch.tensor([[0] * (longest - len(row.prompt)) + [1] * len(row.prompt) for row in asked])
        model = LIBRARY.DiffusionGemmaForBlockDiffusion(LIBRARY.DiffusionGemmaConfig.from_dict(deepcopy(self.config)))
        model.eval().load_state_dict(self.weights, strict=False)
        model.tie_weights()
        draws = _Draws(self, tuple(row.seed for row in asked))
        sampler = model._prepare_sampler(settings)
        # Of the sampler only what it draws is replaced.
        with (
            mock.patch.object(model, "_prepare_sampler", return_value=sampler),
            mock.patch.object(sampler, "initialize_canvas", draws.canvas),
            mock.patch("torch.multinomial", draws.tokens),
            # It is for compiled models, and would import the compiler.
            mock.patch("torch.compiler.cudagraph_mark_step_begin"),
        ):
            found = model.generate(ids, attention_mask=seen, generation_config=settings)
        answers = []
        for row, rate in zip(found.sequences[:, longest:].tolist(), found.tokens_per_forward.tolist(), strict=True):
            ended = row[: row.index(end) + 1] if end in row else row
            answers.append(Answered(tokens=tuple(ended), steps=round(sum(token != pad for token in row) / rate)))
        return tuple(answers)


class _Draws:
    """Draws in the order in which transformers asks for them: of each canvas noise first, then tokens and noise."""

    def __init__(self, published: PublishedGemma, seeds: tuple[int, ...]) -> None:
        described = published.description
        self._seeds, self._length, self._ids = seeds, described.canvas_length, described.terms.vocabulary
        self._index, self._step, self._drew = -1, 0, False

    def canvas(self, batch_size: int, device: torch.device) -> Tensor:
        """Return noise: of the next step where tokens were drawn since, else of a new canvas."""
        self._index, self._step = (self._index, self._step + 1) if self._drew else (self._index + 1, 0)
        self._drew = False
        rows = [noise(seed, self._index, self._step, self._length, self._ids) for seed in self._seeds]
        assert len(rows) == batch_size
        return torch.from_numpy(np.stack(rows)).to(device)

    def tokens(self, probabilities: Tensor, num_samples: int) -> Tensor:
        """Draw a token of each position: that at which the summed probabilities pass a number."""
        assert num_samples == 1
        self._drew = True
        keys = [np.random.SeedSequence([seed, self._index + 1, self._step]) for seed in self._seeds]
        numbers = np.concatenate([np.random.Generator(np.random.Philox(key)).random(self._length) for key in keys])
        sums = probabilities.double().cumsum(-1)
        return (sums <= torch.from_numpy(numbers)[:, None] * sums[:, -1:]).sum(-1, keepdim=True)


def read_gemma() -> PublishedGemma:
    """Read the file."""
    found = json.loads(FILE.read_text(encoding="utf-8"))
    rows = [
        (
            Asked(prompt=tuple(row["prompt"]), seed=row["seed"], max_steps=row["max_steps"]),
            Answered(tokens=tuple(row["tokens"]), steps=row["steps"]),
        )
        for row in found["rows"]
    ]
    return PublishedGemma(config=found["config"], generation=found["generation"], seed=found["seed"], rows=tuple(rows))


def gemma_weights(shapes: dict[str, tuple[int, ...]], seed: int) -> dict[str, Tensor]:
    """Draw weights with which the last bits of a forward do not grow from step to step, as they do with larger ones."""
    drawn = random_weights(shapes, seed)
    return {name: tensor * _scale(name, tensor) for name, tensor in drawn.items()}


def _scale(name: str, tensor: Tensor) -> float:
    if tensor.ndim == 1:
        return 1.0
    return 3.0 if name.endswith("embed_tokens.weight") else 0.3


@lru_cache(maxsize=1)
def _network(config: str, seed: int) -> GemmaNetwork:
    network = GemmaNetwork(LIBRARY, json.loads(config))
    network.load(gemma_weights(network.shapes, seed).__getitem__, torch.device("cpu"))
    return network


def _write() -> None:
    published = read_gemma()
    rows = [
        {"prompt": asked.prompt, "seed": asked.seed, "max_steps": asked.max_steps}
        | {"tokens": answered.tokens, "steps": answered.steps}
        for asked, _ in published.rows
        for answered in published.generate([asked])
    ]
    held = {"config": published.config, "generation": published.generation, "seed": published.seed}
    lines = ",\n".join(f"  {json.dumps(row)}" for row in rows)
    FILE.write_text(f'{json.dumps(held)[:-1]},\n "rows": [\n{lines}\n ]}}\n', encoding="utf-8")


if __name__ == "__main__":
    _write()
