-- Messages to webhooks whose first attempt has failed.
CREATE TABLE deliveries (
    org      TEXT NOT NULL,
    id       TEXT NOT NULL, -- kind and id of the message
    kind     TEXT NOT NULL,
    subject  TEXT NOT NULL,
    host     TEXT NOT NULL,
    state    TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    failure  TEXT NOT NULL,
    since    TIMESTAMP NOT NULL,
    last_at  TIMESTAMP NOT NULL,
    next_at  TIMESTAMP,
    PRIMARY KEY (org, id)
);
CREATE INDEX deliveries_by_org ON deliveries (org, since, id);
CREATE INDEX deliveries_by_state ON deliveries (org, state, since, id);
