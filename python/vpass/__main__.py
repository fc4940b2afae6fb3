"""``python -m vpass`` runs the command ``vpass``."""

import sys

from ._cli import main

sys.argv[0] = "vpass"
sys.exit(main())
