-- How many calls were created in each hour, so that nobody has to count them. Triggers keep the numbers with each change of a call.
CREATE TABLE call_hours (
    org      TEXT      NOT NULL,
    hour     TIMESTAMP NOT NULL, -- its start
    calls    INTEGER   NOT NULL,
    ended    INTEGER   NOT NULL,
    answered INTEGER   NOT NULL, -- of those that have ended
    PRIMARY KEY (org, hour)
);

INSERT INTO call_hours (org, hour, calls, ended, answered)
SELECT org, substr(created_at, 1, 13) || ':00:00+00:00', count(*), sum(ended), sum(ended AND answered_by NOT IN ('', 'no-answer'))
FROM calls GROUP BY 1, 2;

CREATE TRIGGER calls_counted AFTER INSERT ON calls BEGIN
    INSERT INTO call_hours (org, hour, calls, ended, answered)
    VALUES (NEW.org, substr(NEW.created_at, 1, 13) || ':00:00+00:00', 1, NEW.ended, NEW.ended AND NEW.answered_by NOT IN ('', 'no-answer'))
    ON CONFLICT (org, hour) DO UPDATE SET
        calls = calls + 1, ended = ended + excluded.ended, answered = answered + excluded.answered;
END;

CREATE TRIGGER calls_recounted AFTER UPDATE OF ended, answered_by ON calls
WHEN NEW.ended <> OLD.ended OR NEW.ended AND NEW.answered_by <> OLD.answered_by BEGIN
    UPDATE call_hours SET
        ended = ended + NEW.ended - OLD.ended,
        answered = answered + (NEW.ended AND NEW.answered_by NOT IN ('', 'no-answer')) - (OLD.ended AND OLD.answered_by NOT IN ('', 'no-answer'))
    WHERE org = NEW.org AND hour = substr(NEW.created_at, 1, 13) || ':00:00+00:00';
END;

-- The issues on which work is left are found without those that are over.
CREATE INDEX triage_issues_open ON triage_issues (org, last_activity_at, id, status) WHERE status NOT IN ('done', 'closed');
