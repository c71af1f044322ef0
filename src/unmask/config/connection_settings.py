"""Settings of connections: their types, what they allow and what they mean."""

from typing import Annotated

from unmask.config.rules import Group, Range, Setting

_SECONDS = Range(0.01, 3_600)

MaxConnections = Annotated[
    int,
    Setting(
        Group.CONNECTIONS,
        Range(1, 100_000),
        "Connections held at once; one more closes the one that has been idle longest.",
    ),
]

MaxTargetBytes = Annotated[
    int,
    Setting(
        Group.CONNECTIONS,
        Range(128, 65_536),
        "Longest request target, which is path and query; a longer one is refused with 414.",
    ),
]

MaxHeaders = Annotated[
    int, Setting(Group.CONNECTIONS, Range(8, 10_000), "Most headers of a request; more are refused with 431.")
]

MaxHeaderBytes = Annotated[
    int,
    Setting(Group.CONNECTIONS, Range(1_024, 1 << 20), "Bytes of all headers of a request; more are refused with 431."),
]

HeaderTimeoutS = Annotated[
    float,
    Setting(
        Group.CONNECTIONS,
        _SECONDS,
        "Seconds for the headers of a request to arrive, from its first byte or from the connection's opening.",
    ),
]

BodyTimeoutS = Annotated[
    float,
    Setting(
        Group.CONNECTIONS,
        _SECONDS,
        "Seconds for the body of a request to arrive; a slower one is refused with 408.",
    ),
]

MinBodyRate = Annotated[
    int,
    Setting(
        Group.CONNECTIONS,
        Range(0, 1 << 30),
        "Bytes a second that a body has to bring on average once 5 seconds have passed, else 408; 0 asks for none.",
    ),
]

WriteTimeoutS = Annotated[
    float,
    Setting(
        Group.CONNECTIONS,
        _SECONDS,
        "Seconds that a client may leave a waiting answer unread before its connection is cut.",
    ),
]

KeepAliveS = Annotated[
    float,
    Setting(Group.CONNECTIONS, _SECONDS, "Seconds that a connection may stay idle between requests."),
]
