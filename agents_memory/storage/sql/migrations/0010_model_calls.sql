-- What language models were asked, and how much of it each hour; no word of what was asked.

CREATE TABLE model_calls (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    provider    text NOT NULL CHECK (provider IN ('local', 'openai', 'xai')),
    model       text NOT NULL,
    role        text NOT NULL CHECK (role IN
        ('tagger', 'librarian', 'cluster', 'alias', 'extract', 'verify', 'gate')),
    began_at    timestamptz NOT NULL,
    -- Tokens are what was set aside for it, until it has ended.
    requests    integer NOT NULL CHECK (requests >= 0),
    tokens_in   bigint NOT NULL CHECK (tokens_in >= 0),
    tokens_out  bigint NOT NULL CHECK (tokens_out >= 0),
    seconds     real CHECK (seconds >= 0),
    -- NULL: under way, broken off, or its process died.
    outcome     text
);
CREATE INDEX model_calls_began_at ON model_calls (began_at);

-- What was spent in an hour; a call is booked before it is made, so one that kills the process counts.
CREATE TABLE budgets (
    provider    text NOT NULL CHECK (provider IN ('local', 'openai', 'xai')),
    hour        timestamptz NOT NULL,
    requests    bigint NOT NULL CHECK (requests >= 0),
    tokens      bigint NOT NULL CHECK (tokens >= 0),
    PRIMARY KEY (provider, hour)
);
