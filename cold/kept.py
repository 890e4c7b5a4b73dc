"""`python -I -m cold.kept` runs the daemon for the keeper of the embedded database."""

import sys

from cold.app import main

if __name__ == "__main__":
    sys.exit(main(kept=True))
