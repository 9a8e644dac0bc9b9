package ports

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/callwright/callwright/porting"
)

// badge is a state as people see it.
type badge struct{ Kind, Text string }

// words shows a name of the domain, such as "in_progress", as words.
func words(name any) string { return strings.ReplaceAll(fmt.Sprint(name), "_", " ") }

func state(s porting.State) badge {
	return badge{map[porting.State]string{
		porting.WaitingForSignature: "warn", porting.Submitted: "busy", porting.InProgress: "busy", porting.Completed: "good",
		porting.Canceled: "plain", porting.Failed: "bad",
	}[s], words(s)}
}

func numberBadge(s porting.NumberState) badge {
	switch s {
	case porting.NumberPorted:
		return badge{"good", words(s)}
	case porting.NumberRejected:
		return badge{"bad", words(s)}
	case porting.NumberSubmitted, porting.NumberInProgress, porting.NumberConfirmed:
		return badge{"busy", words(s)}
	case porting.NumberPending, porting.NumberCanceled:
	}
	return badge{"plain", words(s)}
}

// day shows a date without its time.
func day(t time.Time) string {
	if t.IsZero() {
		return "–"
	}
	return t.UTC().Format(time.DateOnly)
}

// remedy says what customers are told of a failure: never the words of the carrier.
func remedy(f *porting.Failure) string {
	if f == nil {
		return ""
	}
	return f.Code.Remedy().Text
}

// acts says who must act, as a sentence begins; empty: nobody.
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

// step is a stage of a request's life.
type step struct {
	Text    string
	At      time.Time // when it was reached; zero: not yet
	Current bool
}

// steps returns the way of a request to its end, as far as its history tells. One that has ended early leaves out what it has not reached.
func steps(r porting.Request, history []porting.Entry) []step {
	way := []porting.State{porting.WaitingForSignature, porting.Submitted, porting.InProgress, porting.Completed}
	early := r.State == porting.Canceled || r.State == porting.Failed
	if early {
		way[3] = r.State
	}
	all := make([]step, len(way))
	for n, s := range way {
		all[n] = step{Text: words(s), Current: s == r.State}
		for _, e := range history {
			if e.To == s && e.From != s {
				all[n].At = e.At
			}
		}
	}
	return slices.DeleteFunc(all, func(s step) bool { return early && s.At.IsZero() && !s.Current })
}
