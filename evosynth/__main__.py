"""``python -m evosynth``."""

import sys

from evosynth.cli import main

sys.exit(main())
