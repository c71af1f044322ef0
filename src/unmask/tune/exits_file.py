"""Exit rules to be proposed, by task type: JSON with the fields that ``exit`` has in a policy file."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, ValidationError

from unmask.policy.convert import exit_from
from unmask.policy.policy import ExitPolicy
from unmask.policy.schema import Digest, Document, ExitDocument, Name
from unmask.tune.errors import CurveFileError, ForeignCurvesError

FORMAT: Literal["unmask.exits/1"] = "unmask.exits/1"


class _File(Document):
    format: Literal["unmask.exits/1"]
    model_digest: Digest
    exits: Annotated[dict[Name, ExitDocument], Field(min_length=1)]


def read_exits(path: Path, model_digest: str) -> Mapping[str, ExitPolicy]:
    """Read exit rules.

    Raises:
        CurveFileError: the file cannot be read, is damaged, or is of another kind.
        ForeignCurvesError: the rules were tuned on other weights.
    """
    try:
        file = _File.model_validate_json(path.read_bytes())
    except OSError as error:
        raise CurveFileError(f"cannot read the exits {str(path)!r}: {error}") from error
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise CurveFileError(f"{str(path)!r} is no file of exits: {place} {first['msg']}".strip()) from error
    if file.model_digest != model_digest:
        raise ForeignCurvesError(
            f"the exits of {str(path)!r} are of weights {file.model_digest}, allowed: {model_digest}; tune them anew"
        )
    return {task: exit_from(document) for task, document in file.exits.items()}
