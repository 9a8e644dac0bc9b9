-- The health of a server is that of an organization's trunks that name it, with certificates verified in one way: server_key is that of
-- sip.ServerKey. It was with each trunk's status before; of several the one checked last counts.
CREATE TABLE trunk_servers (
    org         TEXT        NOT NULL,
    server_key  TEXT        NOT NULL,
    probe_at    TIMESTAMP   NOT NULL,
    lease_until TIMESTAMP,
    version     INTEGER     NOT NULL,
    document    TEXT        NOT NULL,
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

CREATE TABLE former_servers AS
SELECT s.org, s.trunk_id, s.probe_at, e.value AS one,
    COALESCE(json_extract(s.document, '$.verify'), '') AS verify,
    lower(json_extract(e.value, '$.server.host')) AS host, json_extract(e.value, '$.server.port') AS port,
    CASE WHEN e.key = COALESCE(json_extract(s.document, '$.active'), 0) THEN json_extract(s.document, '$.history.samples_ns') END AS samples
FROM trunk_statuses s, json_each(s.document, '$.servers') e
WHERE e.type = 'object';
ALTER TABLE former_servers ADD COLUMN server_key TEXT;
UPDATE former_servers SET server_key = verify || ' ' || CASE
    WHEN COALESCE(port, 0) = 0 THEN host
    WHEN host LIKE '%:%' THEN '[' || host || ']:' || port
    ELSE host || ':' || port END;
INSERT INTO trunk_server_names SELECT DISTINCT org, server_key, trunk_id FROM former_servers;
INSERT INTO trunk_servers (org, server_key, probe_at, version, document)
SELECT org, server_key, probe_at, 1, json_object('verify', verify, 'server', json(json_extract(one, '$.server')),
    'health', json(json_extract(one, '$.health')), 'samples_ns', json(COALESCE(samples, '[]')))
FROM (SELECT *, row_number() OVER (
    PARTITION BY org, server_key ORDER BY json_extract(one, '$.health.checked_at') DESC, trunk_id) AS place FROM former_servers)
WHERE place = 1;
DROP TABLE former_servers;
