"""Turns that wait on this machine's disk until the database is back.

    <data folder>/spool/<mark of the pool>/<writer>-<number>.spool    frames, one a turn
                                          /<writer>-<number>.aside    what could not be stored
                                          /drain.lock                 held by the one that drains

A writer holds the lock of its file, so a file that can be locked has lost its writer, and whoever
drains takes it over. A file goes when all that is in it has been committed.
"""
