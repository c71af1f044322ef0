"""Prompts that begin alike share pages, within a tenant and nowhere else."""

from hypothesis import given
from hypothesis import strategies as st

from unmask.sched.admission import admit
from unmask.sched.pages import PagePool
from unmask.sched.prefix import PrefixCache, first_hash, next_hash
from unmask.sequence import Sequence
from unmask.testing.sequences import make_sequence
from unmask.testing.submissions import make_submission
from unmask.types import Mode

PAGE = 4


class Cached:
    """A pool with a cache on it."""

    def __init__(self, pages: int = 32, *, enabled: bool = True) -> None:
        self.pool = PagePool(pages)
        self.cache = PrefixCache(self.pool, PAGE, enabled=enabled)

    def run(self, prompt: tuple[int, ...], *, output: tuple[int, ...] = (), tenant: str = "") -> Sequence:
        """Admit a request, append its prompt and output, register and release its pages; returns it."""
        sequence = self.start(prompt, tenant=tenant)
        sequence.output = list(output)
        sequence.committed = len(prompt) + len(output)
        self.cache.register(sequence)
        self.pool.release(sequence.pages)
        return sequence

    def start(self, prompt: tuple[int, ...], *, tenant: str = "", mode: Mode = Mode.DIFFUSION) -> Sequence:
        """Admit a request."""
        sequence = make_sequence(make_submission(prompt, max_tokens=16, tenant=tenant, mode=mode))
        assert admit(sequence, self.pool, self.cache, PAGE, 0.0)
        return sequence

    def known(self, prompt: tuple[int, ...]) -> int:
        """Return how many pages of a prompt can be found."""
        pages, _ = self.cache.match(make_sequence(make_submission(prompt)))
        return len(pages)


def test_a_second_prompt_finds_the_pages_it_has_in_common() -> None:
    """As many whole pages as two prompts share are used again, and no more is run."""
    cached = Cached()
    first = cached.run((1, 2, 3, 4, 5, 6, 7, 8, 9))
    second = cached.start((1, 2, 3, 4, 5, 6, 7, 8, 10, 11))
    third = cached.start((1, 2, 3, 4, 5, 6, 7, 0))

    assert second.pages[:2] == first.pages[:2]
    assert (second.cached_tokens, second.pending) == (8, (10, 11))
    assert (third.cached_tokens, third.pending) == (4, (5, 6, 7, 0))


def test_a_running_sequence_shares_its_pages_too() -> None:
    """Pages can be shared while the one who filled them still runs."""
    cached = Cached()
    first = cached.start((1, 2, 3, 4, 5))
    first.committed = 5
    cached.cache.register(first)
    second = cached.start((1, 2, 3, 4, 6))
    cached.pool.release(first.pages)

    assert second.pages[0] == first.pages[0]
    assert not cached.pool.is_kept(second.pages[0])


def test_a_conversations_second_turn_finds_the_first() -> None:
    """Committed output is found as part of the next turn's prompt."""
    cached = Cached()
    cached.run((1, 2, 3), output=(4, 5, 6, 7, 8))
    turn = cached.start((1, 2, 3, 4, 5, 6, 7, 8, 20, 21))

    assert turn.cached_tokens == 8


def test_tenants_never_share() -> None:
    """Another tenant's equal prompt finds nothing."""
    cached = Cached()
    cached.run((1, 2, 3, 4, 5), tenant="a")

    assert cached.start((1, 2, 3, 4, 5), tenant="b").cached_tokens == 0
    assert cached.start((1, 2, 3, 4, 5), tenant="a").cached_tokens == 4


def test_a_page_counts_only_behind_the_same_beginning() -> None:
    """Equal tokens after different ones are not the same page: their keys and values differ."""
    cached = Cached()
    cached.run((1, 1, 1, 1, 5, 6, 7, 8))

    assert cached.start((2, 2, 2, 2, 5, 6, 7, 8)).cached_tokens == 0


def test_decoding_leaves_the_last_prompt_token_to_run() -> None:
    """An autoregressive request needs its last prompt token's logits, so that page is not taken from the cache."""
    cached = Cached()
    cached.run((1, 2, 3, 4, 5, 6, 7, 8))

    assert cached.start((1, 2, 3, 4, 5, 6, 7, 8)).pending == ()
    assert cached.start((1, 2, 3, 4, 5, 6, 7, 8), mode=Mode.AUTOREGRESSIVE).pending == (5, 6, 7, 8)


def test_nothing_is_found_when_switched_off() -> None:
    """Without the cache every prompt is run in full and pages are blank when they return."""
    cached = Cached(enabled=False)
    first = cached.run((1, 2, 3, 4, 5))

    assert cached.start((1, 2, 3, 4, 5)).cached_tokens == 0
    assert not cached.pool.is_kept(first.pages[0])


def test_pages_make_room_from_the_end_of_the_oldest_prompt() -> None:
    """When pages run out, the least recently used prompt loses its last pages first."""
    cached = Cached(pages=12)
    cached.run(tuple(range(1, 13)))
    cached.run(tuple(range(101, 109)))
    cached.pool.allocate(cached.pool.available - 3)

    assert cached.known(tuple(range(1, 13))) == 1
    assert cached.known(tuple(range(101, 109))) == 2


def test_a_tenant_may_have_any_name() -> None:
    """Half a surrogate pair in a name is hashed like any other."""
    assert first_hash("\ud800") != first_hash("")


@given(st.lists(st.integers(0, 2**40), max_size=12), st.integers(1, 5))
def test_a_chain_names_all_tokens_before_it(tokens: list[int], size: int) -> None:
    """Chain hashes of equal beginnings are equal, and one changed token changes every hash from its page on."""

    def chain(values: list[int]) -> list[bytes]:
        hashes = [first_hash("tenant")]
        for first in range(0, len(values), size):
            hashes.append(next_hash(hashes[-1], values[first : first + size]))
        return hashes

    original = chain(tokens)
    assert chain(list(tokens)) == original
    for place in range(len(tokens)):
        changed = chain([*tokens[:place], tokens[place] + 1, *tokens[place + 1 :]])
        same = 1 + place // size
        assert changed[:same] == original[:same]
        assert all(now != before for now, before in zip(changed[same:], original[same:], strict=True))


def test_forgotten_pages_are_not_built_upon() -> None:
    """A prompt whose pages are not to be trusted is run anew by the next one; who shares them keeps them."""
    cached = Cached()
    cached.run((1, 2, 3, 4, 5))
    first, second = cached.start((1, 2, 3, 4, 5)), cached.start((1, 2, 3, 4, 5))
    assert first.pages[0] == second.pages[0]
    cached.cache.forget(first)

    assert cached.known((1, 2, 3, 4, 5)) == 0
    cached.pool.release(first.pages)
    cached.pool.release(second.pages)
    assert cached.pool.used == 0
