-- name: find_hold
-- Whether a provider is left alone, and until when.
SELECT provider, times, held_until, since, reason FROM provider_holds WHERE provider = $1

-- name: list_holds
-- Providers that did not answer the last time they were asked.
SELECT provider, times, held_until, since, reason, held_until <= now() AS over FROM provider_holds ORDER BY provider

-- name: write_hold
-- A provider did not answer, so many times in a row.
INSERT INTO provider_holds (provider, times, held_until, since, reason) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (provider) DO UPDATE SET times = excluded.times, held_until = excluded.held_until,
    reason = excluded.reason

-- name: delete_hold
-- A provider answered again.
DELETE FROM provider_holds WHERE provider = $1

-- name: delete_holds
-- Every provider may be asked at once.
DELETE FROM provider_holds RETURNING provider
