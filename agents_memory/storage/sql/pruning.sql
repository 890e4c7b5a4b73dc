-- name: prune_logs
-- The end of logs from before a time, so many rows of each; the owner's function does it.
SELECT log, pruned FROM prune_logs($1, $2)
