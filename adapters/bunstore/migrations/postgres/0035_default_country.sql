-- Numbers without a plus are read in the form of this country; empty: they must be E.164.
ALTER TABLE organizations ADD COLUMN default_country TEXT NOT NULL DEFAULT '';
