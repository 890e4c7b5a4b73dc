-- Words that were told for a private memory are private while it is; what the owner hid by itself stays hidden.

ALTER TABLE message_state ADD COLUMN private_itself boolean NOT NULL DEFAULT false;

UPDATE message_state s SET private_itself = true FROM messages m
WHERE m.id = s.message_id AND s.private AND NOT (m.source IS NOT DISTINCT FROM 'manage_knowledge'
    AND EXISTS (SELECT FROM sources c JOIN memories k ON k.id = c.item_id WHERE c.message_id = m.id AND k.private));

-- Whoever says a private memory again, by whatever role, tells words that are private from the first. The daemon
-- finds summaries that do not fit.
CREATE FUNCTION keep_told_words() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path FROM CURRENT
AS $$
DECLARE
    kept bigint[];
    model smallint;
BEGIN
    WITH hidden AS (
        UPDATE message_state s SET private = true FROM messages m
        WHERE m.id = s.message_id AND m.source = 'manage_knowledge' AND NOT s.private AND s.message_id IN (
            SELECT c.message_id FROM cited c JOIN memories k ON k.id = c.item_id WHERE k.private)
        RETURNING s.message_id
    )
    SELECT array_agg(message_id) INTO kept FROM hidden;
    IF kept IS NOT NULL THEN
        FOR model IN SELECT id FROM embedding_models LOOP
            EXECUTE format('UPDATE %I SET searchable = false WHERE message_id = ANY ($1) AND searchable',
                'message_vectors_' || model) USING kept;
        END LOOP;
    END IF;
    RETURN NULL;
END
$$;

CREATE TRIGGER sources_keep_told_words AFTER INSERT ON sources
REFERENCING NEW TABLE AS cited FOR EACH STATEMENT EXECUTE FUNCTION keep_told_words();
