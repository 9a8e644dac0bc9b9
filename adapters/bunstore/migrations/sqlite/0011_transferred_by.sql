-- Who transferred a call. Up to now only agents did.
ALTER TABLE calls ADD COLUMN transferred_by TEXT NOT NULL DEFAULT '';
UPDATE calls SET transferred_by = 'agent' WHERE transferred_at IS NOT NULL;
