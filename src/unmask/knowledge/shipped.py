"""The world in the package."""

from pathlib import Path

from unmask.knowledge.files import read_world
from unmask.knowledge.world import World

EXAMPLE = Path(__file__).parent / "worlds" / "example"


def example_world() -> World:
    """Return the example: 45 entities of a game world in English and Korean.

    Its slots and words are those that the embedded model was trained on, its names are not.
    """
    return read_world(EXAMPLE)
