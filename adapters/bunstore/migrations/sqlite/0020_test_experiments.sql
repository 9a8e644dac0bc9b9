-- Runs of tornado sessions are left out of analytics: the index has no place for them. It has the column nevertheless, because SQLite
-- would read it from the rows.
ALTER TABLE test_runs ADD COLUMN experiment BOOLEAN NOT NULL DEFAULT FALSE;
DROP INDEX test_runs_by_window;
CREATE INDEX test_runs_by_window ON test_runs
    (org, pathway_id, created_at, id, scenario_id, pathway_number, state, scripted, experiment, summary)
    WHERE state NOT IN ('PENDING', 'RUNNING') AND NOT experiment;
