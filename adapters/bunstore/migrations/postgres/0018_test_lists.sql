-- Lists of groups, newest first.
CREATE INDEX test_batches_by_creation ON test_batches (org, kind, created_at, id);
CREATE INDEX test_batches_by_pathway ON test_batches (org, kind, pathway_id, created_at, id);
CREATE INDEX test_batches_by_persona ON test_batches (org, kind, persona_id, created_at, id) WHERE persona_id <> '';
CREATE INDEX test_batches_by_state ON test_batches (org, kind, state, created_at, id);
-- Lists tell how many scenarios a group has by its runs. The total of a group from before test_totals is not known, but for what was
-- created of it.
UPDATE test_batches SET total = created WHERE total = 0;
