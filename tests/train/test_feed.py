"""Making steps ahead of training, in processes that end with their parent and never fail in silence."""

import multiprocessing
import signal
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from tests.train.small import small_plan
from unmask.tasks.registry import all_tasks
from unmask.tasks.spec import load_spec
from unmask.text.tokenizer import packaged_tokenizer
from unmask.train.batch import MicroBatch
from unmask.train.feed import FeedError, feed, make_step, step_counts
from unmask.train.lessons import RECALL, REPEAT, task_order
from unmask.train.recipe import recipe

PATIENCE_SECONDS = 60.0
ORPHAN = """
import multiprocessing, time
from tests.train.small import small_plan
from unmask.train.feed import feed
if __name__ == "__main__":
    batches = feed(small_plan(), 0)
    next(batches)
    print(multiprocessing.active_children()[0].pid, flush=True)
    time.sleep(600)
"""


def arrays(batches: list[MicroBatch]) -> list[np.ndarray[tuple[int, ...], np.dtype[np.generic]]]:
    """Return all that a step holds."""
    return [
        array
        for batch in batches
        for array in (
            batch.text,
            batch.canvases,
            batch.starts,
            *(
                getattr(targets, name)
                for targets in (batch.text_targets, batch.canvas_targets)
                for name in ("rows", "tokens", "weights", "tasks")
            ),
        )
    ]


def same(first: list[MicroBatch], second: list[MicroBatch]) -> bool:
    """Tell whether two steps are equal to the last array."""
    return len(first) == len(second) and all(map(np.array_equal, arrays(first), arrays(second)))


def is_alive(pid: int) -> bool:
    """Tell whether a process runs; one that waits to be collected does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize("documents", [8, 32, 64])
def test_every_task_is_in_every_step(documents: int) -> None:
    """Each task type has a document in every step, the warm-up's too, however small its share."""
    plan = small_plan(documents=documents)
    for step in (0, plan.warm_up_steps - 1, plan.warm_up_steps, 10_000):
        counts = step_counts(plan, step)
        assert tuple(counts) == task_order()
        assert min(counts[task] for task in all_tasks()) >= 1
        assert abs(sum(counts.values()) - documents) <= len(all_tasks())


def test_after_the_warm_up_the_mixture_is_the_frozen_one() -> None:
    """Task types have the shares of the spec, to the rounding of a step's documents."""
    plan = recipe("tiny", 1).feed
    counts = step_counts(plan, plan.warm_up_steps)
    documents = sum(counts[task] for task in all_tasks())
    mixture = load_spec().mixture
    for task, weight in zip(mixture.values, mixture.weights, strict=True):
        assert abs(counts[task] - documents * weight / sum(mixture.weights)) <= 1


def test_recall_leads_and_then_recedes() -> None:
    """Copying is learnt first: recall has the larger part of the warm-up's documents and few later."""
    plan = recipe("tiny", 1).feed
    first, later = step_counts(plan, plan.warm_up_steps - 1), step_counts(plan, plan.warm_up_steps)
    assert first[RECALL] == round(plan.warm_up_documents * plan.warm_up_recall)
    assert first[REPEAT] == round(plan.warm_up_documents * plan.warm_up_repeat)
    assert first[RECALL] + first[REPEAT] > sum(first.values()) / 2
    assert (later[RECALL], later[REPEAT]) == (round(plan.documents * plan.recall_share), 0)


def test_a_step_is_a_function_of_plan_and_number() -> None:
    """The same plan and step give the same arrays, whatever was made before; another seed or step gives others."""
    tokenizer = packaged_tokenizer()
    first = make_step(tokenizer, small_plan(), 3)
    make_step(tokenizer, small_plan(), 4)
    assert same(first, make_step(tokenizer, small_plan(), 3))
    assert not same(first, make_step(tokenizer, small_plan(), 4))
    assert not same(first, make_step(tokenizer, small_plan(seed=2), 3))


def test_a_step_holds_targets_of_every_task() -> None:
    """Every task type and lesson has tokens to learn before the warm-up ends, or after it."""
    plan = replace(small_plan(), telling_share=0.2, admitting_share=0.2)
    steps = (0, plan.warm_up_steps)
    batches = [batch for step in steps for batch in make_step(packaged_tokenizer(), plan, step)]
    tasks = {task for batch in batches for task in batch.canvas_targets.tasks.tolist()}
    assert tasks == set(range(len(task_order())))


def test_processes_take_turns() -> None:
    """Steps come in order from any number of processes, starting where asked, and closing ends the processes."""
    tokenizer = packaged_tokenizer()
    with closing(feed(small_plan(), 5, processes=2)) as batches:
        for step, received in enumerate(islice(batches, 4), start=5):
            assert same(received, make_step(tokenizer, small_plan(), step))
        assert len(multiprocessing.active_children()) == 2
    assert multiprocessing.active_children() == []


def test_an_error_in_the_process_surfaces() -> None:
    """What went wrong while making data is raised where the data was awaited, with its trace."""
    broken = replace(small_plan(), canvas_lengths=(7,), canvas_weights=(1.0,))
    with closing(feed(broken, 0)) as batches, pytest.raises(FeedError, match=r"(?s)failed.*KeyError: 7"):
        next(batches)
    assert multiprocessing.active_children() == []


def test_a_killed_process_surfaces() -> None:
    """A process that was killed is reported with its exit code; nobody waits for it."""
    with closing(feed(small_plan(), 0)) as batches:
        next(batches)
        (child,) = multiprocessing.active_children()
        child.kill()
        # What it had written already is still there to be read.
        with pytest.raises(FeedError, match="exit code -9"):
            list(islice(batches, 100))


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="looks processes up in /proc")
def test_a_killed_parent_leaves_no_orphan() -> None:
    """The process ends soon after its parent, however the parent went."""
    parent = subprocess.Popen([sys.executable, "-c", ORPHAN], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    with parent, parent.stdout:
        child = int(parent.stdout.readline())
        assert is_alive(child)
        parent.send_signal(signal.SIGKILL)
        parent.wait()
        deadline = time.monotonic() + PATIENCE_SECONDS
        while is_alive(child) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not is_alive(child)
