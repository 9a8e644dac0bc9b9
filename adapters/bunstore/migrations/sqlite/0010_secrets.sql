-- What may hold keys of other systems: the constants in a trunk's headers, and the address of its webhook.
ALTER TABLE trunks ADD COLUMN secrets TEXT NOT NULL DEFAULT ''; -- sealed
