"""Behaviour of `unmask.control.tiers`."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unmask.control.asked import Asked
from unmask.control.tiers import served_tier, settle_class, usable_classes
from unmask.errors import InvalidRequestError
from unmask.testing.budget_policies import make_class_policy
from unmask.testing.policies import make_active

TIERS = {"priority": "interactive", "fast": "interactive", "flex": "batch", "scale": "night"}
ACTIVE = make_active()
NAMES = st.sampled_from(["interactive", "batch", "night", "other"])


def settled(**asked: object) -> str | None:
    """Return the class of a request under a policy with the classes interactive and batch."""
    return settle_class(ACTIVE, Asked(**asked), TIERS).service_class  # type: ignore[arg-type]


@pytest.mark.parametrize("tier", [None, "auto", "default"])
def test_a_plain_tier_is_the_default_class(tier: str | None) -> None:
    """It asks for nothing in particular, so a class that is named wins."""
    assert settled(service_tier=tier) == "interactive"
    assert settled(service_tier=tier, service_class="batch") == "batch"


def test_a_tier_is_a_class() -> None:
    """The class may be named beside it."""
    assert settled(service_tier="flex") == "batch"
    assert settled(service_tier="flex", service_class="batch") == "batch"
    assert settled(service_tier="priority") == "interactive"


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"service_tier": "scale"}, "'scale', allowed: auto, default, priority, fast, flex. It means night, no class"),
        ({"service_tier": "turbo"}, "'turbo', allowed: auto, default, priority, fast, flex. No service class"),
        ({"service_tier": "flex", "service_class": "interactive"}, "It means the service class batch: send one"),
    ],
)
def test_a_tier_that_means_nothing_here_is_refused_by_name(asked: dict[str, str], said: str) -> None:
    """No class, one that the policy lacks, or another one than is named."""
    with pytest.raises(InvalidRequestError, match=said) as caught:
        settled(**asked)

    assert caught.value.param == "service_tier"


def test_an_unknown_class_is_left_for_the_budget_to_refuse() -> None:
    """There its message lists the classes that there are."""
    assert settled(service_class="nix") == "nix"


def test_without_a_policy_nothing_is_settled() -> None:
    """There are no classes."""
    asked = Asked(service_tier="flex", service_class="x", allowed_classes=())

    assert settle_class(None, asked, TIERS) is asked


@given(st.none() | st.lists(NAMES, unique=True).map(tuple), st.none() | NAMES, st.none() | st.sampled_from([*TIERS]))
def test_nobody_is_served_in_a_class_that_is_not_theirs(
    allowed: tuple[str, ...] | None, name: str | None, tier: str | None
) -> None:
    """Whatever is asked for: a class of the policy that the caller may use, or an error that names the field."""
    usable = usable_classes(ACTIVE, allowed)
    try:
        found = settled(service_class=name, service_tier=tier, allowed_classes=allowed)
    except InvalidRequestError as error:
        found = error.param
    assert found in {*usable, "service_tier", "diffusion.service_class"} or found not in ACTIVE.class_names
    if name is None and tier is None and usable:
        assert found == usable[0]


def test_the_default_comes_first_of_those_that_may_be_used() -> None:
    """Without it, the first that was allowed; what the policy lacks is left out."""
    active = make_active(
        classes=(make_class_policy("a"), make_class_policy("b"), make_class_policy("c")), default_class="b"
    )

    assert usable_classes(active, None) == ("b", "a", "c")
    assert usable_classes(active, ("c", "b")) == ("b", "c")
    assert usable_classes(active, ("c", "x", "a")) == ("c", "a")
    assert usable_classes(active, ()) == ()


@pytest.mark.parametrize(
    ("asked", "served", "named"),
    [
        (None, "batch", None),
        ("flex", "batch", "flex"),
        ("default", "interactive", "default"),
        ("auto", "interactive", "default"),
        ("auto", "batch", "flex"),
        ("auto", "third", "default"),
        ("auto", None, "default"),
    ],
)
def test_the_answer_names_the_tier_that_was_served(asked: str | None, served: str | None, named: str | None) -> None:
    """Of ``auto`` the tier of the class; nothing where none was asked for."""
    default = None if served is None else "interactive"

    assert served_tier(asked, served, default, TIERS) == named
