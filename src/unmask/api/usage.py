"""What a call cost, in the words of the OpenAI API and with its steps beside them."""

from collections.abc import Iterable, Sequence

from unmask.api.call import Call
from unmask.api.common import common
from unmask.api.finished import FinishedChoice
from unmask.api.routed import routes_of
from unmask.backend import Usage, are_estimated
from unmask.cache.cache import Found
from unmask.control.admitted import Admitted
from unmask.control.answered import Answered
from unmask.control.budget import Assignment
from unmask.control.searched import Searched
from unmask.control.sources import Estimate
from unmask.types import Bucket, Message, Verification

MIXED = "mixed"
"""What of choices that differ stands in place of one value."""


def usage(call: Call, choices: Sequence[FinishedChoice]) -> dict[str, object]:
    """Write what all choices cost together.

    As the OpenAI API has it, a prompt counts once however many choices it has;
    of those, the one that found least of it in the cache counts.
    """
    spent = [choice.generation.usage for choice in choices]
    prompts = _by_prompt(call, spent)
    prompt_tokens = sum(same[0].prompt_tokens for same in prompts)
    completion_tokens = sum(one.completion_tokens for one in spent)
    steps = sum(one.steps_used for one in spent)
    return {
        "prompt_tokens": prompt_tokens,
        "completion_tokens": completion_tokens,
        "total_tokens": prompt_tokens + completion_tokens,
        "prompt_tokens_details": {"cached_tokens": sum(min(one.cached_tokens for one in same) for same in prompts)},
        "diffusion": {
            "steps_allocated": sum(one.steps_allocated for one in spent),
            "steps_used": steps,
            "steps_known": all(one.steps_known for one in spent),
            "steps_estimated": are_estimated(spent),
            "cap_ignored": any(one.cap_ignored for one in spent),
            "tokens_known": all(one.tokens_known for one in spent),
            "prompt_tokens_saved": sum({one.request.messages: one.tokens_saved for one in call.admitted}.values()),
            "canvases": sum(one.canvases for one in spent),
            **_drafts(spent),
            "tokens_per_step": round(completion_tokens / steps, 4) if steps else 0.0,
            "exit_reason": _exit_reason(spent),
            "verify": _verify(choice.verify for choice in choices).value,
            **_attempts([choice.answered for choice in choices]),
            **_shared(call, choices),
            "bucket": common(_bucket(call, choices)),
            **routes_of(call.admitted, [choice.answered for choice in choices]),
            "cache": _cache([choice.answered.found for choice in choices]),
        },
    }


def choice_diffusion(choice: FinishedChoice, admitted: Admitted) -> dict[str, object]:
    """Write what one of several choices was given and cost: on a route, what the model that answers was given."""
    spent, given = choice.generation.usage, _given(admitted, choice)
    return {
        "steps_used": spent.steps_used,
        "steps_known": spent.steps_known,
        "steps_estimated": spent.steps_estimated,
        "cap_ignored": spent.cap_ignored,
        "tokens_known": spent.tokens_known,
        "canvases": spent.canvases,
        **_drafts([spent]),
        "exit_reason": spent.exit_reason.value,
        "verify": choice.verify.value,
        **_attempts([choice.answered]),
        "bucket": choice.generation.bucket or given.bucket,
        "task": given.task,
        "difficulty": _difficulty(given.estimate),
        "budget_source": given.source,
        "precision": given.precision,
        "control": admitted.assignment.is_control,
        "cache": _cache([choice.answered.found]),
        "quality_level": given.level,
    }


def spent_usage(answered: Answered, admitted: Admitted) -> dict[str, object]:
    """Write what a request cost that is not answered."""
    spent = answered.generation.usage
    return {
        "prompt_tokens": spent.prompt_tokens,
        "completion_tokens": spent.completion_tokens,
        "total_tokens": spent.prompt_tokens + spent.completion_tokens,
        "diffusion": {
            "steps_allocated": spent.steps_allocated,
            **choice_diffusion(FinishedChoice(answered=answered), admitted),
        },
    }


def _drafts(spent: Sequence[Usage]) -> dict[str, object]:
    """Write how much of drafts was accepted; 0 of all of it where nothing drafts."""
    accepted, steps = sum(one.accepted for one in spent), sum(one.steps_used for one in spent)
    return {
        "drafted": sum(one.drafted for one in spent),
        "accepted": accepted,
        "accepted_per_round": round(accepted / steps, 4) if steps else 0.0,
    }


def _attempts(decided: Sequence[Answered]) -> dict[str, object]:
    return {
        "reexpansions": sum(one.reexpansions for one in decided),
        "steps_reexpansion": sum(one.steps_reexpansion for one in decided),
        "steps_verify": sum(one.steps_verify for one in decided),
        "steps_search": sum(one.steps_search for one in decided),
        "search": _search(one.searched for one in decided),
        "cap_applied": _shared_by(one.cap for one in decided),
    }


def _search(decided: Iterable[Searched | None]) -> dict[str, object] | None:
    """Write which search was run and what became of it; nothing where none was."""
    found = [one for one in decided if one is not None]
    if not found:
        return None
    return {
        "method": _shared_by(one.method for one in found),
        "width": max(one.width for one in found),
        "source": _shared_by(one.source for one in found),
        "limit": _shared_by(one.limit for one in found),
        "dropped": sum(one.dropped for one in found),
        "reward": _shared_by(one.reward for one in found),
    }


def _shared_by(values: Iterable[str | None]) -> str | None:
    found = set(values)
    return found.pop() if len(found) == 1 else MIXED


def _given(admitted: Admitted, choice: FinishedChoice) -> Assignment:
    """Return what the model that answers was given: of a route's two the larger one may have followed the smaller."""
    return admitted.of(choice.answered.model).assignment


def _shared(call: Call, choices: Sequence[FinishedChoice]) -> dict[str, object]:
    """Write what the choices were given, where it is the same for all."""
    given = [_given(admitted, choice) for admitted, choice in zip(call.admitted, choices, strict=True)]
    # One call asks for one class, and no policy is promoted between its choices; a route's models have one each.
    service_class = given[0].service_class
    return {
        "policy": common(one.policy_name for one in given) or MIXED,
        "task": common(one.task for one in given),
        "service_class": None if service_class is None else service_class.name,
        "difficulty": _difficulty(common(one.estimate for one in given)),
        "budget_source": common(one.source for one in given),
        "precision": common(one.precision for one in given),
        "approximate_cache": None if call.model.approximate is None else call.model.approximate.cache,
        "control": any(admitted.assignment.is_control for admitted in call.admitted),
        "quality_level": max(one.level for one in given),
    }


def _cache(found: Sequence[Found | None]) -> dict[str, object] | None:
    """Write what the cache had: of several choices the oldest answer and the least alike; nothing where not asked."""
    asked = [one for one in found if one is not None]
    if len(asked) < len(found):
        return None
    return {
        "hit": common(one.match for one in asked) or MIXED,
        "entry": common(None if one.entry is None else one.entry.id for one in asked),
        "age_s": max((round(one.age_s, 3) for one in asked if one.age_s is not None), default=None),
        "similarity": min((round(one.similarity, 4) for one in asked if one.similarity is not None), default=None),
    }


def _bucket(call: Call, choices: Sequence[FinishedChoice]) -> list[Bucket | None]:
    """Return the tier that each choice was served in: its own, or a smaller one where that would have been too late."""
    pairs = zip(call.admitted, choices, strict=True)
    return [choice.generation.bucket or _given(admitted, choice).bucket for admitted, choice in pairs]


def _difficulty(estimate: Estimate | None) -> dict[str, object] | None:
    return None if estimate is None else {"score": round(estimate.score, 4), "bin": estimate.bin}


def _by_prompt(call: Call, spent: Sequence[Usage]) -> list[list[Usage]]:
    prompts: dict[tuple[Message, ...], list[Usage]] = {}
    for request, one in zip(call.requests, spent, strict=True):
        prompts.setdefault(request.messages, []).append(one)
    return list(prompts.values())


def _exit_reason(spent: Sequence[Usage]) -> str:
    reasons = {one.exit_reason for one in spent}
    return reasons.pop().value if len(reasons) == 1 else MIXED


def _verify(verdicts: Iterable[Verification]) -> Verification:
    found = set(verdicts)
    ranked = (Verification.FAIL, Verification.PASS)
    return next((one for one in ranked if one in found), Verification.SKIPPED)
