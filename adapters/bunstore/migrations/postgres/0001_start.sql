CREATE TABLE organizations (
    id             TEXT        NOT NULL PRIMARY KEY,
    name           TEXT        NOT NULL,
    entitlements   JSONB       NOT NULL,
    webhook_secret TEXT        NOT NULL, -- sealed
    created_at     TIMESTAMPTZ NOT NULL
);

CREATE TABLE api_keys (
    id         TEXT        NOT NULL PRIMARY KEY,
    org        TEXT        NOT NULL,
    name       TEXT        NOT NULL,
    prefix     TEXT        NOT NULL UNIQUE,
    hash       BYTEA       NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    expires_at TIMESTAMPTZ,
    revoked_at TIMESTAMPTZ
);

CREATE TABLE answers (
    org     TEXT        NOT NULL,
    key     TEXT        NOT NULL,
    digest  BYTEA       NOT NULL,
    answer  BYTEA       NOT NULL,
    kept_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (org, key)
);
CREATE INDEX answers_by_age ON answers (org, kept_at);

CREATE TABLE trunks (
    id            TEXT        NOT NULL PRIMARY KEY,
    org           TEXT        NOT NULL,
    number        TEXT        NOT NULL,
    direction     TEXT        NOT NULL,
    endpoint      TEXT        NOT NULL,
    options       JSONB       NOT NULL,
    call_password TEXT        NOT NULL, -- sealed
    created_at    TIMESTAMPTZ NOT NULL,
    updated_at    TIMESTAMPTZ NOT NULL,
    version       BIGINT      NOT NULL
);
CREATE UNIQUE INDEX trunks_by_number ON trunks (number, direction);
CREATE INDEX trunks_by_org ON trunks (org, direction, number);

CREATE TABLE inbound_numbers (
    org        TEXT        NOT NULL,
    number     TEXT        NOT NULL,
    agent      JSONB       NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL,
    version    BIGINT      NOT NULL,
    PRIMARY KEY (org, number)
);

CREATE TABLE calls (
    id             TEXT        NOT NULL PRIMARY KEY,
    org            TEXT        NOT NULL,
    inbound        BOOLEAN     NOT NULL,
    from_number    TEXT        NOT NULL,
    to_number      TEXT        NOT NULL,
    agent          JSONB       NOT NULL,
    request_data   JSONB,
    metadata       JSONB,
    queue          TEXT        NOT NULL,
    ended          BOOLEAN     NOT NULL,
    status         TEXT        NOT NULL,
    created_at     TIMESTAMPTZ NOT NULL,
    started_at     TIMESTAMPTZ,
    ended_at       TIMESTAMPTZ,
    ending         JSONB,
    error_message  TEXT        NOT NULL,
    answered_by    TEXT        NOT NULL,
    transferred_to TEXT        NOT NULL,
    transferred_at TIMESTAMPTZ,
    model_used     TEXT        NOT NULL,
    carriage       JSONB       NOT NULL,
    stats          JSONB       NOT NULL,
    recorded       BOOLEAN     NOT NULL,
    node           TEXT        NOT NULL,
    heartbeat      TIMESTAMPTZ NOT NULL,
    stop_requested BOOLEAN     NOT NULL,
    version        BIGINT      NOT NULL
);
CREATE INDEX calls_by_time ON calls (org, created_at, id);
CREATE INDEX calls_by_caller ON calls (org, from_number, created_at, id);
CREATE INDEX calls_by_callee ON calls (org, to_number, created_at, id);
-- Heartbeat is in no index, so that a beat changes none.
CREATE INDEX calls_live ON calls (node) WHERE queue IN ('allocated', 'started');

CREATE TABLE transcript_entries (
    call_id     TEXT        NOT NULL REFERENCES calls (id) ON DELETE CASCADE,
    seq         BIGINT      NOT NULL,
    speaker     TEXT        NOT NULL,
    text        TEXT        NOT NULL,
    start_ns    BIGINT      NOT NULL,
    end_ns      BIGINT      NOT NULL,
    interrupted BOOLEAN     NOT NULL,
    latency     JSONB       NOT NULL,
    created_at  TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (call_id, seq)
);
