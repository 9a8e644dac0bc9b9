-- Tokens among the input of each role that models read from a cache.
ALTER TABLE test_batches ADD COLUMN caller_cached BIGINT NOT NULL DEFAULT 0;
ALTER TABLE test_batches ADD COLUMN agent_cached BIGINT NOT NULL DEFAULT 0;
ALTER TABLE test_batches ADD COLUMN judge_cached BIGINT NOT NULL DEFAULT 0;
