package porting_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/porting"
)

// legal is the table of docs/states/porting.md. It maps a state and an event to the next state and the permitted actors.
var legal = map[[2]string]string{
	{"", "initiated"}: "waiting_for_signature api operator",

	{"waiting_for_signature", "signed"}:             "submitted signer operator",
	{"waiting_for_signature", "letter_undelivered"}: "waiting_for_signature mail",
	{"waiting_for_signature", "letter_resent"}:      "waiting_for_signature api operator",
	{"waiting_for_signature", "declined"}:           "canceled signer",
	{"waiting_for_signature", "signature_expired"}:  "failed timer",
	{"waiting_for_signature", "cancel_asked"}:       "canceled api operator",

	{"submitted", "cancel_asked"}:   "submitted api operator",
	{"submitted", "cancel_refused"}: "submitted carrier",
	{"submitted", "accepted"}:       "in_progress carrier operator",
	{"submitted", "rejected"}:       "failed carrier timer operator",
	{"submitted", "withdrawn"}:      "canceled api carrier operator",

	{"in_progress", "changed"}:        "in_progress carrier timer operator",
	{"in_progress", "cancel_asked"}:   "in_progress api timer operator",
	{"in_progress", "cancel_refused"}: "in_progress carrier",
	{"in_progress", "ported"}:         "completed carrier timer operator",
	{"in_progress", "rejected"}:       "failed carrier operator",
	{"in_progress", "withdrawn"}:      "canceled carrier operator",
}

// TestEveryMove checks every event by every actor in every state against the table legal.
func TestEveryMove(t *testing.T) {
	t.Parallel()
	states := append([]porting.State{""}, porting.States()...)
	tried := 0
	for _, from := range states {
		for _, event := range porting.Events() {
			for _, by := range porting.Actors() {
				want := strings.Fields(legal[[2]string{string(from), string(event)}])
				to, err := from.Next(event, by)
				name := fmt.Sprintf("%q, %s by %s", from, event, by)
				tried++
				switch {
				case len(want) == 0:
					if to != from || !errors.Is(err, callwright.ErrInvalidState) {
						t.Errorf("%s: got %s, %v; it is illegal", name, to, err)
					}
				case !slices.Contains(want[1:], string(by)):
					if to != from || !errors.Is(err, callwright.ErrForbidden) {
						t.Errorf("%s: got %s, %v; this actor may not", name, to, err)
					}
				case string(to) != want[0] || err != nil:
					t.Errorf("%s: got %s, %v; want %s", name, to, err, want[0])
				}
			}
		}
	}
	if tried != 7*13*6 || len(porting.Rules()) != len(legal) {
		t.Errorf("tried %d moves and there are %d rules; the test knows %d", tried, len(porting.Rules()), len(legal))
	}
}

// TestUnknownWordsMoveNothing checks that unknown states and events, for example of another program version, are refused.
func TestUnknownWordsMoveNothing(t *testing.T) {
	t.Parallel()
	if _, err := porting.State("draft").Next(porting.Signed, porting.Signer); !errors.Is(err, callwright.ErrInvalidState) {
		t.Errorf("an unknown state gives %v", err)
	}
	if _, err := porting.Submitted.Next("lost", porting.Carrier); !errors.Is(err, callwright.ErrInvalidState) {
		t.Errorf("an unknown event gives %v", err)
	}
}

// TestRulesAreShapedWell checks that no two rules apply to the same state and event, that no rule leaves a final state, that every state is
// reachable, and that callers cannot change the rules.
func TestRulesAreShapedWell(t *testing.T) {
	t.Parallel()
	seen, reached := map[string]bool{}, map[porting.State]bool{}
	for _, r := range porting.Rules() {
		key := string(r.From) + " " + string(r.Event)
		if seen[key] || r.From.Ended() || len(r.By) == 0 {
			t.Errorf("the rule %+v is double, leaves a final state, or is for nobody", r)
		}
		seen[key], reached[r.To] = true, true
		if r.From == porting.WaitingForSignature && (r.To == porting.InProgress || r.To == porting.Completed) {
			t.Errorf("%+v: nothing goes to a carrier without a signature", r)
		}
	}
	for _, s := range porting.States() {
		if !reached[s] {
			t.Errorf("no rule leads to %s", s)
		}
	}
	porting.Rules()[0].By[0] = "spoilt"
	if porting.Rules()[0].By[0] == "spoilt" {
		t.Error("a caller has changed the table")
	}
}

// TestNumberMoves compares CanBecome with a table for every pair of states, and checks that exactly the states without a successor are
// final.
func TestNumberMoves(t *testing.T) {
	t.Parallel()
	want := map[porting.NumberState]string{
		"pending":       "submitted canceled",
		"submitted":     "in_progress foc_confirmed ported rejected canceled",
		"in_progress":   "foc_confirmed ported rejected canceled",
		"foc_confirmed": "in_progress ported rejected canceled",
	}
	for _, from := range porting.NumberStates() {
		for _, to := range porting.NumberStates() {
			legal := slices.Contains(strings.Fields(want[from]), string(to))
			if got := from.CanBecome(to); got != legal {
				t.Errorf("%s to %s: got %t, want %t", from, to, got, legal)
			}
		}
		if from.Ended() != (want[from] == "") {
			t.Errorf("%s: Ended is %t", from, from.Ended())
		}
	}
}

// TestOutcome checks that a request ends with its last number, and that its event is Ported if any number is ported, or else Rejected if
// any number is rejected, or else Withdrawn.
func TestOutcome(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		states := rapid.SliceOfN(rapid.SampledFrom(porting.NumberStates()), 0, 6).Draw(t, "states")
		has := func(s porting.NumberState) bool { return slices.Contains(states, s) }
		open := slices.ContainsFunc(states, func(s porting.NumberState) bool { return !s.Ended() })
		event, ended := porting.Outcome(states)
		var want porting.Event
		switch {
		case open, len(states) == 0:
		case has(porting.NumberPorted):
			want = porting.Ported
		case has(porting.NumberRejected):
			want = porting.Rejected
		default:
			want = porting.Withdrawn
		}
		if event != want || ended != (want != "") {
			t.Fatalf("%v: got %q, %t; want %q", states, event, ended, want)
		}
		if !ended {
			return
		}
		if _, err := porting.InProgress.Next(event, porting.Carrier); err != nil {
			t.Fatalf("%s cannot end a request: %v", event, err)
		}
	})
}

// TestRemedies checks that every failure code has exactly one remedy, with a party and a text.
func TestRemedies(t *testing.T) {
	t.Parallel()
	seen := map[porting.FailureCode]bool{}
	for _, r := range porting.Remedies() {
		if seen[r.Code] || !strings.HasSuffix(r.Text, ".") || !slices.Contains(porting.Parties(), r.Act) {
			t.Errorf("the remedy %+v is double, has no sentence or is for nobody who is known", r)
		}
		if r.Act == porting.ActCustomer && r.Field == "" && r.Code != porting.OutstandingBalance {
			t.Errorf("%s: the customer must act, but on which field?", r.Code)
		}
		if got := r.Code.Remedy(); got != r {
			t.Errorf("%s: got the remedy %+v", r.Code, got)
		}
		seen[r.Code] = true
	}
	if len(seen) != 32 {
		t.Errorf("there are %d codes, want 32", len(seen))
	}
	if got := porting.FailureCode("new").Remedy().Code; got != porting.OtherFailure {
		t.Errorf("an unknown code is %s", got)
	}
}

var update = flag.Bool("update", false, "write the tables of docs/states/porting.md")

const page = "../docs/states/porting.md"

// TestDocumentHasTheTables compares the tables of the published page with the code. The flag -update writes them.
func TestDocumentHasTheTables(t *testing.T) { //nolint:paralleltest // -update writes the file
	raw, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	text := string(raw)
	for name, table := range map[string]string{"transitions": transitions(), "numbers": numberTable(), "failures": failures()} {
		begin, end := "<!-- begin "+name+" -->\n", "<!-- end "+name+" -->"
		before, rest, found := strings.Cut(text, begin)
		written, after, closed := strings.Cut(rest, end)
		switch {
		case !found || !closed:
			t.Errorf("the page has no place for the table of %s", name)
		case *update:
			text = before + begin + table + end + after
		case written != table:
			t.Errorf("the table of %s is not that of the code: go test ./porting -run Document -update", name)
		}
	}
	if *update {
		if err := os.WriteFile(page, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func transitions() string {
	var b strings.Builder
	b.WriteString("| From | Event | To | Who may cause it |\n|---|---|---|---|\n")
	for _, r := range porting.Rules() {
		var by []string
		for _, a := range r.By {
			by = append(by, string(a))
		}
		from := "`" + string(r.From) + "`"
		if r.From == "" {
			from = "(new)"
		}
		fmt.Fprintf(&b, "| %s | `%s` | `%s` | %s |\n", from, r.Event, r.To, strings.Join(by, ", "))
	}
	return b.String()
}

func numberTable() string {
	var b strings.Builder
	b.WriteString("| State of a number | Can become |\n|---|---|\n")
	for _, from := range porting.NumberStates() {
		var next []string
		for _, to := range porting.NumberStates() {
			if from.CanBecome(to) {
				next = append(next, "`"+string(to)+"`")
			}
		}
		if len(next) == 0 {
			next = []string{"final"}
		}
		fmt.Fprintf(&b, "| `%s` | %s |\n", from, strings.Join(next, ", "))
	}
	return b.String()
}

func failures() string {
	var b strings.Builder
	b.WriteString("| Code | Who must act | Field | What to do |\n|---|---|---|---|\n")
	for _, r := range porting.Remedies() {
		field := ""
		if r.Field != "" {
			field = "`" + r.Field + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", r.Code, r.Act, field, r.Text)
	}
	return b.String()
}
