"""`python -m agents_memory.settings` prints `.env.example`."""

import sys

from agents_memory.settings.example import render_env_example

sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
sys.stdout.write(render_env_example())
