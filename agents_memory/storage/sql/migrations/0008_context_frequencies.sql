-- In how many contexts a lexeme stands: the days in words are rare in messages and common around them.

ALTER TABLE lexeme_stats ADD COLUMN contexts integer NOT NULL DEFAULT 0;

-- A filter that leaves few vectors finds them without reading them all.
DO $$
DECLARE vectors text;
BEGIN
    FOR vectors IN SELECT 'message_vectors_' || id FROM embedding_models LOOP
        EXECUTE format('CREATE INDEX %1$I ON %2$I (user_id, platform) WHERE searchable',
            vectors || '_platform', vectors);
        EXECUTE format('CREATE INDEX %1$I ON %2$I (user_id, device) WHERE searchable AND device IS NOT NULL',
            vectors || '_device', vectors);
        EXECUTE format('CREATE INDEX %1$I ON %2$I (user_id, venue text_pattern_ops) '
            'WHERE searchable AND venue IS NOT NULL', vectors || '_venue', vectors);
        EXECUTE format('CREATE INDEX %1$I ON %2$I (user_id) WHERE searchable AND pinned',
            vectors || '_pinned', vectors);
    END LOOP;
END $$;
