"""Which folders policies are in: the user's own, and beneath it the one that comes with the package."""

from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path

from unmask.config.state import state_folder
from unmask.errors import ConfigError
from unmask.policy.store import PolicyStore
from unmask.savings.figure import SavingFigure
from unmask.savings.standing import known_figures


def open_store(policy_dir: str | None, environ: Mapping[str, str]) -> PolicyStore:
    """Return the user's store, with the package's beneath it; nothing is written until something is done.

    Args:
        policy_dir: the setting; ``None`` is the default folder.
        environ: environment variables, of which ``XDG_STATE_HOME`` counts.

    Raises:
        ConfigError: there is no home folder to put the default one into.
    """
    folder = user_folder(policy_dir, environ)

    def figures() -> tuple[SavingFigure, ...]:
        return known_figures(state_folder(environ))

    return PolicyStore(folder, beneath=packaged_store(), figures=figures)


def packaged_store() -> PolicyStore:
    """Return the store of the policies that come with the package's models; there need not be any."""
    return PolicyStore(Path(str(files("unmask.policy"))) / "builtin", read_only=True)


def user_folder(policy_dir: str | None, environ: Mapping[str, str]) -> Path:
    """Return the folder of the user's own policies."""
    try:
        if policy_dir is not None:
            return Path(policy_dir).expanduser()
        return state_folder(environ) / "policy"
    except RuntimeError as error:
        raise ConfigError(
            f"there is no home folder for policies: {error}; name a folder in policy_dir or with --policy-dir",
            param="policy_dir",
        ) from error
