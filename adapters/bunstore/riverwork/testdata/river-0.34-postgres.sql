-- What River 0.34.0 leaves in a PostgreSQL database: its tables, one task that is done, and five that are not.
CREATE SCHEMA river;
CREATE TYPE river.river_job_state AS ENUM (
    'available',
    'cancelled',
    'completed',
    'discarded',
    'pending',
    'retryable',
    'running',
    'scheduled'
);
CREATE FUNCTION river.river_job_state_in_bitmask(bitmask bit, state river.river_job_state) RETURNS boolean
    LANGUAGE sql IMMUTABLE
    AS $$
    SELECT CASE state
        WHEN 'available' THEN get_bit(bitmask, 7)
        WHEN 'cancelled' THEN get_bit(bitmask, 6)
        WHEN 'completed' THEN get_bit(bitmask, 5)
        WHEN 'discarded' THEN get_bit(bitmask, 4)
        WHEN 'pending'   THEN get_bit(bitmask, 3)
        WHEN 'retryable' THEN get_bit(bitmask, 2)
        WHEN 'running'   THEN get_bit(bitmask, 1)
        WHEN 'scheduled' THEN get_bit(bitmask, 0)
        ELSE 0
    END = 1;
$$;
CREATE UNLOGGED TABLE river.river_client (
    id text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    metadata jsonb DEFAULT '{}'::jsonb NOT NULL,
    paused_at timestamp with time zone,
    updated_at timestamp with time zone NOT NULL,
    CONSTRAINT name_length CHECK (((char_length(id) > 0) AND (char_length(id) < 128)))
);
CREATE UNLOGGED TABLE river.river_client_queue (
    river_client_id text NOT NULL,
    name text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    max_workers bigint DEFAULT 0 NOT NULL,
    metadata jsonb DEFAULT '{}'::jsonb NOT NULL,
    num_jobs_completed bigint DEFAULT 0 NOT NULL,
    num_jobs_running bigint DEFAULT 0 NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    CONSTRAINT name_length CHECK (((char_length(name) > 0) AND (char_length(name) < 128))),
    CONSTRAINT num_jobs_completed_zero_or_positive CHECK ((num_jobs_completed >= 0)),
    CONSTRAINT num_jobs_running_zero_or_positive CHECK ((num_jobs_running >= 0))
);
CREATE TABLE river.river_job (
    id bigint NOT NULL,
    state river.river_job_state DEFAULT 'available'::river.river_job_state NOT NULL,
    attempt smallint DEFAULT 0 NOT NULL,
    max_attempts smallint NOT NULL,
    attempted_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    finalized_at timestamp with time zone,
    scheduled_at timestamp with time zone DEFAULT now() NOT NULL,
    priority smallint DEFAULT 1 NOT NULL,
    args jsonb NOT NULL,
    attempted_by text[],
    errors jsonb[],
    kind text NOT NULL,
    metadata jsonb DEFAULT '{}'::jsonb NOT NULL,
    queue text DEFAULT 'default'::text NOT NULL,
    tags character varying(255)[] DEFAULT '{}'::character varying[] NOT NULL,
    unique_key bytea,
    unique_states bit(8),
    CONSTRAINT finalized_or_finalized_at_null CHECK ((((finalized_at IS NULL) AND (state <> ALL (ARRAY['cancelled'::river.river_job_state, 'completed'::river.river_job_state, 'discarded'::river.river_job_state]))) OR ((finalized_at IS NOT NULL) AND (state = ANY (ARRAY['cancelled'::river.river_job_state, 'completed'::river.river_job_state, 'discarded'::river.river_job_state]))))),
    CONSTRAINT kind_length CHECK (((char_length(kind) > 0) AND (char_length(kind) < 128))),
    CONSTRAINT max_attempts_is_positive CHECK ((max_attempts > 0)),
    CONSTRAINT priority_in_range CHECK (((priority >= 1) AND (priority <= 4))),
    CONSTRAINT queue_length CHECK (((char_length(queue) > 0) AND (char_length(queue) < 128)))
);
CREATE SEQUENCE river.river_job_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE river.river_job_id_seq OWNED BY river.river_job.id;
CREATE UNLOGGED TABLE river.river_leader (
    elected_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    leader_id text NOT NULL,
    name text DEFAULT 'default'::text NOT NULL,
    CONSTRAINT leader_id_length CHECK (((char_length(leader_id) > 0) AND (char_length(leader_id) < 128))),
    CONSTRAINT name_length CHECK ((name = 'default'::text))
);
CREATE TABLE river.river_migration (
    line text NOT NULL,
    version bigint NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT line_length CHECK (((char_length(line) > 0) AND (char_length(line) < 128))),
    CONSTRAINT version_gte_1 CHECK ((version >= 1))
);
CREATE TABLE river.river_queue (
    name text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    metadata jsonb DEFAULT '{}'::jsonb NOT NULL,
    paused_at timestamp with time zone,
    updated_at timestamp with time zone NOT NULL
);
ALTER TABLE ONLY river.river_job ALTER COLUMN id SET DEFAULT nextval('river.river_job_id_seq'::regclass);
INSERT INTO river.river_job (id, state, attempt, max_attempts, attempted_at, created_at, finalized_at, scheduled_at, priority, args, attempted_by, errors, kind, metadata, queue, tags, unique_key, unique_states) VALUES (3, 'running', 1, 25, '2026-01-22 11:26:50.967818+00', '2026-01-22 11:26:50.915303+00', NULL, '2026-01-22 11:26:50.915303+00', 1, '{"key": "3", "org": "org-a", "kind": "fixture.running"}', '{node_2026_01_22T11_26_50_919559}', NULL, 'callwright.task', '{}', 'default', '{}', NULL, NULL);
INSERT INTO river.river_job (id, state, attempt, max_attempts, attempted_at, created_at, finalized_at, scheduled_at, priority, args, attempted_by, errors, kind, metadata, queue, tags, unique_key, unique_states) VALUES (1, 'completed', 1, 25, '2026-01-22 11:26:50.967818+00', '2026-01-22 11:26:50.902362+00', '2026-01-22 11:26:50.969793+00', '2026-01-22 11:26:50.902362+00', 1, '{"key": "1", "org": "", "kind": "fixture.done"}', '{node_2026_01_22T11_26_50_919559}', NULL, 'callwright.task', '{}', 'default', '{}', NULL, NULL);
INSERT INTO river.river_job (id, state, attempt, max_attempts, attempted_at, created_at, finalized_at, scheduled_at, priority, args, attempted_by, errors, kind, metadata, queue, tags, unique_key, unique_states) VALUES (2, 'available', 1, 5, '2026-01-22 11:26:50.967818+00', '2026-01-22 11:26:50.911062+00', NULL, '2026-01-22 11:26:52.034616+00', 1, '{"key": "2", "org": "org-a", "kind": "fixture.failed"}', '{node_2026_01_22T11_26_50_919559}', '{"{\"at\": \"2026-01-22T11:26:50.969940162Z\", \"error\": \"not yet\", \"trace\": \"\", \"attempt\": 1}"}', 'callwright.task', '{}', 'default', '{}', NULL, NULL);
INSERT INTO river.river_job (id, state, attempt, max_attempts, attempted_at, created_at, finalized_at, scheduled_at, priority, args, attempted_by, errors, kind, metadata, queue, tags, unique_key, unique_states) VALUES (4, 'scheduled', 0, 25, NULL, '2026-01-22 11:26:51.271258+00', NULL, '2026-01-22 12:26:51.270972+00', 1, '{"key": "4", "org": "org-a", "kind": "fixture.later"}', NULL, NULL, 'callwright.task', '{}', 'default', '{}', NULL, NULL);
INSERT INTO river.river_job (id, state, attempt, max_attempts, attempted_at, created_at, finalized_at, scheduled_at, priority, args, attempted_by, errors, kind, metadata, queue, tags, unique_key, unique_states) VALUES (5, 'scheduled', 0, 25, NULL, '2026-01-22 11:26:51.27312+00', NULL, '2026-01-22 12:26:51.272936+00', 1, '{"key": "5", "org": "org-b", "kind": "fixture.unique"}', NULL, NULL, 'callwright.task', '{}', 'default', '{}', '\x19878e4a43900793b6ded081213af4f2c39ce58f07e6690cb4379ce740aafeac', B'11110001');
INSERT INTO river.river_job (id, state, attempt, max_attempts, attempted_at, created_at, finalized_at, scheduled_at, priority, args, attempted_by, errors, kind, metadata, queue, tags, unique_key, unique_states) VALUES (6, 'scheduled', 0, 25, NULL, '2026-01-22 11:26:51.278255+00', NULL, '2026-01-22 12:26:51.278068+00', 1, '{"key": "6", "org": "org-b", "args": "{\"text\":\"it''s \\u0000 \\\"quoted\\\"\"}", "kind": "fixture.args"}', NULL, NULL, 'callwright.task', '{}', 'default', '{}', NULL, NULL);
INSERT INTO river.river_leader (elected_at, expires_at, leader_id, name) VALUES ('2026-01-22 11:26:50.959372+00', '2026-01-22 11:27:05.959372+00', 'node_2026_01_22T11_26_50_919559', 'default');
INSERT INTO river.river_migration (line, version, created_at) VALUES ('main', 1, '2026-01-22 11:26:50.748121+00');
INSERT INTO river.river_migration (line, version, created_at) VALUES ('main', 2, '2026-01-22 11:26:50.767178+00');
INSERT INTO river.river_migration (line, version, created_at) VALUES ('main', 3, '2026-01-22 11:26:50.818303+00');
INSERT INTO river.river_migration (line, version, created_at) VALUES ('main', 4, '2026-01-22 11:26:50.826343+00');
INSERT INTO river.river_migration (line, version, created_at) VALUES ('main', 5, '2026-01-22 11:26:50.839353+00');
INSERT INTO river.river_migration (line, version, created_at) VALUES ('main', 6, '2026-01-22 11:26:50.891417+00');
INSERT INTO river.river_queue (name, created_at, metadata, paused_at, updated_at) VALUES ('default', '2026-01-22 11:26:50.960318+00', '{}', NULL, '2026-01-22 11:26:50.960318+00');
SELECT pg_catalog.setval('river.river_job_id_seq', 6, true);
ALTER TABLE ONLY river.river_client
    ADD CONSTRAINT river_client_pkey PRIMARY KEY (id);
ALTER TABLE ONLY river.river_client_queue
    ADD CONSTRAINT river_client_queue_pkey PRIMARY KEY (river_client_id, name);
ALTER TABLE ONLY river.river_job
    ADD CONSTRAINT river_job_pkey PRIMARY KEY (id);
ALTER TABLE ONLY river.river_leader
    ADD CONSTRAINT river_leader_pkey PRIMARY KEY (name);
ALTER TABLE ONLY river.river_migration
    ADD CONSTRAINT river_migration_pkey1 PRIMARY KEY (line, version);
ALTER TABLE ONLY river.river_queue
    ADD CONSTRAINT river_queue_pkey PRIMARY KEY (name);
CREATE INDEX river_job_args_index ON river.river_job USING gin (args);
CREATE INDEX river_job_kind ON river.river_job USING btree (kind);
CREATE INDEX river_job_metadata_index ON river.river_job USING gin (metadata);
CREATE INDEX river_job_prioritized_fetching_index ON river.river_job USING btree (state, queue, priority, scheduled_at, id);
CREATE INDEX river_job_state_and_finalized_at_index ON river.river_job USING btree (state, finalized_at) WHERE (finalized_at IS NOT NULL);
CREATE UNIQUE INDEX river_job_unique_idx ON river.river_job USING btree (unique_key) WHERE ((unique_key IS NOT NULL) AND (unique_states IS NOT NULL) AND river.river_job_state_in_bitmask(unique_states, state));
ALTER TABLE ONLY river.river_client_queue
    ADD CONSTRAINT river_client_queue_river_client_id_fkey FOREIGN KEY (river_client_id) REFERENCES river.river_client(id) ON DELETE CASCADE;
