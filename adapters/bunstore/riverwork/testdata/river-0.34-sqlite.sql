-- What River 0.34.0 leaves in a SQLite database: its tables, one task that is done, and five that are not.
CREATE TABLE river_queue (
    name text PRIMARY KEY NOT NULL,
    created_at timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP,
    metadata blob NOT NULL DEFAULT (json('{}')),
    paused_at timestamp,
    updated_at timestamp NOT NULL
);
CREATE TABLE river_leader (
    elected_at timestamp NOT NULL,
    expires_at timestamp NOT NULL,
    leader_id text NOT NULL,
    name text PRIMARY KEY NOT NULL DEFAULT 'default' CHECK (name = 'default'),
    CONSTRAINT name_length CHECK (length(name) > 0 AND length(name) < 128),
    CONSTRAINT leader_id_length CHECK (length(leader_id) > 0 AND length(leader_id) < 128)
);
CREATE TABLE river_migration (
    line text NOT NULL,
    version integer NOT NULL,
    created_at timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT line_length CHECK (length(line) > 0 AND length(line) < 128),
    CONSTRAINT version_gte_1 CHECK (version >= 1),
    PRIMARY KEY (line, version)
);
CREATE TABLE river_client (
    id text PRIMARY KEY NOT NULL,
    created_at timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP,
    metadata blob NOT NULL DEFAULT (json('{}')),
    paused_at timestamp,
    updated_at timestamp NOT NULL,
    CONSTRAINT name_length CHECK (length(id) > 0 AND length(id) < 128)
);
CREATE TABLE river_client_queue (
    river_client_id text NOT NULL REFERENCES river_client (id) ON DELETE CASCADE,
    name text NOT NULL,
    created_at timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP,
    max_workers integer NOT NULL DEFAULT 0,
    metadata blob NOT NULL DEFAULT (json('{}')),
    num_jobs_completed integer NOT NULL DEFAULT 0,
    num_jobs_running integer NOT NULL DEFAULT 0,
    updated_at timestamp NOT NULL,
    PRIMARY KEY (river_client_id, name),
    CONSTRAINT name_length CHECK (length(name) > 0 AND length(name) < 128),
    CONSTRAINT num_jobs_completed_zero_or_positive CHECK (num_jobs_completed >= 0),
    CONSTRAINT num_jobs_running_zero_or_positive CHECK (num_jobs_running >= 0)
);
CREATE TABLE river_job (
    id integer PRIMARY KEY,
    args blob NOT NULL DEFAULT '{}',
    attempt integer NOT NULL DEFAULT 0,
    attempted_at timestamp,
    attempted_by blob,
    created_at timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP,
    errors blob,
    finalized_at timestamp,
    kind text NOT NULL,
    max_attempts integer NOT NULL,
    metadata blob NOT NULL DEFAULT (json('{}')),
    priority integer NOT NULL DEFAULT 1,
    queue text NOT NULL DEFAULT 'default',
    state text NOT NULL DEFAULT 'available',
    scheduled_at timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP,
    tags blob NOT NULL DEFAULT (json('[]')),
    unique_key blob,
    unique_states integer,
    CONSTRAINT finalized_or_finalized_at_null CHECK (
        (finalized_at IS NULL AND state NOT IN ('cancelled', 'completed', 'discarded')) OR
        (finalized_at IS NOT NULL AND state IN ('cancelled', 'completed', 'discarded'))
    ),
    CONSTRAINT priority_in_range CHECK (priority >= 1 AND priority <= 4),
    CONSTRAINT queue_length CHECK (length(queue) > 0 AND length(queue) < 128),
    CONSTRAINT kind_length CHECK (length(kind) > 0 AND length(kind) < 128),
    CONSTRAINT state_valid CHECK (state IN ('available', 'cancelled', 'completed', 'discarded', 'pending', 'retryable', 'running', 'scheduled'))
);
CREATE INDEX river_job_kind ON river_job (kind);
CREATE INDEX river_job_state_and_finalized_at_index ON river_job (state, finalized_at) WHERE finalized_at IS NOT NULL;
CREATE INDEX river_job_prioritized_fetching_index ON river_job (state, queue, priority, scheduled_at, id);
CREATE UNIQUE INDEX river_job_unique_idx ON river_job (unique_key)
    WHERE unique_key IS NOT NULL
        AND unique_states IS NOT NULL
        AND CASE state
            WHEN 'available' THEN unique_states & (1 << 0)
            WHEN 'cancelled' THEN unique_states & (1 << 1)
            WHEN 'completed' THEN unique_states & (1 << 2)
            WHEN 'discarded' THEN unique_states & (1 << 3)
            WHEN 'pending'   THEN unique_states & (1 << 4)
            WHEN 'retryable' THEN unique_states & (1 << 5)
            WHEN 'running'   THEN unique_states & (1 << 6)
            WHEN 'scheduled' THEN unique_states & (1 << 7)
            ELSE 0
        END >= 1;
INSERT INTO river_queue (name, created_at, metadata, paused_at, updated_at) VALUES ('default','2026-01-22 11:26:43.119','{}',NULL,'2026-01-22 11:26:43.119');
INSERT INTO river_leader (elected_at, expires_at, leader_id, name) VALUES ('2026-01-22 11:26:43.119','2026-01-22 11:26:58.119','node_2026_01_22T11_26_43_119140','default');
INSERT INTO river_migration (line, version, created_at) VALUES ('main',1,'2026-01-22 11:26:43');
INSERT INTO river_migration (line, version, created_at) VALUES ('main',2,'2026-01-22 11:26:43');
INSERT INTO river_migration (line, version, created_at) VALUES ('main',3,'2026-01-22 11:26:43');
INSERT INTO river_migration (line, version, created_at) VALUES ('main',4,'2026-01-22 11:26:43');
INSERT INTO river_migration (line, version, created_at) VALUES ('main',5,'2026-01-22 11:26:43');
INSERT INTO river_migration (line, version, created_at) VALUES ('main',6,'2026-01-22 11:26:43');
INSERT INTO river_job (id, args, attempt, attempted_at, attempted_by, created_at, errors, finalized_at, kind, max_attempts, metadata, priority, queue, state, scheduled_at, tags, unique_key, unique_states) VALUES (1,X'7B226B696E64223A22666978747572652E646F6E65222C226F7267223A22222C226B6579223A2231227D',1,'2026-01-22 11:26:43.120','["node_2026_01_22T11_26_43_119140"]','2026-01-22 11:26:43.117',NULL,'2026-01-22 11:26:43.120974814 +0000 UTC m=+0.139026714','callwright.task',25,'{"river:unique_nonce":"bb9ac001aa3d0994"}',1,'default','completed','2026-01-22 11:26:43.117','[]',NULL,NULL);
INSERT INTO river_job (id, args, attempt, attempted_at, attempted_by, created_at, errors, finalized_at, kind, max_attempts, metadata, priority, queue, state, scheduled_at, tags, unique_key, unique_states) VALUES (2,X'7B226B696E64223A22666978747572652E6661696C6564222C226F7267223A226F72672D61222C226B6579223A2232227D',1,'2026-01-22 11:26:43.120','["node_2026_01_22T11_26_43_119140"]','2026-01-22 11:26:43.118','[{"at":"2026-01-22T11:26:43.1210152Z","attempt":1,"error":"not yet","trace":""}]',NULL,'callwright.task',5,'{"river:unique_nonce":"84c122edcce69896"}',1,'default','available','2026-01-22 11:26:44.213655618 +0000 UTC m=+1.231707518','[]',NULL,NULL);
INSERT INTO river_job (id, args, attempt, attempted_at, attempted_by, created_at, errors, finalized_at, kind, max_attempts, metadata, priority, queue, state, scheduled_at, tags, unique_key, unique_states) VALUES (3,X'7B226B696E64223A22666978747572652E72756E6E696E67222C226F7267223A226F72672D61222C226B6579223A2233227D',1,'2026-01-22 11:26:43.120','["node_2026_01_22T11_26_43_119140"]','2026-01-22 11:26:43.118',NULL,NULL,'callwright.task',25,'{"river:unique_nonce":"dbccca6be6dc5f50"}',1,'default','running','2026-01-22 11:26:43.118','[]',NULL,NULL);
INSERT INTO river_job (id, args, attempt, attempted_at, attempted_by, created_at, errors, finalized_at, kind, max_attempts, metadata, priority, queue, state, scheduled_at, tags, unique_key, unique_states) VALUES (4,X'7B226B696E64223A22666978747572652E6C61746572222C226F7267223A226F72672D61222C226B6579223A2234227D',0,NULL,NULL,'2026-01-22 11:26:43.421',NULL,NULL,'callwright.task',25,'{"river:unique_nonce":"4d6d3c454db09b43"}',1,'default','scheduled','2026-01-22 12:26:43.421','[]',NULL,NULL);
INSERT INTO river_job (id, args, attempt, attempted_at, attempted_by, created_at, errors, finalized_at, kind, max_attempts, metadata, priority, queue, state, scheduled_at, tags, unique_key, unique_states) VALUES (5,X'7B226B696E64223A22666978747572652E756E69717565222C226F7267223A226F72672D62222C226B6579223A2235227D',0,NULL,NULL,'2026-01-22 11:26:43.422',NULL,NULL,'callwright.task',25,'{"river:unique_nonce":"0c73f03b2745e9aa"}',1,'default','scheduled','2026-01-22 12:26:43.422','[]',X'19878E4A43900793B6DED081213AF4F2C39CE58F07E6690CB4379CE740AAFEAC',241);
INSERT INTO river_job (id, args, attempt, attempted_at, attempted_by, created_at, errors, finalized_at, kind, max_attempts, metadata, priority, queue, state, scheduled_at, tags, unique_key, unique_states) VALUES (6,X'7B226B696E64223A22666978747572652E61726773222C226F7267223A226F72672D62222C226B6579223A2236222C2261726773223A227B5C22746578745C223A5C2269742773205C5C7530303030205C5C5C2271756F7465645C5C5C225C227D227D',0,NULL,NULL,'2026-01-22 11:26:43.422',NULL,NULL,'callwright.task',25,'{"river:unique_nonce":"5bdc739778a563c7"}',1,'default','scheduled','2026-01-22 12:26:43.422','[]',NULL,NULL);
