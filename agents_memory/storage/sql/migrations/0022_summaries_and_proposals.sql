-- What nobody wrote down: parts of ended sessions get summaries, too, beside those of archived messages.

ALTER TABLE tag_summaries
    -- archive: its messages left everyday search for it; session: they are still there.
    ADD COLUMN kind    text NOT NULL DEFAULT 'archive' CHECK (kind IN ('archive', 'session')),
    ADD COLUMN session text,
    ADD CHECK ((kind = 'session') = (session IS NOT NULL));

-- Agents propose names as well, and say what they are about; it is written to the registry when confirmed.
ALTER TABLE tag_suggestions ADD COLUMN description text NOT NULL DEFAULT '' CHECK (length(description) <= 200);

-- The only suggestion that who decides on them may make: a name, as an agent's proposal and as nothing else.
-- How many messages and memories carry it is counted by whoever asks. NULL when it was suggested before.
CREATE FUNCTION propose_tag(proposed text, about text, sort text, in_messages bigint, in_memories bigint) RETURNS bigint
LANGUAGE sql SECURITY DEFINER
SET search_path FROM CURRENT
AS $$
    INSERT INTO tag_suggestions (kind, name, description, score, reasons, judged_by)
    SELECT 'new', proposed, about, 0, jsonb_build_object('proposed', CASE sort WHEN 'd' THEN 'd' ELSE 'p' END,
        'messages', in_messages, 'memories', in_memories), 'agent'
    WHERE NOT EXISTS (SELECT FROM project_tags WHERE name = proposed)
    ON CONFLICT DO NOTHING RETURNING id
$$;
REVOKE ALL ON FUNCTION propose_tag(text, text, text, bigint, bigint) FROM PUBLIC;
