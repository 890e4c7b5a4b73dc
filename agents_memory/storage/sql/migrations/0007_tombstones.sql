-- Words and turns that were erased, known again by digests that the pool's secret keys.

CREATE TABLE tombstones (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind          text NOT NULL CHECK (kind IN ('phrase', 'turn')),
    digest        bytea NOT NULL CHECK (octet_length(digest) = 32),
    -- How many words the phrase has; NULL for a turn, which is compared whole.
    words         smallint CHECK (words > 0),
    created_at    timestamptz NOT NULL DEFAULT now(),
    CHECK ((kind = 'phrase') = (words IS NOT NULL)),
    UNIQUE (kind, digest)
);

-- A process that did not know of a tombstone yet may have stored what it forbids. Only the owner may
-- change a message; the daemon may ask here for places in one that nobody screened yet, and can only
-- take words out of it, never put others in. Places count characters from 1, in order and apart.
CREATE FUNCTION strike_message(struck bigint, starts integer[], lengths integer[], fields text[],
    words tsvector, word_count integer) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path FROM CURRENT
AS $$
DECLARE
    said text;
    gone CONSTANT text := '[redacted]';
BEGIN
    SELECT m.message INTO said FROM messages m JOIN message_state s ON s.message_id = m.id
    WHERE m.id = struck AND s.screening = 'unscreened' FOR UPDATE;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    -- From the end, so that the places before it stay where they are.
    FOR i IN REVERSE coalesce(array_length(starts, 1), 0) .. 1 LOOP
        said := overlay(said PLACING gone FROM starts[i] FOR lengths[i]);
    END LOOP;
    UPDATE messages m SET message = said, raw_message = NULL, lexemes = words, lexeme_count = word_count,
        platform = CASE WHEN 'platform' = ANY (fields) THEN gone ELSE platform END,
        model = CASE WHEN 'model' = ANY (fields) THEN gone ELSE model END,
        subagent_model = CASE WHEN 'subagent_model' = ANY (fields) THEN gone ELSE subagent_model END,
        subagent_role = CASE WHEN 'subagent_role' = ANY (fields) THEN gone ELSE subagent_role END,
        device = CASE WHEN 'device' = ANY (fields) THEN gone ELSE device END,
        venue = CASE WHEN 'venue' = ANY (fields) THEN gone ELSE venue END,
        session = CASE WHEN 'session' = ANY (fields) THEN gone || '#' || m.id ELSE session END,
        cwd = CASE WHEN 'cwd' = ANY (fields) THEN gone ELSE cwd END,
        project_hint = CASE WHEN 'project_hint' = ANY (fields) THEN gone ELSE project_hint END,
        source = CASE WHEN 'source' = ANY (fields) THEN gone ELSE source END,
        store_id = CASE WHEN 'store_id' = ANY (fields) THEN gone ELSE store_id END,
        native_id = CASE WHEN 'native_id' = ANY (fields) THEN gone || '#' || m.id ELSE native_id END
    WHERE m.id = struck;
    RETURN true;
END
$$;
REVOKE ALL ON FUNCTION strike_message(bigint, integer[], integer[], text[], tsvector, integer) FROM PUBLIC;
