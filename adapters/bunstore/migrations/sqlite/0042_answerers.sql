-- Who answered a placed call, in detail, as JSON; NULL before the identification.
ALTER TABLE calls ADD COLUMN answerer TEXT;
