package ports

import (
	"slices"
	"time"

	"github.com/callwright/callwright/porting"
	"github.com/callwright/callwright/transport/dashboard/internal/page"
)

// state returns the badge of a request's state. The badge is a warning, not a success, if some numbers were not ported or a ported number
// has no inbound trunk.
func state(r porting.Request) page.Badge {
	if d := r.Status().Detail; d == porting.DetailPartly || d == porting.DetailTrunk {
		return page.Badge{Kind: "warn", Text: page.Words(r.State)}
	}
	return page.Badge{Kind: map[porting.State]string{
		porting.WaitingForSignature: "warn", porting.Submitted: "busy", porting.InProgress: "busy", porting.Completed: "good",
		porting.Canceled: "plain", porting.Failed: "bad",
	}[r.State], Text: page.Words(r.State)}
}

// left returns the rejected numbers of a partial port. It returns nil for other requests.
func left(r porting.Request) []porting.Number {
	if r.Status().Detail != porting.DetailPartly {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(r.Numbers), func(n porting.Number) bool { return n.State != porting.NumberRejected })
}

func numberBadge(s porting.NumberState) page.Badge {
	switch s {
	case porting.NumberPorted:
		return page.Badge{Kind: "good", Text: page.Words(s)}
	case porting.NumberRejected:
		return page.Badge{Kind: "bad", Text: page.Words(s)}
	case porting.NumberSubmitted, porting.NumberInProgress, porting.NumberConfirmed:
		return page.Badge{Kind: "busy", Text: page.Words(s)}
	case porting.NumberPending, porting.NumberCanceled:
	}
	return page.Badge{Kind: "plain", Text: page.Words(s)}
}

// day returns the date of a time in UTC, or a dash for the zero time.
func day(t time.Time) string {
	if t.IsZero() {
		return "–"
	}
	return t.UTC().Format(time.DateOnly)
}

// remedy returns the remedy for a failure, in words for customers, or an empty text for nil. It never quotes the carrier.
func remedy(f *porting.Failure) string {
	if f == nil {
		return ""
	}
	return f.Code.Remedy().Text
}

// acts returns the party that must act, as the beginning of a sentence, or an empty text if no party must act.
func acts(p porting.Party) string {
	switch p {
	case porting.ActCustomer:
		return "You"
	case porting.ActSigner:
		return "The signer"
	case porting.ActCarrier:
		return "The losing carrier"
	case porting.ActOperator:
		return "The operator"
	case porting.ActNobody:
	}
	return ""
}

// step is a stage of a request, as the page shows it.
type step struct {
	Text    string
	At      time.Time // when the request reached it; zero if it has not
	Current bool
}

// steps returns the stages of a request, with the times at which its history reached them. For a canceled or failed request, the last stage
// is that state, and the stages that the request never reached are omitted.
func steps(r porting.Request, history []porting.Entry) []step {
	way := []porting.State{porting.WaitingForSignature, porting.Submitted, porting.InProgress, porting.Completed}
	early := r.State == porting.Canceled || r.State == porting.Failed
	if early {
		way[3] = r.State
	}
	all := make([]step, len(way))
	for n, s := range way {
		all[n] = step{Text: page.Words(s), Current: s == r.State}
		for _, e := range history {
			if e.To == s && e.From != s {
				all[n].At = e.At
			}
		}
	}
	return slices.DeleteFunc(all, func(s step) bool { return early && s.At.IsZero() && !s.Current })
}
