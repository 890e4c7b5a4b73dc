"""Options that several commands have."""

import click

as_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
EPILOG = "Exit codes: 0 done, 1 failed, 2 wrong usage or settings, 3 the database is unavailable."
