-- What an agent asks of other systems may hold their keys: agent_requests is sealed.
ALTER TABLE inbound_numbers ADD COLUMN pathway_id TEXT NOT NULL DEFAULT '';
ALTER TABLE inbound_numbers ADD COLUMN pathway_environment TEXT NOT NULL DEFAULT '';
ALTER TABLE inbound_numbers ADD COLUMN pathway_version INTEGER NOT NULL DEFAULT 0;
ALTER TABLE inbound_numbers ADD COLUMN start_node TEXT NOT NULL DEFAULT '';
ALTER TABLE inbound_numbers ADD COLUMN agent_requests TEXT NOT NULL DEFAULT '';

ALTER TABLE calls ADD COLUMN pathway_id TEXT NOT NULL DEFAULT '';
ALTER TABLE calls ADD COLUMN pathway_environment TEXT NOT NULL DEFAULT '';
ALTER TABLE calls ADD COLUMN pathway_version INTEGER NOT NULL DEFAULT 0;
ALTER TABLE calls ADD COLUMN start_node TEXT NOT NULL DEFAULT '';
ALTER TABLE calls ADD COLUMN agent_requests TEXT NOT NULL DEFAULT '';
ALTER TABLE calls ADD COLUMN plan JSONB NOT NULL DEFAULT '{}';
ALTER TABLE calls ADD COLUMN variables JSONB;
ALTER TABLE calls ADD COLUMN start_at TIMESTAMPTZ;
ALTER TABLE calls ADD COLUMN length_ns BIGINT;
ALTER TABLE calls ADD COLUMN pathway_number INTEGER;
ALTER TABLE calls ADD COLUMN retry_of TEXT NOT NULL DEFAULT '';
ALTER TABLE calls ADD COLUMN retried_by TEXT NOT NULL DEFAULT '';
ALTER TABLE calls ADD COLUMN analysis JSONB NOT NULL DEFAULT '{}';
UPDATE calls SET length_ns = COALESCE(CAST(EXTRACT(EPOCH FROM ended_at - started_at) * 1000000 AS BIGINT) * 1000, 0)
    WHERE ended;

-- Calls are counted, and those of a page chosen, by one of these indexes alone. What calls_by_pathway holds never changes.
DROP INDEX calls_by_time;
CREATE INDEX calls_by_time ON calls (org, created_at, id, ended, inbound, status, answered_by, length_ns);
CREATE INDEX calls_by_pathway ON calls (org, pathway_id, created_at, id);

CREATE TABLE call_logs (
    call_id TEXT    NOT NULL REFERENCES calls (id) ON DELETE CASCADE,
    turn    INTEGER NOT NULL,
    log     TEXT    NOT NULL, -- JSON, which JSONB would not keep as it is
    PRIMARY KEY (call_id, turn)
);

CREATE TABLE call_notices (
    call_id    TEXT        NOT NULL REFERENCES calls (id) ON DELETE CASCADE,
    seq        INTEGER     NOT NULL,
    category   TEXT        NOT NULL,
    level      TEXT        NOT NULL,
    message    TEXT        NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (call_id, seq)
);

CREATE TABLE web_agents (
    id                  TEXT        NOT NULL PRIMARY KEY,
    org                 TEXT        NOT NULL,
    agent               JSONB       NOT NULL,
    pathway_id          TEXT        NOT NULL,
    pathway_environment TEXT        NOT NULL,
    pathway_version     INTEGER     NOT NULL,
    start_node          TEXT        NOT NULL,
    agent_requests      TEXT        NOT NULL, -- sealed
    voice_settings      TEXT, -- JSON
    keywords            JSONB,
    metadata            JSONB,
    created_at          TIMESTAMPTZ NOT NULL,
    updated_at          TIMESTAMPTZ NOT NULL,
    version             BIGINT      NOT NULL
);
CREATE INDEX web_agents_by_time ON web_agents (org, created_at, id);

CREATE TABLE pathways (
    id          TEXT        NOT NULL PRIMARY KEY,
    org         TEXT        NOT NULL,
    name        TEXT        NOT NULL,
    description TEXT        NOT NULL,
    draft       TEXT        NOT NULL, -- sealed, as headers of its requests may hold keys
    latest      INTEGER     NOT NULL,
    production  INTEGER     NOT NULL,
    staging     INTEGER     NOT NULL,
    promotion   JSONB,
    created_at  TIMESTAMPTZ NOT NULL,
    updated_at  TIMESTAMPTZ NOT NULL,
    version     BIGINT      NOT NULL  -- of this row, not of the pathway
);
CREATE INDEX pathways_by_time ON pathways (org, created_at, id);

CREATE TABLE pathway_versions (
    pathway_id TEXT        NOT NULL REFERENCES pathways (id) ON DELETE CASCADE,
    number     INTEGER     NOT NULL,
    id         TEXT        NOT NULL,
    org        TEXT        NOT NULL,
    name       TEXT        NOT NULL,
    document   TEXT        NOT NULL, -- sealed
    hash       TEXT        NOT NULL,
    parent     INTEGER     NOT NULL,
    archived   BOOLEAN     NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (pathway_id, number)
);

CREATE TABLE pathway_chats (
    id         TEXT        NOT NULL PRIMARY KEY,
    org        TEXT        NOT NULL,
    pathway_id TEXT        NOT NULL REFERENCES pathways (id) ON DELETE CASCADE,
    number     INTEGER     NOT NULL,
    hash       TEXT        NOT NULL,
    state      TEXT        NOT NULL, -- JSON
    messages   INTEGER     NOT NULL,
    busy_until TIMESTAMPTZ NOT NULL,
    completed  BOOLEAN     NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL,
    version    BIGINT      NOT NULL
);
CREATE INDEX pathway_chats_by_pathway ON pathway_chats (pathway_id);
CREATE INDEX pathway_chats_by_time ON pathway_chats (updated_at);
-- With completed, which says nothing here, SQLite counts by it alone.
CREATE INDEX pathway_chats_open ON pathway_chats (org, completed) WHERE NOT completed;
