CREATE TABLE leases (
    kind       TEXT        NOT NULL,
    key        TEXT        NOT NULL,
    node       TEXT        NOT NULL,
    fence      BIGINT      NOT NULL,
    renewed_at TIMESTAMPTZ NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (kind, key)
);
CREATE INDEX leases_by_node ON leases (kind, node);
CREATE INDEX leases_by_time ON leases (kind, expires_at, key);

-- Nodes hold leases now.
DROP TABLE sip_nodes;
DROP INDEX trunk_registrations_by_lease;
ALTER TABLE trunk_registrations DROP COLUMN lease_until;

-- Lists come in pages.
CREATE INDEX trunks_by_org_number ON trunks (org, number, direction);
DROP INDEX trunk_statuses_by_org;
