"""``python -m vpass``: the command."""

import sys

from ._cli import main

sys.argv[0] = "vpass"
sys.exit(main())
