"""Builds what budgets are given by."""

from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random

from unmask.config import Settings
from unmask.config.choices import Switch
from unmask.config.state import state_folder
from unmask.control.book import RecordBook
from unmask.control.classify import packaged_classifier
from unmask.control.pairs import Pairs
from unmask.control.parts import ControlParts
from unmask.control.records import RecordFolder
from unmask.control.refiner import Refiner
from unmask.control.stored import CountTokens, StoredEstimators, StoredPolicies
from unmask.errors import ConfigError
from unmask.policy.store import PolicyStore
from unmask.refine.refine import VERSION


def record_folder(environ: Mapping[str, str]) -> Path:
    """Return where records of control runs are kept: beside the policies, in the user's folder of state."""
    return state_folder(environ) / "controls"


def control_parts(
    records: Path, store: PolicyStore, draw_seed: Callable[[], int], *, count_tokens: CountTokens, max_tokens: int
) -> ControlParts:
    """Return what a server goes by: policies and what they name from a store, records of controls in a folder.

    Args:
        records: the folder.
        store: of policies.
        draw_seed: makes the seed of control draws.
        count_tokens: how long a prompt is, as the difficulty estimator was trained to count.
        max_tokens: tokens of an answer whose request names none.

    Raises:
        ConfigError: the folder of records is there and cannot be read.
    """
    try:
        book = RecordBook(RecordFolder(records))
    except OSError as error:
        raise ConfigError(f"records of control runs cannot be read from {records}: {error.strerror}") from error
    return ControlParts(
        policies=StoredPolicies(store),
        estimators=StoredEstimators(store, count_tokens, max_tokens),
        classifier=packaged_classifier(),
        book=book,
        draw=Random(draw_seed()).random,
    )


def refiner_in(
    settings: Settings, environ: Mapping[str, str], count_tokens: CountTokens, draw_seed: Callable[[], int]
) -> Refiner | None:
    """Return what refines prompts, where that is enabled; pairs of answers are kept in the user's folder of state.

    Raises:
        ConfigError: the folder is there and cannot be read.
    """
    if settings.prompt_refinement is Switch.OFF:
        return None
    folder = state_folder(environ) / "refinement"
    try:
        pairs = Pairs(folder, VERSION)
    except OSError as error:
        raise ConfigError(f"pairs of answers cannot be read from {folder}: {error.strerror}") from error
    return Refiner(
        pairs=pairs,
        count_tokens=count_tokens,
        control_share=settings.refinement_control,
        draw=Random(draw_seed()).random,
    )
