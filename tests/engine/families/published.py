"""What published code has computed on small random checkpoints, and the same checkpoints for our own.

The files hold numbers, a seed and a configuration. They were written by the modelling code of NVlabs/Fast-dLLM
(24cc59e: LLaDA, Dream), the sampler of ML-GSAI/LLaDA (b7e6c35), and model and sampler of JetAstra/SDAR (c2041a8), with
CUDA kernels replaced by torch's own, in single precision on a processor. SDAR's draws were replaced by the likeliest.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor

from unmask.engine.adapter import Adapter
from unmask.engine.families.decoder import Decoder
from unmask.engine.families.family import Description
from unmask.engine.families.registry import family_of
from unmask.engine.families.runner import FamilyRunner
from unmask.engine.families.shape import tensor_shapes
from unmask.plan import CanvasTask, Row
from unmask.strategy import StrategyChoice
from unmask.testing.checkpoints import END, MASK, random_weights
from unmask.types import ApproximateKv, Sampling

FOLDER = Path(__file__).parent / "fixtures"
FAMILIES = ("llada", "dream", "sdar")
PAGE = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """One file.

    Attributes:
        config: of the checkpoint.
        seed: of its weights.
        texts: ids, masks among them.
        logits: of each text, ``[length, vocabulary]``.
        prompt: what was generated from.
        canvas: length of a canvas of that generation.
        steps: of all its canvases together.
        generated: ids that it ended with.
    """

    config: dict[str, Any]
    seed: int
    texts: tuple[tuple[int, ...], ...]
    logits: tuple[Tensor, ...]
    prompt: tuple[int, ...]
    canvas: int
    steps: int
    generated: tuple[int, ...]

    @classmethod
    def read(cls, name: str) -> Self:
        """Read the file of a family."""
        with np.load(FOLDER / f"{name}.npz") as file:
            found = dict(file)
        lengths = found["lengths"].tolist()
        ids = torch.from_numpy(found["tokens"]).split(lengths)
        return cls(
            config=json.loads(str(found["config"])),
            seed=int(found["seed"]),
            texts=tuple(tuple(part.tolist()) for part in ids),
            logits=torch.from_numpy(found["logits"]).split(lengths),
            prompt=tuple(found["prompt"].tolist()),
            canvas=int(found["block_length"]),
            steps=int(found["steps"]),
            generated=tuple(found["generated"].tolist()),
        )

    @property
    def description(self) -> Description:
        """The checkpoint as its family reads it."""
        return family_of(self.config).describe(self.config)

    def runner(
        self, *, pages: int = 64, page_size: int = PAGE, approximate: ApproximateKv = ApproximateKv()
    ) -> FamilyRunner:
        """Return a runner over the checkpoint's weights."""
        described = self.description
        weights = random_weights(tensor_shapes(described.shape, described.names), self.seed)
        decoder = Decoder(described.shape, described.names, weights.__getitem__)
        return FamilyRunner(
            decoder, described.pattern, mask=MASK, pages=pages, page_size=page_size, approximate=approximate
        )

    @property
    def adapter(self) -> Adapter:
        """Ids of the checkpoint."""
        return Adapter(
            mask=MASK,
            end=END,
            forbidden=tuple(range(MASK, self.description.shape.vocabulary)),
            exact_cache=self.description.pattern.block is not None,
        )


def canvas_row(
    append: tuple[int, ...], canvas: tuple[int, ...], *, start: int = 0, first_page: int = 0, ahead: int = 0
) -> Row:
    """Return a row that asks for every position of a canvas."""
    last = first_page - (-(start + len(append) + len(canvas)) // PAGE)
    task = CanvasTask(
        tokens=canvas,
        asked=tuple(range(len(canvas))),
        index=0,
        step=0,
        steps_left=len(canvas) + 1,
        limit=len(canvas),
        frozen=frozenset(),
        strategy=StrategyChoice(),
        sampling=Sampling(),
        state=None,
        trace=False,
        ahead=ahead,
    )
    return Row(sequence=1, start=start, append=append, pages=tuple(range(first_page, last)), task=task)
