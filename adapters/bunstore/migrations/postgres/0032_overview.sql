-- How many calls were created in each hour, so that nobody has to count them. Triggers keep the numbers with each change of a call.
CREATE TABLE call_hours (
    org      TEXT COLLATE "C" NOT NULL,
    hour     TIMESTAMPTZ      NOT NULL, -- its start
    calls    BIGINT           NOT NULL,
    ended    BIGINT           NOT NULL,
    answered BIGINT           NOT NULL, -- of those that have ended
    PRIMARY KEY (org, hour)
);

INSERT INTO call_hours (org, hour, calls, ended, answered)
SELECT org, date_trunc('hour', created_at, 'UTC'), count(*), count(*) FILTER (WHERE ended),
    count(*) FILTER (WHERE ended AND answered_by NOT IN ('', 'no-answer'))
FROM calls GROUP BY 1, 2;

CREATE FUNCTION count_call() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO call_hours AS h (org, hour, calls, ended, answered)
    VALUES (NEW.org, date_trunc('hour', NEW.created_at, 'UTC'), 1, NEW.ended::int, (NEW.ended AND NEW.answered_by NOT IN ('', 'no-answer'))::int)
    ON CONFLICT (org, hour) DO UPDATE SET
        calls = h.calls + 1, ended = h.ended + excluded.ended, answered = h.answered + excluded.answered;
    RETURN NULL;
END $$;
CREATE TRIGGER calls_counted AFTER INSERT ON calls FOR EACH ROW EXECUTE FUNCTION count_call();

CREATE FUNCTION recount_call() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE call_hours SET
        ended = ended + NEW.ended::int - OLD.ended::int,
        answered = answered + (NEW.ended AND NEW.answered_by NOT IN ('', 'no-answer'))::int
            - (OLD.ended AND OLD.answered_by NOT IN ('', 'no-answer'))::int
    WHERE org = NEW.org AND hour = date_trunc('hour', NEW.created_at, 'UTC');
    RETURN NULL;
END $$;
CREATE TRIGGER calls_recounted AFTER UPDATE OF ended, answered_by ON calls FOR EACH ROW
WHEN (NEW.ended <> OLD.ended OR NEW.ended AND NEW.answered_by <> OLD.answered_by) EXECUTE FUNCTION recount_call();

-- The issues on which work is left are found without those that are over.
CREATE INDEX triage_issues_open ON triage_issues (org, last_activity_at, id, status) WHERE status NOT IN ('done', 'closed');
