-- An overview counts trunks by their state and finds those with the longest downtime. Statuses from before have both from their next
-- probe on, which is due within a minute.
ALTER TABLE trunk_statuses ADD COLUMN state TEXT NOT NULL DEFAULT '';
ALTER TABLE trunk_statuses ADD COLUMN down_ns BIGINT NOT NULL DEFAULT 0;
CREATE INDEX trunk_statuses_by_state ON trunk_statuses (org, state, down_ns DESC, number);
