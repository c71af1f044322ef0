"""Behaviour of `unmask.replicas.choice`."""

from hypothesis import given
from hypothesis import strategies as st

from unmask.replicas.choice import UNSEEN, Candidate, choose
from unmask.routing import RouteReason

TOKENS = 1_000
NUMBERS = st.integers(0, 3_000)
CANDIDATES = st.lists(st.tuples(NUMBERS, st.integers(0, TOKENS)), min_size=1, max_size=5).map(
    lambda pairs: [
        Candidate(name=f"r{place}", queued=queued, cached=cached) for place, (queued, cached) in enumerate(pairs)
    ]
)


def test_the_longest_prefix_wins_while_nobody_is_busy() -> None:
    """What is cached need not be run."""
    found = choose([Candidate(name="a", queued=0), Candidate(name="b", queued=0, cached=640)], TOKENS, b"x")

    assert (found.name, found.reason, found.cached) == ("b", RouteReason.PREFIX, 640)


def test_a_hot_prefix_does_not_overload_its_replica() -> None:
    """A queue longer than what the cache saves sends the request elsewhere."""
    found = choose([Candidate(name="a", queued=200), Candidate(name="b", queued=841, cached=640)], TOKENS, b"x")

    assert (found.name, found.reason) == ("a", RouteReason.LOAD)


def test_what_is_pushed_out_counts() -> None:
    """Where every page is taken, running a prompt anew costs what others will miss; up to twice its tokens."""
    for missed, taken in ((0.0, "a"), (0.5, "b"), (1.0, "b")):
        full = [
            Candidate(name="a", queued=0, missed=missed),
            Candidate(name="b", queued=700, cached=640, missed=missed),
        ]
        assert choose(full, TOKENS, b"x").name == taken


def test_a_session_stays_where_it_was() -> None:
    """Though nothing is known to be cached there, and others have as little to do."""
    names = "abc"
    for last in names:
        found = choose([Candidate(name=name, queued=0, was_here=name == last) for name in names], TOKENS, b"x")
        assert (found.name, found.reason) == (last, RouteReason.SESSION)


def test_a_session_leaves_a_busy_replica() -> None:
    """It is worth a share of the prompt and no more."""
    there = Candidate(name="a", queued=UNSEEN * TOKENS + 1, was_here=True)
    found = choose([there, Candidate(name="b", queued=0)], TOKENS, b"x")

    assert (found.name, found.reason) == ("b", RouteReason.LOAD)


def test_unknown_prompts_spread_and_agree() -> None:
    """Prompts that belong together go to one replica, whoever asks and in whatever order; others to another."""
    idle = [Candidate(name=name, queued=0) for name in "abcd"]
    homes = [f"home {number}".encode() for number in range(40)]
    found = [choose(idle, TOKENS, home) for home in homes]

    assert {one.name for one in found} == set("abcd")
    assert {one.reason for one in found} == {RouteReason.HOME}
    assert [choose(idle[::-1], TOKENS, home).name for home in homes] == [one.name for one in found]


def test_a_lost_replica_moves_its_own_homes_only() -> None:
    """The others' prompts stay where they are."""
    idle = [Candidate(name=name, queued=0) for name in "abcd"]
    for number in range(40):
        home = f"home {number}".encode()
        before, after = choose(idle, TOKENS, home).name, choose(idle[1:], TOKENS, home).name
        assert before in {"a", after}


@given(CANDIDATES, st.binary(min_size=1, max_size=8))
def test_no_choice_costs_more_than_the_cache_saves(candidates: list[Candidate], home: bytes) -> None:
    """Whichever is chosen, no other has less work in front of the request by more than what may be cached unseen."""
    found = choose(candidates, TOKENS, home)
    work = {one.name: one.queued + TOKENS - one.cached for one in candidates}

    assert work[found.name] <= min(work.values()) + UNSEEN * TOKENS
