"""`python -I -m ingest.buzz`: one run of the Buzz ingest."""

import sys

from ingest.buzz.app import main

if __name__ == "__main__":
    sys.exit(main())
