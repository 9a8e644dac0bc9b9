-- The attempts at a call are found by the call, and the calls that have not ended without those that have.
CREATE INDEX sip_calls_by_parent ON sip_calls (parent_id, started_at, id) WHERE parent_id <> '';
CREATE INDEX calls_running ON calls (org, created_at, id) WHERE NOT ended;
