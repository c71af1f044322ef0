"""Families by the ``architectures`` of a ``config.json``."""

from collections.abc import Mapping

from unmask.engine.families.dream import DREAM
from unmask.engine.families.family import Family
from unmask.engine.families.gemma.config import ARCHITECTURE
from unmask.engine.families.llada import LLADA
from unmask.engine.families.sdar import SDAR
from unmask.errors import CheckpointFolderError, shown

FAMILIES = (LLADA, DREAM, SDAR)


def is_gemma(config: Mapping[str, object]) -> bool:
    """Tell whether a checkpoint is a DiffusionGemma, which has no masks and is run by an engine of its own."""
    named = config.get("architectures")
    return isinstance(named, list) and ARCHITECTURE in named


def family_of(config: Mapping[str, object]) -> Family:
    """Return the family of a checkpoint with masks.

    Raises:
        CheckpointFolderError: none of them has this architecture.
    """
    named = config.get("architectures")
    for family in FAMILIES:
        if isinstance(named, list) and any(name in named for name in family.architectures):
            return family
    known = ", ".join((*(name for family in FAMILIES for name in family.architectures), ARCHITECTURE))
    raise CheckpointFolderError(
        f"config.json: architectures is {shown(named)}, allowed: one of {known}. "
        "Code that comes with a checkpoint is never run: serve this one elsewhere and name that server in --remote."
    )
