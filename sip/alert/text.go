package alert

import (
	"fmt"
	"strings"
	"time"
)

// Subject returns a summary of the notice in one line.
func (n Notice) Subject() string {
	return fmt.Sprintf("SIP trunk %s (%s%s) %s", n.Number, n.Direction, n.others(), n.finding())
}

func (n Notice) others() string {
	switch n.Others {
	case 0:
		return ""
	case 1:
		return ", and 1 more number"
	default:
		return fmt.Sprintf(", and %d more numbers", n.Others)
	}
}

func (n Notice) finding() string {
	over := n.ResolvedAt != nil
	switch {
	case n.Kind == Unreachable && over:
		return "has all of its servers again"
	case n.Kind == Unreachable:
		return "has an unreachable server"
	case n.Kind == FailureRate && over:
		return "has few failed calls again"
	case n.Kind == FailureRate:
		return "has too many failed calls"
	case over:
		return "answers fast enough again"
	default:
		return "answers slowly"
	}
}

// Text returns the notice as plain text, beginning with its Subject.
func (n Notice) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s.\n\n", n.Subject())
	switch n.Kind {
	case Unreachable:
		fmt.Fprintf(&b, "A server of the trunk has not responded for %g minutes. The trunk's status shows which one, and where calls go. The threshold is %g minutes.\n", n.Value, n.Threshold)
	case FailureRate:
		fmt.Fprintf(&b, "%g %% of the calls failed for technical reasons. The threshold is %g %%.\n", n.Value, n.Threshold)
	case ResponseTime:
		fmt.Fprintf(&b, "The mean response time is %g ms. The threshold is %g ms.\n", n.Value, n.Threshold)
	}
	fmt.Fprintf(&b, "Raised: %s\n", n.TriggeredAt.Format(time.RFC3339))
	if n.ResolvedAt != nil {
		fmt.Fprintf(&b, "Resolved: %s\n", n.ResolvedAt.Format(time.RFC3339))
	}
	return b.String()
}
