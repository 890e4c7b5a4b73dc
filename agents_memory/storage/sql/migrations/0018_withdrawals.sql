-- Messages that their source edited or deleted: hidden, never changed (docs/decisions).

CREATE TABLE withdrawals (
    message_id    bigint PRIMARY KEY REFERENCES messages (id) ON DELETE CASCADE,
    -- The message that says it as it was edited; NULL for one that was deleted.
    replaced_by   bigint REFERENCES messages (id) CHECK (replaced_by > message_id),
    at            timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX withdrawals_replaced_by ON withdrawals (replaced_by);

ALTER TABLE message_state DROP CONSTRAINT message_state_screening_check;
ALTER TABLE message_state ADD CONSTRAINT message_state_screening_check
    CHECK (screening IN ('unscreened', 'clear', 'quarantined', 'withdrawn'));

-- Prompts with the manual and the history of Buzz's bridge; few, and asked for at every run of its ingest.
CREATE INDEX messages_wrapped ON messages (user_id, id)
    WHERE starts_with(message, '<base>') OR starts_with(message, E'<context>\nScope: ')
        AND message ~ '</(thread|conversation)-context>';

-- Takes a message of a client's own store out of everything but the evidence, in favour of a later one of
-- the same store or of none. False where nothing was done: it is pinned, was withdrawn before, or was
-- handed over by an agent. What was quarantined stays so. The daemon finds summaries that do not fit.
CREATE FUNCTION withdraw_message(gone bigint, successor bigint) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path FROM CURRENT
AS $$
DECLARE
    model smallint;
BEGIN
    PERFORM 1 FROM message_state s JOIN messages m ON m.id = s.message_id
    WHERE s.message_id = gone AND NOT s.pinned AND m.origin <> 'asserted'
      AND (successor IS NULL OR EXISTS (SELECT FROM messages n WHERE n.id = successor AND n.user_id = m.user_id
           AND n.source = m.source AND n.store_id = m.store_id))
    FOR UPDATE OF s;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    INSERT INTO withdrawals (message_id, replaced_by) VALUES (gone, successor) ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    UPDATE message_state SET screening = 'withdrawn' WHERE message_id = gone AND screening <> 'quarantined';
    -- An edit does not change where it belongs.
    UPDATE message_state n SET p_tag = coalesce(n.p_tag, o.p_tag), p_tag_kept = n.p_tag_kept OR o.p_tag_kept,
        private = n.private OR o.private
    FROM message_state o WHERE n.message_id = successor AND o.message_id = gone;
    DELETE FROM work WHERE item_id = gone;
    FOR model IN SELECT id FROM embedding_models LOOP
        EXECUTE format('UPDATE %I SET searchable = false WHERE message_id = $1 AND searchable',
            'message_vectors_' || model) USING gone;
    END LOOP;
    -- The turn after it was read with its words.
    WITH dropped AS (
        DELETE FROM message_context WHERE message_id = gone OR previous_id = gone RETURNING message_id
    )
    INSERT INTO work (item_id, stage)
    SELECT s.message_id, 'context' FROM dropped d JOIN message_state s ON s.message_id = d.message_id
    WHERE s.screening = 'clear' ORDER BY s.message_id
    ON CONFLICT DO NOTHING;
    RETURN true;
END
$$;
REVOKE ALL ON FUNCTION withdraw_message(bigint, bigint) FROM PUBLIC;
