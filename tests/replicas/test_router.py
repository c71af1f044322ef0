"""Behaviour of `unmask.replicas.router`."""

from tests.replicas.prompts import PAGE, make_prompt
from unmask.replicas.choice import Choice
from unmask.replicas.prompt import Prompt
from unmask.replicas.router import Router
from unmask.routing import RouteReason
from unmask.testing.builders import make_usage

NAMES = ("a", "b", "c")
IDLE = dict.fromkeys(NAMES, 0)


def make_router(*, pages: int = 100, first_work: float = 64.0) -> Router:
    """Return a router over three replicas."""
    return Router(NAMES, pages=pages, first_work=first_work)


def send(router: Router, prompt: Prompt) -> Choice:
    """Send a request that ends at once."""
    found = router.choose(prompt, IDLE)
    with router.visit(prompt, found):
        pass
    return found


def test_a_prompt_is_found_where_it_went() -> None:
    """Its next turn goes there, for what it has in common."""
    router = make_router()
    first = send(router, make_prompt("p", "pq"))
    later = send(router, make_prompt("p", "pq", "pqr", home="elsewhere"))

    assert (later.name, later.reason, later.cached) == (first.name, RouteReason.PREFIX, 2 * PAGE)


def test_what_was_given_up_is_believed_no_more() -> None:
    """The index is as large as the replica's own cache."""
    router = make_router(pages=2)
    home = send(router, make_prompt("p", "pq")).name
    for number in range(40):
        send(router, make_prompt(f"{number}", f"{number}+", home=f"{number}"))

    assert router.choose(make_prompt("p", "pq"), IDLE).cached == 0
    assert home in NAMES


def test_requests_there_count_as_work() -> None:
    """A burst of one prompt spreads once the queue is worth more than its prefix, and not before."""
    router = make_router(first_work=4 * PAGE)
    prompt = make_prompt(*("p" * length for length in range(1, 9)))
    counts = dict.fromkeys(NAMES, 0)
    visits = []
    for _ in range(12):
        found = router.choose(prompt, counts)
        visits.append(router.visit(prompt, found))
        visits[-1].__enter__()
        counts[found.name] += 1

    assert sorted(counts.values()) == [4, 4, 4]
    for visit in visits:
        visit.__exit__(None, None, None)
    assert router.choose(make_prompt("new"), IDLE).reason is RouteReason.HOME


def test_a_full_replica_keeps_what_is_found_there() -> None:
    """What others would miss is charged once pages are all taken, by how much was found of late."""
    shared = make_prompt("p", "pq", "pqr", "pqrs")
    for pages, stays in ((100, False), (4, True)):
        router = make_router(pages=pages, first_work=6.0 * PAGE)
        names = dict.fromkeys(("a", "b"), 0)
        first = router.choose(shared, names)
        with router.visit(shared, first):
            pass
        router.answered(first, make_usage(prompt_tokens=128, cached_tokens=128, steps_used=6), PAGE)
        other = next(name for name in names if name != first.name)
        filler = make_prompt("x", "xy", "xyz", "xyzu")
        with router.visit(filler, Choice(name=other, reason=RouteReason.LOAD)):
            pass
        busy = names | {first.name: 1}
        assert router.hit_rate == 1
        assert (router.choose(shared, busy).name == first.name) is stays


def test_requests_that_came_by_other_ways_count() -> None:
    """A replica that says it has more than was sent to it is as busy as it says."""
    router = make_router()
    prompt = make_prompt(home="x", tokens=10)
    home = router.choose(prompt, IDLE).name

    assert router.choose(prompt, IDLE | {home: 3}).name != home


def test_answers_teach_what_one_takes() -> None:
    """Steps of a canvas count as its tokens; of a server that tells no steps, its output tokens."""
    router = make_router()
    choice = Choice(name="a", reason=RouteReason.HOME)
    assert router.work == 64
    router.answered(choice, make_usage(steps_used=4, commit_tokens=0), 16)
    assert router.work == 64
    router.answered(choice, make_usage(steps_known=False, steps_used=0, completion_tokens=10), 16)

    assert 10 < router.work < 64


def test_sessions_are_remembered() -> None:
    """A turn with another beginning goes where the turn before went."""
    router = make_router()
    homes = {send(router, make_prompt(f"p{number}", session=f"s{number}")).name for number in range(20)}
    before = router.choose(make_prompt("q", session="s7"), IDLE)

    assert homes == set(NAMES)
    assert before.reason is RouteReason.SESSION


def test_what_was_tried_is_left_out_while_there_are_others() -> None:
    """A further try goes elsewhere, and says that it is one."""
    router = make_router()
    prompt = make_prompt("p")
    first = send(router, prompt)
    second = router.choose(prompt, IDLE, [first.name], is_retry=True)

    assert second.name != first.name
    assert second.reason is RouteReason.RETRY
    assert router.choose(prompt, {first.name: 0}, [first.name]).name == first.name


def test_it_tells_what_went_where() -> None:
    """Decisions by reason, the hit rate as it was, and as it was expected to be."""
    router = make_router()
    first = send(router, make_prompt("p", "pq"))
    second = send(router, make_prompt("p", "pq"))
    router.answered(first, make_usage(prompt_tokens=65, cached_tokens=0), 16)
    router.answered(second, make_usage(prompt_tokens=65, cached_tokens=32), 16)
    told = router.told(first.name, problem=None, running=1, waiting=2)

    assert {reason: count for reason, count in told.decisions if count} == {RouteReason.HOME: 1, RouteReason.PREFIX: 1}
    assert (told.prompt_tokens, told.cached_tokens, told.expected_tokens) == (130, 32, 64)
    assert told.hit_rate == 32 / 130
    assert (told.running, told.waiting) == (1, 2)


def test_usage_without_tokens_is_no_miss() -> None:
    """A server that tells no tokens has no hit rate."""
    router = make_router()
    router.answered(Choice(name="a", reason=RouteReason.HOME), make_usage(tokens_known=False, prompt_tokens=0), 16)

    assert router.told("a", problem=None, running=0, waiting=0).hit_rate is None
