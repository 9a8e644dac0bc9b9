package casefile

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/triage"
)

// FailedCalls makes issues of calls that have failed: one for all that fail for the same cause on the same pathway, or,
// without one, with the same number of ours. Issues needs a library of calls, such as Calls, which needs a call.Service,
// which in turn is told of its Failures: a pointer to FailedCalls can be given to that first, and Issues set before any
// work starts.
type FailedCalls struct{ Issues *triage.Service }

var _ call.Failures = FailedCalls{}

// category is that of the issues.
const category = "call"

// CallFailed reports a call. Reporting one again that is attached to the issue already changes nothing.
func (f FailedCalls) CallFailed(ctx context.Context, c call.Call) error {
	_, err := f.Issues.Report(ctx, c.Org, triage.System(), triage.Report{
		Key: key(c), Title: "Calls fail: " + why(c), Detail: detail(c), Severity: triage.SeverityHigh, Category: category,
		Resources: []triage.ResourceDraft{{Type: triage.ResourceCall, ResourceID: c.ID}},
	})
	return err
}

// maxSubject is how many bytes of a key say what a call belongs to; every id that there is has fewer.
const maxSubject = 128

// key is the same for calls that fail alike: "call/", the cause, with the other side's answer where there was one, and
// the pathway or our number.
func key(c call.Call) string {
	cause := string(call.CauseInternal)
	if c.Ending != nil {
		cause = string(c.Ending.Cause)
		if c.Ending.SIPCode != 0 {
			cause += fmt.Sprintf("-%d", c.Ending.SIPCode)
		}
	}
	return category + "/" + cause + "/" + callwright.Clip(cmp.Or(c.Agent.Pathway.ID, ours(c)), maxSubject)
}

// ours is the organization's own number on a call.
func ours(c call.Call) string {
	if c.Inbound {
		return c.To
	}
	return c.From
}

// why says in people's words why a call has failed.
func why(c call.Call) string {
	text := c.ErrorMessage
	switch e := c.Ending; {
	case e == nil:
	case e.Cause == call.CauseInternal:
		text = "something broke on this server"
	case e.SIPCode != 0:
		text += fmt.Sprintf(" (SIP %d)", e.SIPCode)
	}
	return text
}

// detail says what has happened to a call.
func detail(c call.Call) string {
	var b strings.Builder
	when := c.CreatedAt
	if c.EndedAt != nil {
		when = *c.EndedAt
	}
	fmt.Fprintf(&b, "%s failed on %s: %s.\nIts id is %s.", name(c), spell(when), why(c), c.ID)
	if c.Ending != nil && c.Ending.Reason != "" {
		fmt.Fprintf(&b, "\nThe reason that was given: %s", callwright.Clip(c.Ending.Reason, maxReason))
	}
	if id := c.Agent.Pathway.ID; id != "" {
		fmt.Fprintf(&b, "\nPathway %s led it", id)
		if n := c.PathwayNumber; n != nil && *n != 0 {
			fmt.Fprintf(&b, ", version %d", *n)
		}
		b.WriteString(".")
	}
	b.WriteString("\nCalls that fail alike are attached while the issue is open.")
	return b.String()
}
