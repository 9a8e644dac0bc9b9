CREATE TABLE sip_calls (
    id          TEXT        NOT NULL PRIMARY KEY,
    org         TEXT        NOT NULL,
    trunk_id    TEXT        NOT NULL,
    number      TEXT        NOT NULL,
    parent_id   TEXT        NOT NULL,
    direction   TEXT        NOT NULL,
    from_number TEXT        NOT NULL,
    to_number   TEXT        NOT NULL,
    sip_call_id TEXT        NOT NULL,
    attempt     INTEGER     NOT NULL,
    server      TEXT        NOT NULL,
    source      TEXT        NOT NULL,
    node        TEXT        NOT NULL,
    started_at  TIMESTAMP   NOT NULL,
    answered_at TIMESTAMP,
    ended_at    TIMESTAMP,
    sip_code    INTEGER     NOT NULL,
    status      TEXT        NOT NULL,
    cause       TEXT        NOT NULL,
    reason      TEXT        NOT NULL,
    technical   BOOLEAN     NOT NULL
);
CREATE INDEX sip_calls_by_number ON sip_calls (org, number, started_at, id);
-- Failures are counted from the index alone.
CREATE INDEX sip_calls_by_end ON sip_calls (trunk_id, ended_at, org, technical) WHERE ended_at IS NOT NULL;
CREATE INDEX sip_calls_ended ON sip_calls (started_at) WHERE ended_at IS NOT NULL;
CREATE INDEX sip_calls_running ON sip_calls (started_at, id) WHERE ended_at IS NULL;

-- The ladders are kept apart from the records, so that a page of the log reads none of them.
CREATE TABLE sip_ladders (
    call_id TEXT  NOT NULL PRIMARY KEY REFERENCES sip_calls (id) ON DELETE CASCADE,
    events  TEXT  NOT NULL
);

CREATE TABLE sip_nodes (
    node    TEXT        NOT NULL PRIMARY KEY,
    seen_at TIMESTAMP   NOT NULL
);
CREATE INDEX sip_nodes_by_time ON sip_nodes (seen_at);

CREATE TABLE sip_discoveries (
    id           TEXT        NOT NULL PRIMARY KEY,
    org          TEXT        NOT NULL,
    host         TEXT        NOT NULL,
    port         INTEGER     NOT NULL,
    transport    TEXT        NOT NULL,
    status       TEXT        NOT NULL,
    reason       TEXT        NOT NULL,
    findings     TEXT        NOT NULL,
    started_at   TIMESTAMP   NOT NULL,
    completed_at TIMESTAMP,
    version      INTEGER     NOT NULL
);
CREATE INDEX sip_discoveries_running ON sip_discoveries (org, started_at) WHERE status = 'running';
CREATE INDEX sip_discoveries_by_host ON sip_discoveries (org, host, port, transport, completed_at)
    WHERE status = 'completed';
CREATE INDEX sip_discoveries_by_time ON sip_discoveries (started_at);

CREATE TABLE sip_test_calls (
    id          TEXT        NOT NULL PRIMARY KEY,
    org         TEXT        NOT NULL,
    number      TEXT        NOT NULL,
    status      TEXT        NOT NULL,
    result      TEXT        NOT NULL,
    timeline    TEXT        NOT NULL,
    started_at  TIMESTAMP   NOT NULL,
    answered_at TIMESTAMP,
    ended_at    TIMESTAMP,
    version     INTEGER     NOT NULL
);
CREATE INDEX sip_test_calls_by_org ON sip_test_calls (org, started_at);
CREATE INDEX sip_test_calls_running ON sip_test_calls (started_at) WHERE ended_at IS NULL;
CREATE INDEX sip_test_calls_ended ON sip_test_calls (started_at) WHERE ended_at IS NOT NULL;
