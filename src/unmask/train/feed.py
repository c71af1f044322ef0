"""Makes optimiser steps' worth of micro-batches, ahead of training, in processes of their own.

Each process writes into a pipe of its own. A pipe ends with either of its
ends: when the parent is gone, however it went, the next write fails and the
process ends; when a process is gone, the parent's next read fails. A queue
would leave one of them waiting for ever.
"""

import multiprocessing
import os
import signal
import traceback
from collections.abc import Generator
from dataclasses import dataclass
from itertools import count
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from random import Random

from unmask.errors import UnmaskError
from unmask.tasks.item import Split
from unmask.tasks.registry import all_tasks
from unmask.tasks.spec import load_spec
from unmask.text.tokenizer import TextTokenizer, packaged_tokenizer
from unmask.train.batch import COPIES, FEW_COPIES, MicroBatch, make_micro_batches
from unmask.train.document import Document, item_document
from unmask.train.lessons import (
    ADMITTING,
    RECALL,
    REPEAT,
    TELLING,
    admitting_document,
    recall_document,
    repeat_document,
    telling_document,
)

LESSONS = {
    RECALL: recall_document,
    REPEAT: repeat_document,
    TELLING: telling_document,
    ADMITTING: admitting_document,
}


class FeedError(UnmaskError):
    """A process that makes training data has failed or was killed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedPlan:
    """How one optimiser step is composed.

    A network that cannot copy a name learns little from the tasks, so the first
    steps hold many short lessons in copying, with few canvases each.

    Attributes:
        seed: of everything drawn.
        documents: documents of a step.
        micro_batch_tokens: most tokens of a forward.
        recall_share: share of the documents that are lessons in recall.
        telling_share: share of the documents that are lessons in telling, which begin after the warm-up.
        admitting_share: share of the documents that are lessons in admitting, which begin with those.
        warm_up_steps: how many first steps are the warm-up.
        warm_up_documents: documents of a step of the warm-up.
        warm_up_recall: share of lessons in recall in the warm-up.
        warm_up_repeat: share of repeated names in the warm-up.
        canvas_lengths: lengths a micro-batch draws from.
        canvas_weights: how often each is drawn.
    """

    seed: int
    documents: int
    micro_batch_tokens: int
    recall_share: float
    telling_share: float
    admitting_share: float
    warm_up_steps: int
    warm_up_documents: int
    warm_up_recall: float
    warm_up_repeat: float
    canvas_lengths: tuple[int, ...] = (8, 16, 32)
    canvas_weights: tuple[float, ...] = (0.15, 0.25, 0.6)


def step_counts(plan: FeedPlan, step: int) -> dict[str, int]:
    """Return how many documents of each kind a step holds: the frozen mixture, and lessons in copying."""
    warm_up = step < plan.warm_up_steps
    total = plan.warm_up_documents if warm_up else plan.documents
    recall = round(total * (plan.warm_up_recall if warm_up else plan.recall_share))
    repeat = round(total * plan.warm_up_repeat) if warm_up else 0
    telling = 0 if warm_up else round(total * plan.telling_share)
    admitting = 0 if warm_up else round(total * plan.admitting_share)
    mixture = load_spec().mixture
    share = (total - recall - repeat - telling - admitting) / sum(mixture.weights)
    counts = {task: max(1, round(share * weight)) for task, weight in zip(mixture.values, mixture.weights, strict=True)}
    return {**counts, RECALL: recall, REPEAT: repeat, TELLING: telling, ADMITTING: admitting}


def make_step(tokenizer: TextTokenizer, plan: FeedPlan, step: int) -> list[MicroBatch]:
    """Make the micro-batches of one optimiser step: a pure function of the plan and the step."""
    rng = Random(f"{plan.seed}/{step}")
    tasks = all_tasks()
    documents: list[Document] = []
    for name, number in step_counts(plan, step).items():
        for _ in range(number):
            if name in LESSONS:
                documents.append(LESSONS[name](tokenizer, rng))
            else:
                documents.append(item_document(tokenizer, tasks[name].generate(rng, Split.TRAIN)))
    copies = FEW_COPIES if step < plan.warm_up_steps else COPIES
    weights = dict(zip(plan.canvas_lengths, plan.canvas_weights, strict=True))
    return make_micro_batches(rng, documents, weights, plan.micro_batch_tokens, copies)


def feed(plan: FeedPlan, first: int, processes: int = 1) -> Generator[list[MicroBatch], None, None]:
    """Yield the micro-batches of step ``first`` and every one after; closing the generator ends the processes.

    Raises:
        FeedError: a process has failed or was killed.
    """
    started = [_start(plan, first + index, processes) for index in range(processes)]
    try:
        for turn in count():
            process, connection = started[turn % processes]
            yield _receive(process, connection)
    finally:
        for process, connection in started:
            process.kill()
            process.join()
            connection.close()


def _start(plan: FeedPlan, first: int, stride: int) -> tuple[BaseProcess, Connection]:
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_produce, args=(sender, plan, first, stride), daemon=True)
    process.start()
    # The child must hold the only writing end, or its death would go unnoticed here.
    sender.close()
    return process, receiver


def _receive(process: BaseProcess, connection: Connection) -> list[MicroBatch]:
    try:
        received = connection.recv()
    except (EOFError, OSError) as error:
        process.join()
        raise FeedError(
            f"the process that makes training data ended with exit code {process.exitcode}; "
            "was it killed for want of memory? resume with --resume"
        ) from error
    if isinstance(received, str):
        raise FeedError(f"the process that makes training data failed:\n{received}")
    batches: list[MicroBatch] = received
    return batches


def _produce(connection: Connection, plan: FeedPlan, first: int, stride: int) -> None:
    # Ctrl-C reaches every process of the terminal; the parent decides when this one ends.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(os, "nice"):
        os.nice(1)
    try:
        tokenizer = packaged_tokenizer()
        for step in count(first, stride):
            connection.send(make_step(tokenizer, plan, step))
    except BrokenPipeError:
        return
    except Exception:  # noqa: BLE001 - whatever it is, the parent has to hear of it
        connection.send(traceback.format_exc())
