-- What stands around a message: the turn before it and the day it was said, as lexemes of their own.

-- Derived and rebuilt at will. A separate column because neighbours' words help to find a turn and
-- harm when they are mixed into its own.
CREATE TABLE message_context (
    message_id    bigint PRIMARY KEY REFERENCES messages (id) ON DELETE CASCADE,
    previous_id   bigint REFERENCES messages (id) ON DELETE CASCADE,
    lexemes       tsvector NOT NULL,
    lexeme_count  integer NOT NULL
);
CREATE INDEX message_context_lexemes ON message_context USING gin (lexemes) WITH (fastupdate = off);
CREATE INDEX message_context_previous ON message_context (previous_id);
