-- How many numbers an organization may attach to trunks; 0: the default.
ALTER TABLE organizations ADD COLUMN max_numbers INTEGER NOT NULL DEFAULT 0;
