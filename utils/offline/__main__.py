"""`python -m utils.offline`."""

import sys

from . import main


sys.exit(main())
