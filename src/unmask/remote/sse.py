"""Server-sent events out of bytes, however these were cut (WHATWG HTML, section 9.2 "Server-sent events").

Lines end with LF, CR or CR LF; a character that is cut in two by the network is put together again, since a line is
decoded only once it is whole. Of an event only its data is of interest here: comments, names, ids and retry times are
read past.
"""

import re
from collections.abc import Iterator

_BOM = b"\xef\xbb\xbf"
_LINE_END = re.compile(rb"[\r\n]")


class EventTooLargeError(Exception):
    """An event has more bytes than one may have."""


class EventEncodingError(Exception):
    """An event is not in UTF-8. The standard has clients guess; a guess would be text that nobody wrote."""


class EventReader:
    """Takes bytes as they come and returns the data of events that are complete.

    Args:
        most_bytes: of one event, its line ends included. A stream that never ends an event is bounded by it.
    """

    def __init__(self, most_bytes: int) -> None:
        self._most = most_bytes
        self._rest = bytearray()
        self._seen = 0
        """Bytes of it that hold no end of a line."""
        self._data: list[str] = []
        self._size = 0
        self._begun = False
        self._after_cr = False

    def feed(self, data: bytes) -> Iterator[str]:
        """Yield the data of every event that these bytes complete.

        Raises:
            EventEncodingError: an event is not in UTF-8.
            EventTooLargeError: an event is larger than one may be.
        """
        self._rest += data
        for line in self._lines():
            event = self._line(line)
            if event is not None:
                yield event
        if self._size + len(self._rest) > self._most:
            raise EventTooLargeError

    def _lines(self) -> Iterator[bytes]:
        while True:
            if self._after_cr and self._rest:
                # The LF of a CR LF whose CR has ended a line already.
                if self._rest[:1] == b"\n":
                    del self._rest[:1]
                self._after_cr = False
            found = _LINE_END.search(self._rest, self._seen)
            if found is None:
                self._seen = len(self._rest)
                return
            end, mark = found.start(), found.group()
            # A match holds the buffer, which cannot shrink meanwhile.
            del found
            line = bytes(self._rest[:end])
            self._after_cr = mark == b"\r"
            del self._rest[: end + 1]
            self._seen = 0
            yield line

    def _line(self, line: bytes) -> str | None:
        if not self._begun:
            self._begun = True
            line = line.removeprefix(_BOM)
        if not line:
            found = "\n".join(self._data) if self._data else None
            self._data.clear()
            self._size = 0
            return found
        self._size += len(line)
        if self._size > self._most:
            raise EventTooLargeError
        name, _, value = line.partition(b":")
        if name == b"data":
            try:
                self._data.append(value.removeprefix(b" ").decode())
            except UnicodeDecodeError as error:
                raise EventEncodingError from error
        return None
