-- Searches for versions that pass their tests, and their journals. What models have written is sealed, and comes last: SQLite reads
-- a row from its beginning, and no further than it must.
CREATE TABLE tornado_sessions (
    id         TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    org        TEXT COLLATE "C" NOT NULL,
    pathway_id TEXT COLLATE "C" NOT NULL,
    persona_id TEXT COLLATE "C" NOT NULL, -- empty: none
    iterations INTEGER          NOT NULL, -- at most
    confirm    INTEGER          NOT NULL,
    patience   INTEGER          NOT NULL,
    max_tokens BIGINT           NOT NULL,
    max_cost   BIGINT           NOT NULL, -- in billionths
    timeout_ns BIGINT           NOT NULL,
    deadline   TIMESTAMPTZ      NOT NULL,
    state      TEXT COLLATE "C" NOT NULL,
    node       TEXT COLLATE "C" NOT NULL,
    cancel     BOOLEAN          NOT NULL,
    created_at TIMESTAMPTZ      NOT NULL,
    ended_at   TIMESTAMPTZ,
    version    BIGINT           NOT NULL,
    request    TEXT             NOT NULL, -- sealed
    progress   TEXT             NOT NULL  -- sealed
);
CREATE UNIQUE INDEX tornado_sessions_active ON tornado_sessions (org, pathway_id) WHERE state = 'RUNNING';
CREATE INDEX tornado_sessions_by_creation ON tornado_sessions (org, created_at, id);
CREATE INDEX tornado_sessions_by_pathway ON tornado_sessions (org, pathway_id, created_at, id);
CREATE INDEX tornado_sessions_by_persona ON tornado_sessions (org, persona_id, created_at, id) WHERE persona_id <> '';
CREATE INDEX tornado_sessions_running ON tornado_sessions (org, created_at, id, node, cancel) WHERE state = 'RUNNING';
CREATE INDEX tornado_sessions_by_end ON tornado_sessions (ended_at) WHERE ended_at IS NOT NULL;

CREATE TABLE tornado_steps (
    session_id TEXT COLLATE "C" NOT NULL REFERENCES tornado_sessions (id) ON DELETE CASCADE,
    number     INTEGER          NOT NULL,
    org        TEXT COLLATE "C" NOT NULL,
    name       TEXT             NOT NULL,
    at         TIMESTAMPTZ      NOT NULL,
    answer     TEXT             NOT NULL, -- sealed
    PRIMARY KEY (session_id, number)
);
