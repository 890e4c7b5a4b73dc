-- The server prepares each CHECK anew for every statement, a tenth of what it costs to store a message, whose state
-- begins with its defaults (runtime roles may give nothing but its id). So it is checked when it changes.
ALTER TABLE message_state DROP CONSTRAINT message_state_check, DROP CONSTRAINT message_state_importance_check,
    DROP CONSTRAINT message_state_valence_check, DROP CONSTRAINT message_state_intensity_check,
    DROP CONSTRAINT message_state_screening_check;

CREATE FUNCTION refuse_state() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    RAISE check_violation USING MESSAGE = format('message %s cannot be in such a state', new.message_id),
        TABLE = tg_table_name, SCHEMA = tg_table_schema;
END
$$;
CREATE TRIGGER message_state_checked BEFORE UPDATE ON message_state FOR EACH ROW
    WHEN (new.pinned AND new.archived_at IS NOT NULL
        OR new.importance NOT BETWEEN 1 AND 10
        OR new.valence NOT BETWEEN -1 AND 1
        OR new.intensity NOT BETWEEN 0 AND 1
        OR new.screening NOT IN ('unscreened', 'clear', 'quarantined', 'withdrawn'))
    EXECUTE FUNCTION refuse_state();
