package call

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/callwright/callwright"
)

// Failure describes a failed call in human-readable texts, with a key for similar failures.
type Failure struct {
	// Key is equal for calls with similar failures: "call/", the cause, a SIP status of at least 300 and the pathway or, without a pathway,
	// the organization's own number. It has at most 200 bytes.
	Key    string
	Reason string // short reason of the failure
	Detail string // details of this call in a few lines of text
	// Minor reports that no repair is needed: the callee declined (603, 607), the other side's audio stopped in the middle of the call, or the
	// server stopped and Config.DrainTimeout was over. Calls to a busy (486, 600) or absent (480) callee have not failed: see their Status.
	Minor bool
}

// The limits of foreign texts in a Failure, in bytes.
const (
	maxFailureSubject = 128 // more than the longest id of this platform
	maxFailureReason  = 500
	maxCallParty      = 100
)

// Failure describes a call whose Status is StatusFailed.
func (c Call) Failure() Failure {
	return Failure{Key: c.failureKey(), Reason: c.failureReason(), Detail: c.failureDetail(), Minor: c.Ending != nil && (c.Ending.minor() || c.vanished())}
}

// vanished reports whether the other side's audio stopped in the middle of the call, as when a telephone loses its network. A call without
// any audio from the other side has not vanished: its trunk, a firewall or NAT blocks the audio.
func (c Call) vanished() bool {
	return c.Ending != nil && c.Ending.Cause == CauseMediaTimeout && c.Stats.Received > 0
}

// minor reports whether the callee declined the call (603 in RFC 3261, 607 in RFC 8197), or this server was stopped.
func (e HangupReason) minor() bool {
	return e.SIPCode == 603 || e.SIPCode == 607 || e.Cause == CauseDrained
}

func (c Call) failureKey() string {
	cause := string(CauseInternal)
	if c.Ending != nil {
		cause = string(c.Ending.Cause)
		if c.vanished() {
			cause += "-vanished" // an issue about calls without any audio is another one
		}
		if c.Ending.SIPCode >= 300 {
			cause += fmt.Sprintf("-%d", c.Ending.SIPCode)
		}
	}
	own := c.From
	if c.Inbound {
		own = c.To
	}
	return "call/" + cause + "/" + callwright.Clip(cmp.Or(c.Agent.Pathway.ID, own), maxFailureSubject)
}

func (c Call) failureReason() string {
	switch e := c.Ending; {
	case e == nil:
		return c.ErrorMessage
	case e.Cause == CauseInternal:
		return "an internal error of this server: its log shows the cause with the call's id"
	case c.vanished():
		return "the other side vanished in the middle of the call: its audio stopped, and it did not hang up"
	case e.Cause == CauseNoAgent: // the error message also contains reasons of this number's last change
		return outcomes[CauseNoAgent].message
	case e.SIPCode >= 300:
		return fmt.Sprintf("%s (SIP %d)", c.ErrorMessage, e.SIPCode)
	}
	return c.ErrorMessage
}

func (c Call) failureDetail() string {
	var b strings.Builder
	when := c.CreatedAt
	if c.EndedAt != nil {
		when = *c.EndedAt
	}
	fmt.Fprintf(&b, "%s failed on %s: %s.\nIts id is %s.", c.Title(), when.UTC().Format(readableTime), c.failureReason(), c.ID)
	if c.Ending != nil && c.Ending.Reason != "" {
		fmt.Fprintf(&b, "\nReason: %s", callwright.Clip(c.Ending.Reason, maxFailureReason))
	}
	if id := c.Agent.Pathway.ID; id != "" {
		fmt.Fprintf(&b, "\nPathway: %s", id)
		if n := c.PathwayNumber; n != nil && *n != 0 {
			fmt.Fprintf(&b, ", version %d", *n)
		}
		b.WriteString(".")
	}
	return b.String()
}

// readableTime is the layout of times in human-readable texts.
const readableTime = "2 January 2006 15:04 UTC"

// Title returns a short description of the call, for example "Call to +15550000002". It truncates a caller's name, which may be any text,
// to 100 bytes.
func (c Call) Title() string {
	if c.Inbound {
		return "Call from " + cmp.Or(callwright.Clip(c.From, maxCallParty), "an unknown number")
	}
	return "Call to " + c.To
}
