"""Published model families: what their files say, and how they are run."""
