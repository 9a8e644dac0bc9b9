-- The answer that the agent expected in a line, and the digits in its words, as JSON; NULL if it expected any words.
ALTER TABLE transcript_entries ADD COLUMN expected TEXT;
