CREATE TABLE organizations (
    id             TEXT        NOT NULL PRIMARY KEY,
    name           TEXT        NOT NULL,
    entitlements   TEXT        NOT NULL,
    webhook_secret TEXT        NOT NULL, -- sealed
    created_at     TIMESTAMP   NOT NULL
);

CREATE TABLE api_keys (
    id         TEXT        NOT NULL PRIMARY KEY,
    org        TEXT        NOT NULL,
    name       TEXT        NOT NULL,
    prefix     TEXT        NOT NULL UNIQUE,
    hash       BLOB        NOT NULL,
    created_at TIMESTAMP   NOT NULL,
    expires_at TIMESTAMP,
    revoked_at TIMESTAMP
);

CREATE TABLE answers (
    org     TEXT        NOT NULL,
    key     TEXT        NOT NULL,
    digest  BLOB        NOT NULL,
    answer  BLOB        NOT NULL,
    kept_at TIMESTAMP   NOT NULL,
    PRIMARY KEY (org, key)
);
CREATE INDEX answers_by_age ON answers (org, kept_at);

CREATE TABLE trunks (
    id            TEXT        NOT NULL PRIMARY KEY,
    org           TEXT        NOT NULL,
    number        TEXT        NOT NULL,
    direction     TEXT        NOT NULL,
    endpoint      TEXT        NOT NULL,
    options       TEXT        NOT NULL,
    call_password TEXT        NOT NULL, -- sealed
    created_at    TIMESTAMP   NOT NULL,
    updated_at    TIMESTAMP   NOT NULL,
    version       INTEGER     NOT NULL
);
CREATE UNIQUE INDEX trunks_by_number ON trunks (number, direction);
CREATE INDEX trunks_by_org ON trunks (org, direction, number);

CREATE TABLE inbound_numbers (
    org        TEXT        NOT NULL,
    number     TEXT        NOT NULL,
    agent      TEXT        NOT NULL,
    created_at TIMESTAMP   NOT NULL,
    updated_at TIMESTAMP   NOT NULL,
    version    INTEGER     NOT NULL,
    PRIMARY KEY (org, number)
);

CREATE TABLE calls (
    id             TEXT        NOT NULL PRIMARY KEY,
    org            TEXT        NOT NULL,
    inbound        BOOLEAN     NOT NULL,
    from_number    TEXT        NOT NULL,
    to_number      TEXT        NOT NULL,
    agent          TEXT        NOT NULL,
    request_data   TEXT,
    metadata       TEXT,
    queue          TEXT        NOT NULL,
    ended          BOOLEAN     NOT NULL,
    status         TEXT        NOT NULL,
    created_at     TIMESTAMP   NOT NULL,
    started_at     TIMESTAMP,
    ended_at       TIMESTAMP,
    ending         TEXT,
    error_message  TEXT        NOT NULL,
    answered_by    TEXT        NOT NULL,
    transferred_to TEXT        NOT NULL,
    transferred_at TIMESTAMP,
    model_used     TEXT        NOT NULL,
    carriage       TEXT        NOT NULL,
    stats          TEXT        NOT NULL,
    recorded       BOOLEAN     NOT NULL,
    node           TEXT        NOT NULL,
    heartbeat      TIMESTAMP   NOT NULL,
    stop_requested BOOLEAN     NOT NULL,
    version        INTEGER     NOT NULL
);
CREATE INDEX calls_by_time ON calls (org, created_at, id);
CREATE INDEX calls_by_caller ON calls (org, from_number, created_at, id);
CREATE INDEX calls_by_callee ON calls (org, to_number, created_at, id);
-- Heartbeat is in no index, so that a beat changes none.
CREATE INDEX calls_live ON calls (node) WHERE queue IN ('allocated', 'started');

CREATE TABLE transcript_entries (
    call_id     TEXT        NOT NULL REFERENCES calls (id) ON DELETE CASCADE,
    seq         INTEGER     NOT NULL,
    speaker     TEXT        NOT NULL,
    text        TEXT        NOT NULL,
    start_ns    INTEGER     NOT NULL,
    end_ns      INTEGER     NOT NULL,
    interrupted BOOLEAN     NOT NULL,
    latency     TEXT        NOT NULL,
    created_at  TIMESTAMP   NOT NULL,
    PRIMARY KEY (call_id, seq)
);
