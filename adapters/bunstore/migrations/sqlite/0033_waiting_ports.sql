-- The port requests on which somebody but the losing carrier must act are found without all others.
CREATE INDEX port_requests_waiting ON port_requests (org, created_at, id) WHERE state = 'waiting_for_signature' OR held_since IS NOT NULL;
