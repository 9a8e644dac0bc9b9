package join

import (
	"context"

	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/triage"
)

// FailedCalls reports failed calls as issues: calls with equal call.Call.Failure share one issue.
type FailedCalls struct{ Issues *triage.Service }

var _ call.Failures = FailedCalls{}

// CallFailed reports a call. Reporting a call again that is attached to the issue changes nothing.
func (f FailedCalls) CallFailed(ctx context.Context, c call.Call) error {
	failure := c.Failure()
	severity := triage.SeverityHigh
	if failure.Minor {
		severity = triage.SeverityLow
	}
	_, err := f.Issues.Report(ctx, c.Org, triage.System(), triage.Report{
		Key: failure.Key, Title: "Calls fail: " + failure.Reason, Severity: severity, Category: "call",
		Detail:    failure.Detail + "\nCalls that fail alike are attached while the issue is open.",
		Resources: []triage.ResourceDraft{{Type: triage.ResourceCall, ResourceID: c.ID}},
	})
	return err
}
