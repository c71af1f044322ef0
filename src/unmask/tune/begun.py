"""What a recalibration set out with, so that one that goes on does not change its mind."""

from dataclasses import dataclass
from pathlib import Path

import orjson
from pydantic import TypeAdapter, ValidationError

from unmask.tune.errors import CurveFileError, CurveRunError, ResumeError

BEGUN = "begun.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """The state at the beginning.

    Attributes:
        before: digest of the policy in force for these weights; ``None`` for the built-in fixed budget.
        reasons: why a new one was to be made.
        alarmed: task types whose exits were found to be wrong too often.
    """

    before: str | None
    reasons: tuple[str, ...]
    alarmed: tuple[str, ...] = ()


_BEGUN = TypeAdapter(Begun)


def keep_begun(folder: Path, begun: Begun) -> None:
    """Write it, whole or not at all.

    Raises:
        CurveRunError: the folder cannot be written.
    """
    partial = folder / f"{BEGUN}.partial"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        partial.write_bytes(orjson.dumps(begun) + b"\n")
        partial.replace(folder / BEGUN)
    except OSError as error:
        raise CurveRunError(f"cannot write {str(folder / BEGUN)!r}: {error}; name another --folder") from error


def read_begun(folder: Path, in_force: str | None) -> Begun | None:
    """Read it, or nothing where no run has begun.

    Raises:
        CurveFileError: it cannot be read or is damaged.
        ResumeError: another policy is in force by now, with which nothing here was compared.
    """
    path = folder / BEGUN
    try:
        begun = _BEGUN.validate_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValidationError) as error:
        raise CurveFileError(f"cannot read {str(path)!r}: {error}; name another --folder") from error
    if begun.before != in_force:
        raise ResumeError(
            f"the run in {str(folder)!r} began under the policy {begun.before or 'fixed'}, and now "
            f"{in_force or 'fixed'} is in force; name another --folder"
        )
    return begun
