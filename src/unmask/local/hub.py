"""Downloads a checkpoint that a user has named by its repository; nothing else does."""

from pathlib import Path

from unmask.engine.families.folder import Say
from unmask.errors import ConfigError
from unmask.local.places import Repository

READ = ("*.json", "*.safetensors", "*.jinja", "merges.txt")
"""Files of a checkpoint that are read; its code is not among them."""


def download(repository: Repository, say: Say) -> Path:
    """Return the folder of a repository, downloaded where it is not there yet.

    Raises:
        ConfigError: what downloads is not installed, or there is no such repository, or no way to it.
    """
    try:
        from huggingface_hub import snapshot_download  # noqa: PLC0415 - an extra, for those who name a repository
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"models names {repository.id}, which has to be downloaded, allowed without the extra hub: a folder. "
            "Install it with `pip install 'unmask[hub]'`, or download the checkpoint and name its folder.",
            param="models",
        ) from error
    say(f"downloading {repository.id}, unless it is there already")
    try:
        return Path(snapshot_download(repository.id, revision=repository.revision, allow_patterns=list(READ)))
    except Exception as error:  # the library's own, those of its transport, and of the file system
        reason = str(error).strip().splitlines() or [type(error).__name__]
        raise ConfigError(
            f"models names {repository.id}, and it cannot be downloaded: {reason[0]}. "
            "Look for a slip in the name, or download it by other means and name its folder.",
            param="models",
        ) from error
