"""Benchmarks as commands: a table, then one JSON object as the last line."""
