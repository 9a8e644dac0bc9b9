package porting

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// mailed reports whether an entry is mailed: true for changes of the request's state, entries that require attention, and changes of
// numbers unless the request is queued or a cancellation was requested.
func (e Entry) mailed() bool {
	switch e.Event {
	case CancelAsked, CancelRefused, Undelivered:
		return true
	case Changed:
		return e.Detail != DetailCancelRequested && e.Detail != DetailQueued
	default:
		return e.From != e.To
	}
}

// Subject returns the subject of the mail about an entry.
func (r Request) Subject(e Entry) string {
	return fmt.Sprintf("Port of %s: %s", counted(len(r.Numbers), "number"), e.headline())
}

func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// headline returns a short description of an entry, in lower case.
func (e Entry) headline() string {
	switch {
	case e.Event == CancelAsked && e.To != Canceled && e.Actor == Timer:
		return "not settled in time, the carrier is asked to cancel"
	case e.Event == CancelAsked && e.To != Canceled:
		return "the carrier is asked to cancel"
	case e.Event == CancelRefused:
		return "the carrier refuses to cancel"
	case e.Event == Undelivered:
		return "the letter cannot be delivered"
	case e.Event == Declined:
		return "canceled, the signer has declined"
	case e.Event == SignatureExpired:
		return "failed, the letter was not signed in time"
	case e.To == InProgress && e.Detail == DetailAction:
		return "action is needed"
	case e.To == InProgress && e.Detail == DetailConfirmed:
		return "the date is confirmed"
	case e.Event == Changed:
		return "news from the carrier"
	case e.To == Completed && e.Detail == DetailPartly:
		return "completed in part"
	}
	return map[State]string{
		WaitingForSignature: "a signature is needed", Submitted: "submitted to the carrier", InProgress: "in progress",
		Completed: "completed", Canceled: "canceled", Failed: "failed",
	}[e.To]
}

// next returns the text about the next step, the party that must act, and the deadline.
func (r Request) next(e Entry) string {
	switch {
	case e.Event == CancelAsked && e.To != Canceled && e.Actor == Timer:
		return "Nobody has settled for 30 days what holds up the numbers below, so the port is being canceled. The losing carrier decides whether " +
			"the numbers can still stay with it. Nobody needs to act; another mail follows."
	case e.Event == CancelAsked && e.To != Canceled:
		return "The losing carrier decides whether the numbers can still stay with it. Nobody needs to act; another mail follows."
	case e.Event == CancelRefused:
		return "The port goes on. If the numbers are to stay with the losing carrier, ask the carrier itself to stop the port."
	case e.Event == Undelivered:
		return "The mail server refuses the address of the authorized representative, who must sign the letter of authorization by " + date(r.SignBy) +
			". Whoever requested the port must act: if the address is right, have the letter sent again; if it is wrong, cancel the request and make " +
			"another one with the right address."
	case e.Event == Declined:
		return "The authorized representative does not sign the letter of authorization. The numbers stay with the losing carrier. Whoever requested " +
			"the port can make a new request when that is settled."
	case e.Event == SignatureExpired:
		return "The numbers stay with the losing carrier. Whoever requested the port can make a new request."
	case e.To == InProgress && e.Detail == DetailAction:
		return r.action()
	case e.To == InProgress && e.Detail == DetailConfirmed:
		return "The losing carrier releases the numbers at the time below. Nobody needs to act: keep its service until another mail says that the " +
			"numbers are ported."
	case e.To == InProgress:
		return "The losing carrier is working on the request, which takes 7 to 14 business days. Nobody needs to act: keep its service until the numbers " +
			"are ported."
	case e.To == Completed && e.Detail == DetailPartly:
		return "Calls to the ported numbers come in here, unless something else is said beside them. The other numbers stay with the losing carrier: keep its service for them. Whoever requested " +
			"the port can request them again when what is said beside them is settled."
	}
	return map[State]string{
		WaitingForSignature: "The authorized representative gets another mail with a link to the letter of authorization, and must sign it there by " +
			date(r.SignBy) + ". If nobody does, the port fails.",
		Submitted: "The letter of authorization is signed, and the losing carrier gets the request. Nobody needs to act.",
		Completed: "Calls to the numbers come in here, unless something else is said beside them. The losing carrier's service for them can be ended.",
		Canceled:  "The numbers stay with the losing carrier. Nobody needs to act.",
		Failed:    "The numbers stay with the losing carrier: keep its service. This request is not tried again; a new request can be made.",
	}[e.To]
}

// date formats a time in UTC for display, to the minute.
func date(t time.Time) string { return t.UTC().Format("2 January 2006, 15:04 UTC") }

// action returns the text about held-up numbers: the parties that must act, and the deadline.
func (r Request) action() string {
	var who []string
	for _, n := range r.Numbers {
		if n.State.Ended() || n.Failure == nil {
			continue
		}
		if name := actors[n.Failure.Code.Remedy().Act]; name != "" && !slices.Contains(who, name) {
			who = append(who, name)
		}
	}
	by := "within 30 days"
	if !r.HeldSince.IsZero() {
		by = "by " + date(r.HeldSince.Add(ActFor))
	}
	switch {
	case len(who) > 0:
		return "The losing carrier cannot go on until what is said beside the numbers below is settled. Those who must act " + by + ": " +
			strings.Join(who, " and ") + ". Otherwise the port of these numbers is canceled. If the request itself must be corrected, cancel it and make another one. " +
			"Until then keep the losing carrier's service."
	case r.held():
		return "Some of the numbers below cannot be ported. Whoever requested the port must cancel the request " + by + " and make another one without them: " +
			"otherwise the port of these numbers is canceled."
	}
	return "Numbers were held up, which is settled by now. Nobody needs to act."
}

// actors maps parties to their names in mails. It omits the losing carrier, which is not asked to act.
var actors = map[Party]string{
	ActCustomer: "whoever requested the port", ActSigner: "the authorized representative", ActOperator: "the operator of this service",
}

// Text returns the text of the mail about an entry. It shows the current states of the numbers, which may be newer than the entry.
func (r Request) Text(e Entry) string {
	var b strings.Builder
	headline := e.headline()
	fmt.Fprintf(&b, "%s%s.\n\n%s\n", strings.ToUpper(headline[:1]), headline[1:], r.next(e))
	if f := r.Failure; f != nil && e.To.Ended() {
		fmt.Fprintf(&b, "\nWhy: %s\n", f.Code.Remedy().Text)
	}
	b.WriteString("\nNumbers:\n")
	for _, n := range r.Numbers {
		fmt.Fprintf(&b, "  %s  %s\n", n.Number, n.line())
	}
	fmt.Fprintf(&b, "\nRequest: %s\nDate asked for: %s\n", r.ID, r.TargetDate.Format("2 January 2006"))
	b.WriteString("The losing carrier is the one that the numbers come from.\n")
	return b.String()
}

// line describes the state of a number, and its failure, in one line.
func (n Number) line() string {
	text := map[NumberState]string{
		NumberPending: "waits for the signature", NumberSubmitted: "on its way to the losing carrier", NumberInProgress: "the losing carrier works on it",
		NumberPorted: "ported", NumberRejected: "not ported", NumberCanceled: "canceled, stays with the losing carrier",
	}[n.State]
	switch {
	case n.State == NumberConfirmed && n.FOC.IsZero():
		text = "the date is confirmed"
	case n.State == NumberConfirmed:
		text = "is released on " + date(n.FOC)
	case n.State == NumberPorted && n.Inbound == Registered:
		text = "ported; calls come in here"
	case n.State == NumberPorted && n.Inbound == WaitsForTrunk:
		text = "ported; no calls come in yet: it waits for a trunk. Attach one for inbound calls to it"
	case n.State == NumberInProgress && n.Failure != nil:
		text = "held up"
	}
	if n.Failure != nil {
		text += ": " + n.Failure.Code.Remedy().Text
	}
	return text
}
