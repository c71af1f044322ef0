"""Open files: every connection takes one, and a process may have only so many."""

from unmask.errors import ConfigError

OTHERS = 96
"""Files beside connections: weights, logs, libraries, the event loop, and the reserve of connections."""


def make_room(connections: int) -> None:
    """Let this process open enough files for so many connections.

    Raises:
        ConfigError: the system does not allow it.
    """
    try:
        import resource
    except ModuleNotFoundError:
        # Not made for every platform; those without it have no such limit to raise.
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = connections + OTHERS
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return
    if hard != resource.RLIM_INFINITY and hard < needed:
        raise ConfigError(
            f"max_connections is {connections}, and this process may open {hard} files, allowed: at most "
            f"{max(hard - OTHERS, 0)}. Lower it, or raise the limit (ulimit -Hn).",
            param="max_connections",
        )
    resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))
