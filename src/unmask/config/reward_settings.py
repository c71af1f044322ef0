"""Settings of the reward endpoint of searches: their types, what they allow and what they mean."""

from typing import Annotated

from unmask.config.rules import Folder, Group, Range, Setting, Url

_SECONDS = Range(0.01, 3_600)

RewardUrl = Annotated[
    str | None,
    Setting(
        Group.SEARCH,
        Url(),
        "Endpoint that tells which of a search's answers is best. It is sent chats and answers.",
        empty="verifiers, votes and confidence decide",
    ),
]

RewardKeyEnv = Annotated[
    str | None,
    Setting(
        Group.SEARCH,
        Folder("the name of an environment variable"),
        "Variable of the key that it is sent as a bearer token.",
        empty="no variable",
    ),
]

RewardKeyFile = Annotated[
    str | None,
    Setting(Group.SEARCH, Folder(is_read=True), "File of that key, in place of a variable.", empty="no file"),
]

RewardTimeout = Annotated[
    float,
    Setting(
        Group.SEARCH,
        _SECONDS,
        "Seconds in which it has to answer; after them the answer is chosen without it.",
    ),
]
