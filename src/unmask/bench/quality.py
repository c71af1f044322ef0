"""What a lower precision costs: the same items answered in both."""

from dataclasses import replace

import numpy as np

from unmask.bench.arms import main_arm, other
from unmask.bench.bench import Bench
from unmask.bench.drive import drive
from unmask.bench.report import Figure, measured
from unmask.bench.workload import Entry, mixed_requests, submissions
from unmask.local.model import model_info
from unmask.sequence import Sequence
from unmask.stats import paired_difference, wilson
from unmask.tasks.registry import all_tasks


def quality_figures(bench: Bench, *, seed: int, count: int) -> list[Figure]:
    """Return the share of right answers in the bench's precision and in the other, and their difference by item.

    The items are those of ``count`` requests of the frozen mixture; of a conversation the last answer counts.
    """
    side = other(bench.precision)
    entries = mixed_requests(seed, count, bench.model.name, bench.tokenizer)
    texts, side_texts = (
        [sequence.text for sequence in answer_all(replace(bench, precision=chosen), entries)]
        for chosen in (bench.precision, side)
    )
    final = [index for index, entry in enumerate(entries) if entry.final]
    right, side_right = (
        np.array([is_right(entries[index], answers[index]) for index in final]) for answers in (texts, side_texts)
    )
    differing = sum(texts[index] != side_texts[index] for index in final)
    difference = paired_difference(side_right.astype(float), right.astype(float), seed, bounds=(-1.0, 1.0))
    return [
        *(
            measured(f"{name}.quality", wilson(int(passed.sum()), len(final)), fallback=0.0, n=len(final))
            for name, passed in ((bench.precision, right), (side, side_right))
        ),
        measured(
            f"{side}_quality_vs_{bench.precision}",
            difference,
            fallback=float(side_right.mean() - right.mean()),
            n=len(final),
            note=f"difference by item; {differing} texts differ, {int((right != side_right).sum())} in being right",
        ),
    ]


def answer_all(bench: Bench, entries: list[Entry]) -> list[Sequence]:
    """Return the ended sequences of entries, in their order, run as a server would in the bench's precision."""
    work = submissions(entries, model_info(bench.model, bench.precision), bench.tokenizer)
    return list(drive(main_arm(bench).core, work, bench.clock).sequences)


def is_right(entry: Entry, text: str) -> bool:
    """Tell whether a text answers an entry's item."""
    return all_tasks()[entry.item.task].check(entry.item, text).passed
