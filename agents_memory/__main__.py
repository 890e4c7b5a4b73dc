"""`python -m agents_memory` is the command `mcp-agents-memory`."""

import sys

from agents_memory.cli import main

if __name__ == "__main__":
    sys.exit(main())
