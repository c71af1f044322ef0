"""From events of a call to the events of its stream."""

from typing import assert_never

from unmask.api.answer import Answer
from unmask.api.call import Delivery
from unmask.api.event_buffer import ChoiceEvent
from unmask.api.finished import FinishedChoice
from unmask.api.shape import Json
from unmask.api.snapshot import snapshot
from unmask.api.sse import DONE, SNAPSHOT, data_event
from unmask.backend import CommitEvent, StepEvent
from unmask.control.answered import Answered


class Chunks:
    """Writes the stream of one answer: an opening, then what happens, then a closing."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self._call = answer.call
        self._writers = answer.writers()
        self._finished = dict[int, FinishedChoice]()

    def opening(self) -> bytes:
        """Return what every choice begins with."""
        return b"".join(self._chunk(choice) for writer in self._writers if (choice := writer.opening()) is not None)

    def event(self, happened: ChoiceEvent) -> bytes:
        """Return what a client is told of an event, which may be nothing."""
        index, event = happened.index, happened.event
        match event:
            case StepEvent():
                return self._snapshot(index, event) if self._call.delivery is Delivery.SNAPSHOTS else b""
            case CommitEvent():
                return self._chunk(self._writers[index].part(event)) if event.text or event.logprobs else b""
            case Answered():
                choice = self._answer.finish(event)
                self._finished[index] = choice
                return self._chunk(self._answer.with_diffusion(self._writers[index].closing(choice), index, choice))
            case _:
                assert_never(event)

    def closing(self) -> bytes:
        """Return what the call cost, where that is asked for, and the end of a stream in which all went well."""
        if not self._call.include_usage:
            return DONE
        choices = [self._finished[index] for index in range(len(self._writers))]
        return data_event(self._answer.usage_chunk(choices)) + DONE

    def _chunk(self, choice: Json) -> bytes:
        return data_event(self._answer.chunk(choice))

    def _snapshot(self, index: int, event: StepEvent) -> bytes:
        # A chunk without choices beside what it carries: clients that go by the data alone read past it.
        chunk = {**self._answer.chunk(), "diffusion_snapshot": snapshot(index, event)}
        return data_event(chunk, name=SNAPSHOT)
