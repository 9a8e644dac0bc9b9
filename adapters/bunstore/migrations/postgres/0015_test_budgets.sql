-- What groups of runs may use, and have used, and how many of their runs may go on at once.
ALTER TABLE test_runs ADD COLUMN max_tokens BIGINT NOT NULL DEFAULT 0;
ALTER TABLE test_runs ADD COLUMN max_cost BIGINT NOT NULL DEFAULT 0; -- in billionths
ALTER TABLE test_batches ADD COLUMN max_tokens BIGINT NOT NULL DEFAULT 0;
ALTER TABLE test_batches ADD COLUMN max_cost BIGINT NOT NULL DEFAULT 0;
ALTER TABLE test_batches ADD COLUMN concurrency INTEGER NOT NULL DEFAULT 0;
ALTER TABLE test_batches ADD COLUMN caller_in BIGINT NOT NULL DEFAULT 0;
ALTER TABLE test_batches ADD COLUMN caller_out BIGINT NOT NULL DEFAULT 0;
ALTER TABLE test_batches ADD COLUMN agent_in BIGINT NOT NULL DEFAULT 0;
ALTER TABLE test_batches ADD COLUMN agent_out BIGINT NOT NULL DEFAULT 0;
ALTER TABLE test_batches ADD COLUMN judge_in BIGINT NOT NULL DEFAULT 0;
ALTER TABLE test_batches ADD COLUMN judge_out BIGINT NOT NULL DEFAULT 0;
ALTER TABLE test_batches ADD COLUMN tokens BIGINT NOT NULL DEFAULT 0;
ALTER TABLE test_batches ADD COLUMN cost BIGINT NOT NULL DEFAULT 0;
ALTER TABLE test_batches ADD COLUMN priced BIGINT NOT NULL DEFAULT 0;
ALTER TABLE test_batches ADD COLUMN unpriced BIGINT NOT NULL DEFAULT 0;

-- What was for people up to now has names.
UPDATE test_batches SET reason = CASE WHEN reason LIKE '%quota%' THEN 'quota' ELSE 'cancelled' END WHERE cancel;

-- A node looks for runs that wait beyond those of groups of which none may start.
DROP INDEX test_runs_waiting;
CREATE INDEX test_runs_waiting ON test_runs (org, created_at, id, batch_id) WHERE state = 'PENDING';
