-- What rules wrote because a model could not is asked of models again, a few times in all.

ALTER TABLE tag_summaries
    -- Why the last model was asked in vain, and which it was; NULL where a model wrote it, or none was asked.
    ADD COLUMN unanswered  text,
    ADD COLUMN asked       text,
    ADD COLUMN asked_at    timestamptz,
    ADD COLUMN asked_times smallint NOT NULL DEFAULT 0;

-- These were given up for good.
UPDATE tag_summaries SET provisional = true
WHERE status = 'active' AND backend = 'rules' AND NOT provisional AND NOT private;
