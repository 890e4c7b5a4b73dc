"""`python -I -m cold` runs the daemon."""

import sys

from cold.app import main

if __name__ == "__main__":
    sys.exit(main())
