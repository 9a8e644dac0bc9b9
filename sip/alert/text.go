package alert

import (
	"fmt"
	"strings"
	"time"
)

// Subject is the notice in one line.
func (n Notice) Subject() string {
	return fmt.Sprintf("SIP trunk %s (%s) %s", n.Number, n.Direction, n.finding())
}

func (n Notice) finding() string {
	over := n.ResolvedAt != nil
	switch {
	case n.Kind == Unreachable && over:
		return "has all of its servers again"
	case n.Kind == Unreachable:
		return "has a server that is unreachable"
	case n.Kind == FailureRate && over:
		return "fails fewer calls again"
	case n.Kind == FailureRate:
		return "fails too many calls"
	case over:
		return "answers fast enough again"
	default:
		return "answers slowly"
	}
}

// Text is the notice as a plain text for people.
func (n Notice) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s.\n\n", n.Subject())
	switch n.Kind {
	case Unreachable:
		fmt.Fprintf(&b, "Minutes without an answer from a server of the trunk: %g. Its status shows which one, and where calls go. The alert is set to %g.\n", n.Value, n.Threshold)
	case FailureRate:
		fmt.Fprintf(&b, "Calls that failed for technical reasons: %g %%. The alert is set to %g %%.\n", n.Value, n.Threshold)
	case ResponseTime:
		fmt.Fprintf(&b, "Mean response time: %g ms. The alert is set to %g ms.\n", n.Value, n.Threshold)
	}
	fmt.Fprintf(&b, "Raised: %s\n", n.TriggeredAt.Format(time.RFC3339))
	if n.ResolvedAt != nil {
		fmt.Fprintf(&b, "Over: %s\n", n.ResolvedAt.Format(time.RFC3339))
	}
	return b.String()
}
