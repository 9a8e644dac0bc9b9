-- Administration: pages of organizations and of their keys, the last use and the rotation of a key, and the webhook secret before the
-- current one, which signs as well until it ends.
ALTER TABLE organizations ADD COLUMN previous_webhook_secret TEXT NOT NULL DEFAULT ''; -- sealed
ALTER TABLE organizations ADD COLUMN previous_webhook_ends TIMESTAMP;
ALTER TABLE api_keys ADD COLUMN last_used_at TIMESTAMP;
ALTER TABLE api_keys ADD COLUMN replaced_by TEXT NOT NULL DEFAULT '';
CREATE INDEX organizations_by_age ON organizations (created_at, id);
CREATE INDEX api_keys_by_org ON api_keys (org, created_at, id);
