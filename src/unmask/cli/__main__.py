"""``python -m unmask.cli``, where the command is not on the path."""

import sys

from unmask.cli.entry import main

sys.exit(main())
