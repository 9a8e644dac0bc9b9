-- An issue is deleted with all that refers to it: these tables had no index that finds it.
CREATE INDEX triage_comments_by_issue ON triage_comments (issue_id);
CREATE INDEX triage_sessions_by_issue ON triage_sessions (issue_id);
CREATE INDEX triage_views_by_issue ON triage_views (issue_id);
