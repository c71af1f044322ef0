"""Log-probabilities that can be told from the token they belong to."""

from unmask.types import FixedToken, ScoredToken


def make_fixed(token: int, count: int | None) -> FixedToken | None:
    """Return a token as likely as its id is small, with itself and the ids after it as ``count`` alternatives.

    Nothing where ``count`` is ``None``: nobody has asked.
    """
    if count is None:
        return None
    near = tuple(ScoredToken(token=number, logprob=-number / 1024) for number in range(token, token + count))
    return FixedToken(chosen=ScoredToken(token=token, logprob=-token / 1024), top=near)
