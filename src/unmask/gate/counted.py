"""Numbers of things in words."""


def counted(number: int, one: str) -> str:
    """Write how many there are of what has a plural with s."""
    return f"{number} {one}" if number == 1 else f"{number} {one}s"
