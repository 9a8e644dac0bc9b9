-- Letters of authorization, their PDFs and their audit trails. What must be secret is sealed, and comes last: SQLite reads a row from
-- its beginning, and no further than it must.
CREATE TABLE port_letters (
    request_id    TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    org           TEXT COLLATE "C" NOT NULL,
    state         TEXT COLLATE "C" NOT NULL,
    version       BIGINT           NOT NULL, -- counts changes
    link_hash     TEXT COLLATE "C" NOT NULL, -- SHA-256 of the token of the link that works
    due_at        TIMESTAMPTZ,
    link          INTEGER          NOT NULL,
    reminders     INTEGER          NOT NULL,
    sha256        TEXT             NOT NULL,
    signed_sha256 TEXT             NOT NULL, -- empty: not signed
    sign_by       TIMESTAMPTZ,
    created_at    TIMESTAMPTZ      NOT NULL,
    ended_at      TIMESTAMPTZ,
    events        INTEGER          NOT NULL,
    head          TEXT             NOT NULL,
    document      TEXT             NOT NULL  -- sealed
);
CREATE UNIQUE INDEX port_letters_by_link ON port_letters (link_hash);
CREATE INDEX port_letters_due ON port_letters (due_at, request_id, org) WHERE due_at IS NOT NULL;

CREATE TABLE port_letter_pdfs (
    request_id TEXT COLLATE "C" NOT NULL REFERENCES port_letters (request_id) ON DELETE CASCADE,
    signed     BOOLEAN          NOT NULL,
    org        TEXT COLLATE "C" NOT NULL,
    pdf        TEXT             NOT NULL, -- sealed
    PRIMARY KEY (request_id, signed)
);

CREATE TABLE port_letter_events (
    request_id TEXT COLLATE "C" NOT NULL REFERENCES port_letters (request_id) ON DELETE CASCADE,
    number     INTEGER          NOT NULL,
    org        TEXT COLLATE "C" NOT NULL,
    at         TIMESTAMPTZ      NOT NULL,
    kind       TEXT             NOT NULL,
    document   TEXT             NOT NULL, -- sealed
    PRIMARY KEY (request_id, number)
);
