-- When the daemon last tried to write the profile of a user, and how far it had read when it last could.

CREATE TABLE librarian_runs (
    user_id       bigint PRIMARY KEY REFERENCES users (id),
    -- Written before the model is asked, so that one that kills the process is not asked at once again.
    attempted_at  timestamptz,
    read_to       bigint NOT NULL DEFAULT 0
);
