"""`python -I -m ingest.kept` captures for the keeper of the embedded database."""

import sys

from ingest.app import main

if __name__ == "__main__":
    sys.exit(main(kept=True))
