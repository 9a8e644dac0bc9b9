-- How far the record of a call has got to its webhook.
ALTER TABLE calls ADD COLUMN delivery TEXT NOT NULL DEFAULT '{}';
