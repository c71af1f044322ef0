"""Which service class a request is of: what its tier or class says, within what its caller may use."""

from collections.abc import Mapping
from dataclasses import replace

from unmask.control.asked import SERVICE_CLASS, SERVICE_TIER, Asked
from unmask.control.sources import ActivePolicy
from unmask.errors import InvalidRequestError

PLAIN_TIERS = frozenset({"auto", "default"})
"""Tiers that ask for no class in particular."""


def usable_classes(active: ActivePolicy, allowed: tuple[str, ...] | None) -> tuple[str, ...]:
    """Return the classes of a policy that a caller may use, the one of requests that name none first.

    That is the policy's default class, or where the caller may not use it, the first that was allowed.

    Args:
        active: the policy in force.
        allowed: names of classes, in the order that they were allowed in; ``None`` for all.
    """
    names = active.class_names
    if allowed is None:
        return names
    usable = tuple(name for name in allowed if name in names)
    return tuple(dict.fromkeys((names[0], *usable))) if names[0] in usable else usable


def settle_class(active: ActivePolicy | None, asked: Asked, tiers: Mapping[str, str]) -> Asked:
    """Return the same with the class that a request is of, where a policy has classes.

    Args:
        active: the policy in force, if there is one.
        asked: what the client said.
        tiers: classes by the tier of the OpenAI API that means them.

    Raises:
        InvalidRequestError: the tier means no class, or another one than is named; or the caller may not use it.
    """
    if active is None:
        return asked
    usable = usable_classes(active, asked.allowed_classes)
    field, name = _named(asked, tiers, usable)
    if name is None and not usable:
        allowed = ", ".join(asked.allowed_classes or ())
        raise InvalidRequestError(
            SERVICE_CLASS,
            "the default one",
            "none with this key",
            f"It is for {allowed or 'no class'}, and served here are {', '.join(active.class_names)}. Use another key.",
        )
    if name is not None and name not in usable:
        is_known = name in active.class_names
        # Of a class by its own name that no policy knows, the budget says so.
        if is_known or field == SERVICE_TIER:
            value = name if field == SERVICE_CLASS else asked.service_tier
            reason = (
                f"Your key is not for the service class {name}." if is_known else f"It means {name}, no class here."
            )
            raise InvalidRequestError(field, value, _offered(field, tiers, usable), reason)
    return replace(asked, service_class=name or usable[0])


def served_tier(
    asked: str | None, service_class: str | None, default: str | None, tiers: Mapping[str, str]
) -> str | None:
    """Return the tier to name in an answer: the one asked for, and for ``auto`` the one of the class that was served.

    Args:
        asked: the tier in the request, if any.
        service_class: the class that was served, if there are classes.
        default: the class of requests that name none.
        tiers: classes by tier.
    """
    if asked != "auto":
        return asked
    meant = (tier for tier, name in tiers.items() if name == service_class)
    return "default" if service_class == default else next(meant, "default")


def _named(asked: Asked, tiers: Mapping[str, str], usable: tuple[str, ...]) -> tuple[str, str | None]:
    """Return the class that is asked for, and the field that does."""
    tier = asked.service_tier
    if tier is None or tier in PLAIN_TIERS:
        return SERVICE_CLASS, asked.service_class
    offered = _offered(SERVICE_TIER, tiers, usable)
    if tier not in tiers:
        raise InvalidRequestError(SERVICE_TIER, tier, offered, "No service class stands for it: leave it out.")
    if asked.service_class not in {None, tiers[tier]}:
        raise InvalidRequestError(
            SERVICE_TIER,
            tier,
            "null or a tier of the same class beside diffusion.service_class",
            f"It means the service class {tiers[tier]}: send one of the two.",
        )
    return SERVICE_TIER, tiers[tier]


def _offered(field: str, tiers: Mapping[str, str], usable: tuple[str, ...]) -> str:
    if field == SERVICE_CLASS:
        return ", ".join(usable)
    return ", ".join((*sorted(PLAIN_TIERS), *(tier for tier, name in tiers.items() if name in usable)))
