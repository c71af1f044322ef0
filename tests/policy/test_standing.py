"""Behaviour of `unmask.policy.standing`: what may be done with a policy, and by whom."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unmask.policy.errors import PolicyActError, UnknownPolicyError
from unmask.policy.log import Act, Deed, Entry, Log
from unmask.policy.standing import Stage, Standing, standing_of
from unmask.testing.budget_policies import signed

P, Q, R = "1" * 64, "2" * 64, "3" * 64
MODELS = {P: "0" * 16, Q: "0" * 16, R: "f" * 16}
PEOPLE = ("ann", "bob", "cem")


def deed(act: Act, policy: str, against: str | None = None, *, solo: bool = False) -> Deed:
    """Return a deed; the first two policies are of the same weights."""
    return Deed(act=act, policy=policy, model="tiny", model_digest=MODELS[policy], against=against, self_approval=solo)


def done(*deeds: tuple[str, Deed]) -> Standing:
    """Return the standing after deeds, each with its actor."""
    standing = Standing()
    for hour, (actor, what) in enumerate(deeds):
        standing = standing.after(what, signed(actor, hour))
    return standing


def promoted(policy: str, against: str | None = None) -> tuple[tuple[str, Deed], ...]:
    """Return the whole way of a policy of ann's that bob approves."""
    return (
        ("ann", deed(Act.PROPOSE, policy)),
        ("ann", deed(Act.SUBMIT, policy, against)),
        ("bob", deed(Act.APPROVE, policy)),
        ("bob", deed(Act.PROMOTE, policy)),
    )


def test_policy_becomes_active() -> None:
    """Proposed, submitted, approved by another, promoted; who and when are known."""
    life = done(*promoted(P)).life(P)

    assert (life.stage, life.authors, life.approver) == (Stage.ACTIVE, frozenset({"ann"}), "bob")
    assert not life.self_approved
    assert life.promoted == signed("bob", 3).time


def test_next_one_supersedes_it_and_can_be_rolled_back() -> None:
    """One is active at a time, and the one before waits to be needed again."""
    twice = done(*promoted(P), *promoted(Q, against=P))
    back = done(*promoted(P), *promoted(Q, against=P), ("cem", deed(Act.ROLLBACK, P)))

    assert (twice.life(P).stage, twice.life(Q).stage) == (Stage.SUPERSEDED, Stage.ACTIVE)
    assert twice.earlier("tiny", MODELS[P]) == twice.life(P)
    assert (back.life(P).stage, back.life(Q).stage) == (Stage.ACTIVE, Stage.SUPERSEDED)
    assert back.earlier("tiny", MODELS[P]) == back.life(Q)


def test_weights_have_policies_of_their_own() -> None:
    """A policy of other weights supersedes nothing."""
    both = done(*promoted(P), *promoted(R))

    assert both.active("tiny", MODELS[P]) == both.life(P)
    assert both.active("tiny", MODELS[R]) == both.life(R)
    assert both.active("nano", MODELS[P]) is None


@pytest.mark.parametrize(
    ("deeds", "said"),
    [
        ((("ann", deed(Act.SUBMIT, P)),), "no policy 111111111111 is in the log"),
        ((("ann", deed(Act.PROPOSE, P)), ("ann", deed(Act.PROPOSE, P))), "is proposed and cannot be proposed again"),
        ((("ann", deed(Act.PROPOSE, P)), ("bob", deed(Act.APPROVE, P))), "allowed: one that is submitted"),
        ((*promoted(P)[:2], ("bob", deed(Act.PROMOTE, P))), "is submitted and cannot be promoted"),
        ((*promoted(P)[:2], ("ann", deed(Act.APPROVE, P))), "approval by anyone but ann. .* --solo"),
        (
            (*promoted(P)[:2], ("cem", deed(Act.SUBMIT, P)), ("cem", deed(Act.APPROVE, P))),
            "approval by anyone but ann, cem",
        ),
        ((*promoted(P)[:2], ("bob", deed(Act.APPROVE, P, solo=True))), "no approval of one's own"),
        ((*promoted(P)[:3], ("ann", deed(Act.REJECT, P)), ("ann", deed(Act.PROMOTE, P))), "is rejected"),
        ((*promoted(P)[:3], ("ann", deed(Act.SUBMIT, P)), ("ann", deed(Act.PROMOTE, P))), "is submitted"),
        ((*promoted(P), ("ann", deed(Act.SUBMIT, P, P))), "is active and cannot be submitted"),
        ((*promoted(P), ("ann", deed(Act.ROLLBACK, P))), "is active and cannot be rolled back to"),
        ((*promoted(P)[:3], ("ann", deed(Act.ROLLBACK, P))), "allowed: one that is superseded"),
        ((*promoted(P), *promoted(Q)), "not compared with the active one, which is 111111111111"),
        (
            (*promoted(P)[:3], *promoted(Q), ("bob", deed(Act.PROMOTE, P))),
            "submitted against none, allowed: against the active policy, which is now 222222222222",
        ),
    ],
)
def test_act_out_of_turn_is_refused(deeds: tuple[tuple[str, Deed], ...], said: str) -> None:
    """Every stage allows a few acts, and an author does not approve."""
    with pytest.raises(PolicyActError, match=said):
        done(*deeds)


def test_self_approval_is_kept() -> None:
    """Allowed where it is said, and known ever after."""
    life = done(*promoted(P)[:2], ("ann", deed(Act.APPROVE, P, solo=True))).life(P)

    assert (life.stage, life.approver, life.self_approved) == (Stage.APPROVED, "ann", True)


def test_rejected_policy_may_be_proposed_again() -> None:
    """By someone else too, who is then an author as well."""
    life = done(*promoted(P)[:2], ("bob", deed(Act.REJECT, P)), ("bob", deed(Act.PROPOSE, P))).life(P)

    assert (life.stage, life.authors) == (Stage.PROPOSED, frozenset({"ann", "bob"}))


def test_unknown_policy_is_told() -> None:
    """A digest that no act names is none to load."""
    with pytest.raises(UnknownPolicyError):
        Standing().life(P)


def test_bad_entry_is_numbered() -> None:
    """Whoever reads a log learns which of its entries was not allowed."""
    entries = tuple(
        Entry(number=number, deed=what, signature=signed("ann"), previous="", digest="")
        for number, what in enumerate((deed(Act.PROPOSE, P), deed(Act.PROMOTE, P)), 1)
    )

    with pytest.raises(PolicyActError) as caught:
        standing_of(Log(entries=entries, torn=b""))
    assert caught.value.param == "2"


ACTS = st.lists(
    st.tuples(
        st.sampled_from(PEOPLE),
        st.builds(
            deed,
            st.sampled_from(Act),
            st.sampled_from((P, Q)),
            st.sampled_from((None, P, Q)),
            solo=st.booleans(),
        ),
    ),
    max_size=40,
)


@given(ACTS)
def test_no_order_of_acts_breaks_the_rules(acts: list[tuple[str, Deed]]) -> None:
    """Never two active, never active without an approval by another or one that says solo."""
    standing = Standing()
    for hour, (actor, what) in enumerate(acts):
        try:
            standing = standing.after(what, signed(actor, hour))
        except PolicyActError:
            continue
        active = [life for life in standing.lives.values() if life.stage is Stage.ACTIVE]
        assert len(active) <= 1
        for life in standing.lives.values():
            if life.stage in {Stage.ACTIVE, Stage.APPROVED, Stage.SUPERSEDED}:
                assert life.approver is not None
                assert life.self_approved is (life.approver in life.authors)
            assert (life.policy in standing.superseded) is (life.stage is Stage.SUPERSEDED)
