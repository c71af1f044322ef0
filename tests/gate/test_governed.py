"""A backend under a policy answers as a server would."""

from unmask.backend import Request
from unmask.gate.governed import GovernedBackend
from unmask.policy.policy import SearchPolicy
from unmask.service import SearchMethod
from unmask.testing.budget_policies import make_class_policy, make_task_policy
from unmask.testing.fake_backend import STEPS, FakeBackend
from unmask.testing.policies import FakeClassifier, FakeEstimator, FakeEstimators, make_active
from unmask.types import Message, Role


async def test_the_policys_search_is_run_and_its_steps_are_told() -> None:
    """A gate decides on a policy by what it gives, searches included."""
    texts = iter(["하나", "둘", "둘"])
    backend = FakeBackend(lambda _: next(texts))
    search = SearchPolicy(task="sort", method=SearchMethod.CANDIDATES, width=3)
    active = make_active(make_task_policy("sort"), classes=(make_class_policy(re_expansions=0, searches=(search,)),))
    governed = GovernedBackend(
        backend, active, FakeEstimators(FakeEstimator({})), FakeClassifier(lambda _: "sort"), lambda: 0.0
    )
    messages = (Message(role=Role.USER, content="정렬해 주세요"),)
    generation = await governed.generate(Request(model="tiny", messages=messages))

    assert (generation.text, generation.usage.steps_used) == ("둘", 3 * STEPS)
    assert len(backend.requests) == 3
