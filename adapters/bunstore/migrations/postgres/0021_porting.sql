-- Port requests, the numbers of those that have not ended, and their histories. What must be secret is sealed, and comes last: SQLite
-- reads a row from its beginning, and no further than it must.
CREATE TABLE port_requests (
    id               TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    org              TEXT COLLATE "C" NOT NULL,
    state            TEXT COLLATE "C" NOT NULL,
    version          BIGINT           NOT NULL, -- counts changes
    created_at       TIMESTAMPTZ      NOT NULL,
    due_at           TIMESTAMPTZ,
    gateway          TEXT COLLATE "C" NOT NULL,
    ref              TEXT COLLATE "C" NOT NULL, -- empty: the gateway has given none
    sending          BOOLEAN          NOT NULL,
    snapshot_version BIGINT           NOT NULL,
    misses           INTEGER          NOT NULL,
    undelivered      BOOLEAN          NOT NULL,
    cancel_sent      BOOLEAN          NOT NULL,
    cancel_asked_by  TEXT COLLATE "C" NOT NULL,
    entries          INTEGER          NOT NULL,
    target_date      TIMESTAMPTZ,
    signed_at        TIMESTAMPTZ,
    sign_by          TIMESTAMPTZ,
    held_since       TIMESTAMPTZ,
    cancel_asked_at  TIMESTAMPTZ,
    updated_at       TIMESTAMPTZ      NOT NULL,
    ended_at         TIMESTAMPTZ,
    document         TEXT             NOT NULL  -- sealed
);
CREATE INDEX port_requests_by_creation ON port_requests (org, created_at, id);
CREATE INDEX port_requests_by_state ON port_requests (org, state, created_at, id);
CREATE UNIQUE INDEX port_requests_by_ref ON port_requests (gateway, ref) WHERE ref <> '';
CREATE INDEX port_requests_due ON port_requests (due_at, id, org) WHERE due_at IS NOT NULL;

-- The key is the guard: a number is in one open request at most, of all organizations. The rows go when the request ends.
CREATE TABLE port_open_numbers (
    number     TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    request_id TEXT COLLATE "C" NOT NULL REFERENCES port_requests (id) ON DELETE CASCADE
);
CREATE INDEX port_open_numbers_by_request ON port_open_numbers (request_id);

CREATE TABLE port_history (
    request_id TEXT COLLATE "C" NOT NULL REFERENCES port_requests (id) ON DELETE CASCADE,
    number     INTEGER          NOT NULL,
    org        TEXT COLLATE "C" NOT NULL,
    at         TIMESTAMPTZ      NOT NULL,
    from_state TEXT COLLATE "C" NOT NULL, -- empty: the request was made
    to_state   TEXT COLLATE "C" NOT NULL,
    event      TEXT COLLATE "C" NOT NULL,
    detail     TEXT COLLATE "C" NOT NULL,
    actor      TEXT COLLATE "C" NOT NULL,
    note       TEXT             NOT NULL, -- sealed; empty: none
    PRIMARY KEY (request_id, number)
);
