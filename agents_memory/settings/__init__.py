"""Every setting of the program: one frozen object, read once, from one table.

    settings = Settings.load()
    settings.short_term_days, settings.describe_database()

This package is the only reader of the environment. `python -m agents_memory.settings` prints
`.env.example`.
"""

from agents_memory.settings.table import VARIABLES, Settings
from agents_memory.settings.values import Secret
from agents_memory.settings.variables import Group, Variable

__all__ = ["VARIABLES", "Group", "Secret", "Settings", "Variable"]
