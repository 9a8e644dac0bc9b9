-- Letters of authorization, their PDFs and their audit trails. What must be secret is sealed, and comes last: SQLite reads a row from
-- its beginning, and no further than it must.
CREATE TABLE port_letters (
    request_id    TEXT      NOT NULL PRIMARY KEY,
    org           TEXT      NOT NULL,
    state         TEXT      NOT NULL,
    version       INTEGER   NOT NULL, -- counts changes
    link_hash     TEXT      NOT NULL, -- SHA-256 of the token of the link that works
    due_at        TIMESTAMP,
    link          INTEGER   NOT NULL,
    reminders     INTEGER   NOT NULL,
    sha256        TEXT      NOT NULL,
    signed_sha256 TEXT      NOT NULL, -- empty: not signed
    sign_by       TIMESTAMP,
    created_at    TIMESTAMP NOT NULL,
    ended_at      TIMESTAMP,
    events        INTEGER   NOT NULL,
    head          TEXT      NOT NULL,
    document      TEXT      NOT NULL  -- sealed
);
CREATE UNIQUE INDEX port_letters_by_link ON port_letters (link_hash);
CREATE INDEX port_letters_due ON port_letters (due_at, request_id, org) WHERE due_at IS NOT NULL;

CREATE TABLE port_letter_pdfs (
    request_id TEXT      NOT NULL REFERENCES port_letters (request_id) ON DELETE CASCADE,
    signed     BOOLEAN   NOT NULL,
    org        TEXT      NOT NULL,
    pdf        TEXT      NOT NULL, -- sealed
    PRIMARY KEY (request_id, signed)
);

CREATE TABLE port_letter_events (
    request_id TEXT      NOT NULL REFERENCES port_letters (request_id) ON DELETE CASCADE,
    number     INTEGER   NOT NULL,
    org        TEXT      NOT NULL,
    at         TIMESTAMP NOT NULL,
    kind       TEXT      NOT NULL,
    document   TEXT      NOT NULL, -- sealed
    PRIMARY KEY (request_id, number)
);
