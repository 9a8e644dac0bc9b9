-- The health of a server is that of an organization's trunks that name it, with certificates verified in one way: server_key is that of
-- sip.ServerKey. It was with each trunk's status before; of several the one checked last counts.
CREATE TABLE trunk_servers (
    org         TEXT        NOT NULL,
    server_key  TEXT        NOT NULL,
    probe_at    TIMESTAMPTZ NOT NULL,
    lease_until TIMESTAMPTZ,
    version     BIGINT      NOT NULL,
    document    JSONB        NOT NULL,
    PRIMARY KEY (org, server_key)
);
CREATE INDEX trunk_servers_due ON trunk_servers (probe_at);

-- Which trunks name a server.
CREATE TABLE trunk_server_names (
    org        TEXT NOT NULL,
    server_key TEXT NOT NULL,
    trunk_id   TEXT NOT NULL,
    PRIMARY KEY (org, server_key, trunk_id)
);
CREATE INDEX trunk_server_names_by_trunk ON trunk_server_names (trunk_id);

-- Trunks with one group tell about their servers once.
ALTER TABLE trunk_statuses ADD COLUMN alert_group TEXT NOT NULL DEFAULT '';
CREATE INDEX trunk_statuses_by_group ON trunk_statuses (org, alert_group, trunk_id);

CREATE TEMPORARY TABLE former_servers ON COMMIT DROP AS
SELECT org, trunk_id, probe_at, one, samples, verify, verify || ' ' || CASE
    WHEN COALESCE(port, 0) = 0 THEN host
    WHEN host LIKE '%:%' THEN '[' || host || ']:' || port
    ELSE host || ':' || port END AS server_key
FROM (
    SELECT s.org, s.trunk_id, s.probe_at, e.value AS one, COALESCE(s.document->>'verify', '') AS verify,
        lower(e.value->'server'->>'host') AS host, (e.value->'server'->>'port')::int AS port,
        CASE WHEN e.n - 1 = COALESCE((s.document->>'active')::int, 0) THEN s.document->'history'->'samples_ns' END AS samples
    FROM trunk_statuses s, jsonb_array_elements(
        CASE jsonb_typeof(s.document->'servers') WHEN 'array' THEN s.document->'servers' ELSE '[]' END) WITH ORDINALITY AS e(value, n)
) AS named;
INSERT INTO trunk_server_names SELECT DISTINCT org, server_key, trunk_id FROM former_servers;
INSERT INTO trunk_servers (org, server_key, probe_at, version, document)
SELECT DISTINCT ON (org, server_key) org, server_key, probe_at, 1, jsonb_build_object('verify', verify, 'server', one->'server',
    'health', one->'health', 'samples_ns', COALESCE(samples, '[]'))
FROM former_servers ORDER BY org, server_key, one->'health'->>'checked_at' DESC NULLS LAST, trunk_id;
