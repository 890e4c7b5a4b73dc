-- What was captured around a moment, whatever agents handed over meanwhile: each turn that an agent saves is looked
-- for among those.
CREATE INDEX messages_captured_time ON messages (user_id, (coalesce(occurred_at, created_at)))
    WHERE origin <> 'asserted' AND native_id IS NOT NULL;
