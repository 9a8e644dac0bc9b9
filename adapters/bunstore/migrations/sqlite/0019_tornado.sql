-- Searches for versions that pass their tests, and their journals. What models have written is sealed, and comes last: SQLite reads
-- a row from its beginning, and no further than it must.
CREATE TABLE tornado_sessions (
    id         TEXT      NOT NULL PRIMARY KEY,
    org        TEXT      NOT NULL,
    pathway_id TEXT      NOT NULL,
    persona_id TEXT      NOT NULL, -- empty: none
    iterations INTEGER   NOT NULL, -- at most
    confirm    INTEGER   NOT NULL,
    patience   INTEGER   NOT NULL,
    max_tokens INTEGER   NOT NULL,
    max_cost   INTEGER   NOT NULL, -- in billionths
    timeout_ns INTEGER   NOT NULL,
    deadline   TIMESTAMP NOT NULL,
    state      TEXT      NOT NULL,
    node       TEXT      NOT NULL,
    cancel     BOOLEAN   NOT NULL,
    created_at TIMESTAMP NOT NULL,
    ended_at   TIMESTAMP,
    version    INTEGER   NOT NULL,
    request    TEXT      NOT NULL, -- sealed
    progress   TEXT      NOT NULL  -- sealed
);
CREATE UNIQUE INDEX tornado_sessions_active ON tornado_sessions (org, pathway_id) WHERE state = 'RUNNING';
CREATE INDEX tornado_sessions_by_creation ON tornado_sessions (org, created_at, id);
CREATE INDEX tornado_sessions_by_pathway ON tornado_sessions (org, pathway_id, created_at, id);
CREATE INDEX tornado_sessions_by_persona ON tornado_sessions (org, persona_id, created_at, id) WHERE persona_id <> '';
CREATE INDEX tornado_sessions_running ON tornado_sessions (org, created_at, id, node, cancel) WHERE state = 'RUNNING';
CREATE INDEX tornado_sessions_by_end ON tornado_sessions (ended_at) WHERE ended_at IS NOT NULL;

CREATE TABLE tornado_steps (
    session_id TEXT      NOT NULL REFERENCES tornado_sessions (id) ON DELETE CASCADE,
    number     INTEGER   NOT NULL,
    org        TEXT      NOT NULL,
    name       TEXT      NOT NULL,
    at         TIMESTAMP NOT NULL,
    answer     TEXT      NOT NULL, -- sealed
    PRIMARY KEY (session_id, number)
);
