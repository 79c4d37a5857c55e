"""Command line: ``python -m eagle_viz COMMAND``. Results go to standard output, progress to standard error, bad input exits 2."""

import sys

from .commands import main

if __name__ == "__main__":
    sys.exit(main())
