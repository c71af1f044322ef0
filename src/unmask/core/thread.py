"""The engine thread: ticks while there is work, takes commands between ticks."""

import logging
import queue
import threading
from collections.abc import Callable
from contextlib import suppress

from unmask.core.core import Core
from unmask.core.errors import EngineStoppedError

logger = logging.getLogger(__name__)

Command = Callable[[Core], None]


class EngineThread:
    """Runs a core's ticks on a thread of its own.

    Commands are functions of the core; they run on that thread, in order,
    between two ticks, so an abort takes effect within one tick. However the
    thread ends, every sequence ends with it.
    """

    def __init__(self, core: Core) -> None:
        self._core = core
        self._commands: queue.SimpleQueue[Command] = queue.SimpleQueue()
        self._stopping = False
        self._closed = False
        self._closing = threading.Lock()
        self._thread = threading.Thread(target=self._run, name="unmask-engine", daemon=True)

    def start(self) -> None:
        """Start ticking."""
        self._thread.start()

    @property
    def is_alive(self) -> bool:
        """Whether the thread runs; a server that finds it dead is not ready."""
        return self._thread.is_alive() and not self._closed

    def post(self, command: Command) -> None:
        """Have ``command`` run before the next tick.

        Raises:
            EngineStoppedError: there will be no further tick.
        """
        with self._closing:
            if self._closed:
                raise EngineStoppedError
            self._commands.put(command)

    def stop(self) -> None:
        """Stop after the current tick and wait for the thread."""
        with suppress(EngineStoppedError):
            self.post(self._stop)
        if self._thread.is_alive():
            self._thread.join()

    def _stop(self, _core: Core) -> None:
        self._stopping = True

    def _run(self) -> None:
        error = "the engine was stopped"
        try:
            while not self._stopping:
                self._take_commands(None if self._core.is_idle else self._core.nap_s)
                if not self._core.is_idle:
                    self._core.tick()
        except BaseException as cause:
            logger.exception("the engine thread has ended")
            error = f"the engine has stopped: {type(cause).__name__}: {cause}"
        self._close(error)

    def _take_commands(self, wait_s: float | None) -> None:
        """Run what was posted; where nothing was, wait for it for so many seconds, or for ever."""
        with suppress(queue.Empty):
            command = self._commands.get(block=wait_s != 0, timeout=wait_s)
            while True:
                command(self._core)
                command = self._commands.get_nowait()

    def _close(self, error: str) -> None:
        with self._closing:
            self._closed = True
        # What was posted before is run all the same, so that a submission among it gets its answer.
        self._take_commands(0)
        self._core.fail_all(error)
