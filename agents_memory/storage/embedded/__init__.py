"""A private Postgres with pgvector that starts by itself and ends after its last client.

`attach.attach` is what a process of ours calls; `server.Cluster` is the server alone (tests).
One detached keeper per base directory (`keeper`) owns the server and the shared services.
"""
