-- Messages to webhooks whose first attempt has failed.
CREATE TABLE deliveries (
    org      TEXT COLLATE "C" NOT NULL,
    id       TEXT COLLATE "C" NOT NULL, -- kind and id of the message
    kind     TEXT NOT NULL,
    subject  TEXT NOT NULL,
    host     TEXT NOT NULL,
    state    TEXT COLLATE "C" NOT NULL,
    attempts INTEGER NOT NULL,
    failure  TEXT NOT NULL,
    since    TIMESTAMPTZ NOT NULL,
    last_at  TIMESTAMPTZ NOT NULL,
    next_at  TIMESTAMPTZ,
    PRIMARY KEY (org, id)
);
CREATE INDEX deliveries_by_org ON deliveries (org, since, id);
CREATE INDEX deliveries_by_state ON deliveries (org, state, since, id);
