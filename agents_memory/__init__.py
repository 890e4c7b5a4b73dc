"""The shared core of Agents Memory; imports no process."""

__version__ = "0.1.0"
