-- What people and systems say in tests is sealed. It comes last: SQLite reads a row from its beginning, and no further than it
-- must.
CREATE TABLE test_scenarios (
    id         TEXT      NOT NULL PRIMARY KEY,
    org        TEXT      NOT NULL,
    pathway_id TEXT      NOT NULL, -- empty: of a persona
    persona_id TEXT      NOT NULL,
    name       TEXT      NOT NULL,
    category   TEXT      NOT NULL,
    required   BOOLEAN   NOT NULL,
    enabled    BOOLEAN   NOT NULL,
    created_at TIMESTAMP NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    version    INTEGER   NOT NULL,
    document   TEXT      NOT NULL -- sealed
);
CREATE UNIQUE INDEX test_scenarios_by_name ON test_scenarios (org, pathway_id, persona_id, name);
CREATE INDEX test_scenarios_by_creation ON test_scenarios (org, created_at, id);

CREATE TABLE test_snapshots (
    id             TEXT      NOT NULL PRIMARY KEY,
    org            TEXT      NOT NULL,
    pathway_number INTEGER   NOT NULL,
    hash           TEXT      NOT NULL,
    created_at     TIMESTAMP NOT NULL,
    document       TEXT      NOT NULL -- sealed
);

CREATE TABLE test_runs (
    id             TEXT      NOT NULL PRIMARY KEY,
    org            TEXT      NOT NULL,
    scenario_id    TEXT      NOT NULL,
    name           TEXT      NOT NULL,
    pathway_id     TEXT      NOT NULL,
    persona_id     TEXT      NOT NULL,
    pathway_number INTEGER   NOT NULL,
    batch_id       TEXT      NOT NULL, -- empty: none
    trial          INTEGER   NOT NULL,
    snapshot_id    TEXT      NOT NULL,
    scripted       BOOLEAN   NOT NULL,
    state          TEXT      NOT NULL,
    node           TEXT      NOT NULL,
    attempt        INTEGER   NOT NULL,
    cancel         BOOLEAN   NOT NULL,
    created_at     TIMESTAMP NOT NULL,
    started_at     TIMESTAMP,
    ended_at       TIMESTAMP,
    version        INTEGER   NOT NULL,
    webhook        TEXT      NOT NULL, -- sealed
    result         TEXT      NOT NULL, -- sealed
    outcome        TEXT      NOT NULL  -- sealed
);
CREATE INDEX test_runs_by_creation ON test_runs (org, created_at, id);
CREATE INDEX test_runs_by_scenario ON test_runs (org, scenario_id, created_at, id);
CREATE INDEX test_runs_by_pathway ON test_runs (org, pathway_id, created_at, id);
CREATE INDEX test_runs_by_persona ON test_runs (org, persona_id, created_at, id) WHERE persona_id <> '';
CREATE INDEX test_runs_by_batch ON test_runs (org, batch_id, created_at, id) WHERE batch_id <> '';
CREATE UNIQUE INDEX test_runs_by_trial ON test_runs (batch_id, scenario_id, trial) WHERE batch_id <> '';
CREATE INDEX test_runs_by_state ON test_runs (org, state, created_at, id);
CREATE INDEX test_runs_waiting ON test_runs (org) WHERE state = 'PENDING';
CREATE INDEX test_runs_running ON test_runs (node) WHERE state = 'RUNNING';
CREATE INDEX test_runs_by_end ON test_runs (ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX test_runs_by_snapshot ON test_runs (snapshot_id);

CREATE TABLE test_answers (
    run_id     TEXT NOT NULL,
    org        TEXT NOT NULL,
    answer_key TEXT NOT NULL,
    answer     TEXT NOT NULL, -- sealed
    PRIMARY KEY (run_id, answer_key)
);

CREATE TABLE test_batches (
    id             TEXT      NOT NULL PRIMARY KEY,
    org            TEXT      NOT NULL,
    kind           TEXT      NOT NULL,
    triggered_by   TEXT      NOT NULL,
    pathway_id     TEXT      NOT NULL, -- empty: of several pathways, or of a persona
    persona_id     TEXT      NOT NULL,
    pathway_number INTEGER   NOT NULL,
    hash           TEXT      NOT NULL,
    simulations    INTEGER   NOT NULL,
    publish        BOOLEAN   NOT NULL,
    state          TEXT      NOT NULL,
    created        INTEGER   NOT NULL,
    passed         INTEGER   NOT NULL,
    failed         INTEGER   NOT NULL,
    erred          INTEGER   NOT NULL,
    cancelled      INTEGER   NOT NULL,
    cancel         BOOLEAN   NOT NULL,
    reason         TEXT      NOT NULL,
    created_at     TIMESTAMP NOT NULL,
    ended_at       TIMESTAMP,
    version        INTEGER   NOT NULL,
    document       TEXT      NOT NULL -- sealed
);
CREATE INDEX test_batches_by_version ON test_batches (org, pathway_id, pathway_number, created_at, id) WHERE kind = 'batch';
