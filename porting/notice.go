package porting

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// mailed reports whether people are told of an entry: of every change of the state, and of what they must know or do in between.
func (e Entry) mailed() bool {
	return e.From != e.To || e.Event == CancelAsked || e.Event == CancelRefused || e.Event == Undelivered ||
		slices.Contains([]Detail{DetailAction, DetailConfirmed}, e.Detail)
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

// headline returns what has happened, in a few words.
func (e Entry) headline() string {
	switch {
	case e.Event == CancelAsked && e.To != Canceled:
		return "the carrier is asked to cancel"
	case e.Event == CancelRefused:
		return "the carrier refuses to cancel"
	case e.Event == Undelivered:
		return "the letter cannot be delivered"
	case e.Event == Declined:
		return "canceled, the signer has declined"
	case e.To == InProgress && e.Detail == DetailAction:
		return "somebody must act"
	case e.To == InProgress && e.Detail == DetailConfirmed:
		return "the date is confirmed"
	case e.To == Completed && e.Detail == DetailPartly:
		return "completed in part"
	}
	return map[State]string{
		WaitingForSignature: "a signature is needed", Submitted: "submitted to the carrier", InProgress: "in progress",
		Completed: "completed", Canceled: "canceled", Failed: "failed",
	}[e.To]
}

// next returns what happens next, and who must act.
func (e Entry) next() string {
	switch {
	case e.Event == CancelAsked && e.To != Canceled:
		return "The losing carrier decides whether the numbers can still be kept. You will be told."
	case e.Event == CancelRefused:
		return "The port goes on. To keep the numbers, ask the losing carrier."
	case e.Event == Undelivered:
		return "The mail server refuses the authorized representative's address. Whoever requested the port must cancel the request and make another one with the right address."
	case e.To == InProgress && e.Detail == DetailAction:
		return "The port waits until the cause below is settled. After 30 days it is canceled."
	case e.To == InProgress && e.Detail == DetailConfirmed:
		return "The losing carrier releases the numbers at the time below. Keep its service until then."
	case e.To == Completed && e.Detail == DetailPartly:
		return "Calls to the ported numbers are answered here. The others stay with the losing carrier: request them again when their cause is settled."
	}
	return map[State]string{
		WaitingForSignature: "The authorized representative gets another mail with the letter of authorization, and must sign it there.",
		Submitted:           "The letter is signed. The losing carrier gets the request; nobody needs to act.",
		InProgress:          "The losing carrier processes the request, which takes 7 to 14 business days. Keep its service until the numbers are ported.",
		Completed:           "Calls to the numbers are answered here. You can end the losing carrier's service.",
		Canceled:            "The numbers stay with the losing carrier.",
		Failed:              "The numbers stay with the losing carrier. A new request tries again.",
	}[e.To]
}

// Text returns the text of the mail about an entry. It shows the numbers as they are now, which may be later than the entry.
func (r Request) Text(e Entry) string {
	var b strings.Builder
	headline := e.headline()
	fmt.Fprintf(&b, "%s%s.\n\n%s\n", strings.ToUpper(headline[:1]), headline[1:], e.next())
	if f := r.Failure; f != nil && e.To.Ended() {
		fmt.Fprintf(&b, "\nWhy: %s\n", f.Code.Remedy().Text)
	}
	b.WriteString("\nNumbers:\n")
	for _, n := range r.Numbers {
		fmt.Fprintf(&b, "  %s  %s\n", n.Number, n.line())
	}
	fmt.Fprintf(&b, "\nRequest: %s\nTarget date: %s\n", r.ID, r.TargetDate.Format(time.DateOnly))
	return b.String()
}

// line returns what has become of a number, in a line.
func (n Number) line() string {
	text := strings.ReplaceAll(string(n.State), "_", " ")
	switch {
	case n.State == NumberConfirmed:
		text = "released at " + n.FOC.UTC().Format("2006-01-02 15:04 MST")
	case n.State == NumberPorted && n.Inbound == Registered:
		text = "ported; calls come in here"
	}
	if n.Failure != nil {
		text += ": " + n.Failure.Code.Remedy().Text
	}
	return text
}
