-- Documents of port requests, and their bytes. A blob without a hash belongs to an upload that has not ended.
CREATE TABLE port_documents (
    id         TEXT      NOT NULL PRIMARY KEY,
    org        TEXT      NOT NULL,
    type       TEXT      NOT NULL,
    size       INTEGER   NOT NULL,
    sha256     TEXT      NOT NULL,
    locked     BOOLEAN   NOT NULL,
    active     BOOLEAN   NOT NULL,
    used       BOOLEAN   NOT NULL, -- whether it has rows in port_document_uses
    created_at TIMESTAMP NOT NULL
);
CREATE INDEX port_documents_unused ON port_documents (org) WHERE NOT used;
CREATE INDEX port_documents_unused_by_creation ON port_documents (created_at) WHERE NOT used;
CREATE INDEX port_documents_by_hash ON port_documents (sha256);

CREATE TABLE port_document_uses (
    document_id TEXT NOT NULL REFERENCES port_documents (id) ON DELETE CASCADE,
    request_id  TEXT NOT NULL,
    PRIMARY KEY (document_id, request_id)
);

CREATE TABLE port_blobs (
    id     TEXT      NOT NULL PRIMARY KEY,
    sha256 TEXT, -- NULL: its upload has not ended
    size   INTEGER   NOT NULL,
    chunks INTEGER   NOT NULL,
    at     TIMESTAMP NOT NULL -- of the last put or touch
);
CREATE UNIQUE INDEX port_blobs_by_hash ON port_blobs (sha256);
CREATE INDEX port_blobs_by_time ON port_blobs (at, id);

CREATE TABLE port_blob_chunks (
    blob_id TEXT    NOT NULL REFERENCES port_blobs (id) ON DELETE CASCADE,
    number  INTEGER NOT NULL, -- from 0
    bytes   TEXT    NOT NULL, -- sealed
    PRIMARY KEY (blob_id, number)
);
