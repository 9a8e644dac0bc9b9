-- Sign-ins with API keys. The token of a session is not stored.
CREATE TABLE sessions (
    id         TEXT NOT NULL PRIMARY KEY,
    org        TEXT NOT NULL,
    key_id     TEXT NOT NULL,
    hash       BLOB NOT NULL, -- HMAC-SHA256 of the token
    created_at TIMESTAMP NOT NULL,
    used_at    TIMESTAMP NOT NULL
);
CREATE UNIQUE INDEX sessions_by_hash ON sessions (hash);
CREATE INDEX sessions_by_org ON sessions (org, created_at, id);
CREATE INDEX sessions_by_key_and_use ON sessions (key_id, used_at, id);
CREATE INDEX sessions_by_use ON sessions (used_at);
