package call

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/callwright/callwright"
)

// Failure describes a failed call to people, and tells which calls failed alike.
type Failure struct {
	// Key is equal for calls that fail alike: "call/", the cause, the SIP status where there is one, and the pathway or,
	// without one, the organization's own number. It has at most 200 bytes.
	Key    string
	Reason string // why the call failed, in a few words
	Detail string // what happened to this call: a few lines of text
	// Minor reports whether nothing has to be mended: the person called declined (603, 607), or the server was stopped in order and
	// did not wait longer. Calls of people who are busy (486, 600) or not there (480) have not failed: their Status says so.
	Minor bool
}

// The most bytes that a Failure holds of texts that others choose.
const (
	maxFailureSubject = 128 // longer than every id that this platform makes
	maxFailureReason  = 500
	maxCallParty      = 100
)

// Failure returns the description of a call whose Status is StatusFailed.
func (c Call) Failure() Failure {
	return Failure{Key: c.failureKey(), Reason: c.failureReason(), Detail: c.failureDetail(), Minor: c.Ending != nil && c.Ending.minor()}
}

// minor reports whether the person called has declined, by what RFC 3261 and RFC 8197 mean by the status, or this server was stopped.
func (e HangupReason) minor() bool {
	return e.SIPCode == 603 || e.SIPCode == 607 || e.Cause == CauseDrained
}

func (c Call) failureKey() string {
	cause := string(CauseInternal)
	if c.Ending != nil {
		cause = string(c.Ending.Cause)
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
		return "an internal error of this server; its log has the cause under the call's id"
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

// readableTime is the layout of times in texts for people.
const readableTime = "2 January 2006 15:04 UTC"

// Title returns the call in a few words, such as "Call to +15550000002". A caller's name may be any text: it is clipped.
func (c Call) Title() string {
	if c.Inbound {
		return "Call from " + cmp.Or(callwright.Clip(c.From, maxCallParty), "an unknown number")
	}
	return "Call to " + c.To
}
