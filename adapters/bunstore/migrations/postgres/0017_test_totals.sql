-- How many runs a group has in all, so that those that are still to be created can be counted. That of a group from before is 0:
-- none of its runs are counted before they exist.
ALTER TABLE test_batches ADD COLUMN total INTEGER NOT NULL DEFAULT 0;
CREATE INDEX test_batches_growing ON test_batches (org) WHERE created < total AND NOT cancel;
