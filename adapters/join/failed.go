package join

import (
	"context"

	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/triage"
)

// FailedCalls reports failed calls as issues; it implements call.Failures. Calls with the same call.Call.Failure key share one issue.
type FailedCalls struct{ Issues *triage.Service }

var _ call.Failures = FailedCalls{}

// CallFailed reports a failed call. It changes nothing if the call is already attached to the issue.
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
