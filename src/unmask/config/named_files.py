"""Whether the files that settings name are there."""

from pathlib import Path

from unmask.config.keys import settings_keys
from unmask.config.load import Loaded
from unmask.config.rules import Folder
from unmask.errors import ConfigError


def check_files(loaded: Loaded) -> None:
    """Refuse settings that name a file which a server would look for in vain when it starts.

    Raises:
        ConfigError: naming the setting, where it stands, and the file.
    """
    for key in settings_keys():
        rule, value = key.setting.rule, loaded.value(key)
        if isinstance(rule, Folder) and rule.is_read and isinstance(value, str) and not _is_file(value):
            raise ConfigError(
                f"{key.name} is {value!r} ({loaded.origins[key.name].place}), and there is no such file, allowed: "
                "the path of a file that can be read. Paths count from the folder that the server is started in.",
                param=key.name,
            )


def _is_file(text: str) -> bool:
    try:
        return Path(text).expanduser().is_file()
    except (OSError, RuntimeError, ValueError):
        return False
