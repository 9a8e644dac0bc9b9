ALTER TABLE trunks ADD COLUMN register_password TEXT NOT NULL DEFAULT ''; -- sealed
ALTER TABLE trunks ADD COLUMN headers TEXT;
ALTER TABLE trunks ADD COLUMN failover TEXT;
ALTER TABLE trunks ADD COLUMN codecs TEXT;
ALTER TABLE trunks ADD COLUMN alerts TEXT;

-- Leases are in no index of statuses, so that taking one changes none.
CREATE TABLE trunk_statuses (
    trunk_id    TEXT        NOT NULL PRIMARY KEY,
    org         TEXT        NOT NULL,
    number      TEXT        NOT NULL,
    probe_at    TIMESTAMP   NOT NULL,
    lease_until TIMESTAMP,
    version     INTEGER     NOT NULL,
    document    TEXT        NOT NULL
);
CREATE INDEX trunk_statuses_due ON trunk_statuses (probe_at);
CREATE INDEX trunk_statuses_by_org ON trunk_statuses (org, number);

CREATE TABLE trunk_registrations (
    trunk_id    TEXT        NOT NULL PRIMARY KEY,
    org         TEXT        NOT NULL,
    number      TEXT        NOT NULL,
    state       TEXT        NOT NULL,
    since       TIMESTAMP   NOT NULL,
    expires_at  TIMESTAMP,
    failures    INTEGER     NOT NULL,
    reason      TEXT        NOT NULL,
    next_at     TIMESTAMP   NOT NULL,
    node        TEXT        NOT NULL,
    lease_until TIMESTAMP,
    version     INTEGER     NOT NULL
);
CREATE INDEX trunk_registrations_by_node ON trunk_registrations (node, next_at);
CREATE INDEX trunk_registrations_by_lease ON trunk_registrations (lease_until);
