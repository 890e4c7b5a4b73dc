"""`python -I -m hot` is the MCP server that an editor starts."""

import gc

if __name__ == "__main__":
    # What a start imports stays, and looking for garbage in it takes a tenth of the start.
    gc.disable()
    from hot.process import main

    main()
