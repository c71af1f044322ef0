"""What goes wrong with judges and is a mistake of whoever set them up."""

from unmask.errors import ConfigError


class JudgeError(ConfigError):
    """A judge cannot be asked as it is set up: an unknown key, a refused API key, a model that is not there.

    Replies that say nothing usable are no errors: their votes are unscored.
    """
