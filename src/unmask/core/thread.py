"""The engine thread: ticks while there is work, takes commands between ticks."""

import queue
import threading
from collections.abc import Callable

from unmask.core.core import Core

IDLE_SECONDS = 0.5


class EngineThread:
    """Runs a core's ticks on a thread of its own.

    Commands are functions of the core; they run on that thread, in order,
    between two ticks, so an abort takes effect within one tick.
    """

    def __init__(self, core: Core) -> None:
        self._core = core
        self._commands: queue.SimpleQueue[Callable[[Core], None]] = queue.SimpleQueue()
        self._stopping = False
        self._thread = threading.Thread(target=self._run, name="unmask-engine", daemon=True)

    def start(self) -> None:
        """Start ticking."""
        self._thread.start()

    @property
    def is_alive(self) -> bool:
        """Whether the thread runs; a server that finds it dead is not ready."""
        return self._thread.is_alive()

    def post(self, command: Callable[[Core], None]) -> None:
        """Have ``command`` run before the next tick."""
        self._commands.put(command)

    def stop(self) -> None:
        """Stop after the current tick and wait for the thread."""
        self.post(self._stop)
        if self._thread.is_alive():
            self._thread.join()

    def _stop(self, core: Core) -> None:
        self._stopping = True

    def _run(self) -> None:
        while not self._stopping:
            self._take_commands(wait=self._core.is_idle)
            if not self._core.is_idle:
                self._core.tick()

    def _take_commands(self, *, wait: bool) -> None:
        try:
            command = self._commands.get(timeout=IDLE_SECONDS) if wait else self._commands.get_nowait()
            while True:
                command(self._core)
                command = self._commands.get_nowait()
        except queue.Empty:
            return
