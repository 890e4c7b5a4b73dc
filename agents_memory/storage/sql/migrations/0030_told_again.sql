-- A captured turn may have several accounts, all of one session: an agent whose answer got lost hands a turn over again.
CREATE OR REPLACE FUNCTION withdraw_message(gone bigint, successor bigint) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path FROM CURRENT
AS $$
DECLARE
    model smallint;
BEGIN
    PERFORM 1 FROM message_state WHERE message_id IN (gone, successor) ORDER BY message_id FOR UPDATE;
    PERFORM 1 FROM message_state s JOIN messages m ON m.id = s.message_id
    WHERE s.message_id = gone AND NOT s.pinned
      AND CASE WHEN m.origin <> 'asserted' THEN
            successor IS NULL OR EXISTS (SELECT FROM messages n WHERE n.id = successor AND n.id > m.id
                AND n.user_id = m.user_id AND n.source = m.source AND n.store_id = m.store_id)
        ELSE EXISTS (SELECT FROM messages n WHERE n.id = successor AND n.user_id = m.user_id
                AND n.origin <> 'asserted' AND n.native_id IS NOT NULL AND n.platform = m.platform
                AND n.device = m.device AND n.role = m.role)
            AND NOT EXISTS (SELECT FROM collapsed_turns c WHERE c.message_id = m.id)
            AND NOT EXISTS (SELECT FROM withdrawals w JOIN messages t ON t.id = w.message_id
                WHERE w.replaced_by = successor AND t.origin = 'asserted'
                  AND (t.session = m.session) IS NOT TRUE)
        END;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    INSERT INTO withdrawals (message_id, replaced_by) VALUES (gone, successor) ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    UPDATE message_state SET screening = 'withdrawn' WHERE message_id = gone AND screening <> 'quarantined';
    -- What stands for it does not belong elsewhere.
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
