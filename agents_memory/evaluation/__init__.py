"""Evaluation: how well a score computed from traces foretells what is used next. Pure."""
