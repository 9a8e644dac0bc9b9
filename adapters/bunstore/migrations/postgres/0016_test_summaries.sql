-- What analytics read of a run that has ended. The index has all of it, so that they leave the rows alone. Runs that ended before
-- have an empty summary.
ALTER TABLE test_runs ADD COLUMN summary TEXT COLLATE "C" NOT NULL DEFAULT '';
CREATE INDEX test_runs_by_window ON test_runs
    (org, pathway_id, created_at, id, scenario_id, pathway_number, state, scripted, summary)
    WHERE state NOT IN ('PENDING', 'RUNNING');
