-- name: find_lexeme_totals
-- How many documents and words the statistics were counted over.
SELECT documents, words, counted_at FROM lexeme_totals

-- name: list_lexeme_counts
-- In how many messages and contexts the given lexemes occur; those of one alone are not kept.
SELECT lexeme, documents, contexts FROM lexeme_stats WHERE lexeme = ANY ($1::text[])

-- name: count_documents
-- What the statistics would be counted over now.
SELECT count(*) AS documents, coalesce(sum(lexeme_count), 0)::bigint AS words FROM messages

-- name: count_all_lexemes
-- In how many messages and in how many contexts each lexeme occurs, those of one alone left out.
SELECT word, coalesce(m.ndoc, 0) AS documents, coalesce(c.ndoc, 0) AS contexts
FROM (SELECT word, ndoc FROM ts_stat($$SELECT lexemes FROM messages$$) WHERE ndoc > 1) AS m
FULL JOIN (SELECT word, ndoc FROM ts_stat($$SELECT lexemes FROM message_context$$) WHERE ndoc > 1) AS c
    USING (word)

-- name: drop_uncounted_lexemes
-- Lexemes that the count no longer found.
DELETE FROM lexeme_stats s WHERE NOT EXISTS (SELECT FROM unnest($1::text[]) AS found (lexeme)
    WHERE found.lexeme = s.lexeme)

-- name: merge_lexeme_counts
-- What the count found, written where it differs.
INSERT INTO lexeme_stats (lexeme, documents, contexts)
SELECT * FROM unnest($1::text[], $2::integer[], $3::integer[])
ON CONFLICT (lexeme) DO UPDATE SET documents = excluded.documents, contexts = excluded.contexts
WHERE (lexeme_stats.documents, lexeme_stats.contexts) <> (excluded.documents, excluded.contexts)

-- name: record_lexeme_totals
-- The statistics are of now.
UPDATE lexeme_totals SET documents = $1, words = $2, counted_at = now()
