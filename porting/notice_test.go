package porting_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/porting"
)

// marker fills every field whose content must not appear in mails.
const marker = "hunter2"

// situations returns an example request for each detail, so that an entry with that detail can be mailed.
func situations() map[porting.Detail]porting.Request {
	at := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	number := func(last string, s porting.NumberState, code porting.FailureCode) porting.Number {
		n := porting.Number{Number: callwright.PhoneNumber("+1415555010" + last), State: s, PIN: marker, HasPIN: true}
		if code != "" {
			n.Failure = &porting.Failure{Code: code, Raw: marker}
		}
		return n
	}
	base := porting.Request{
		ID: "port_0192f3c47a5b7c8d9e0f112233445566", Org: org, TargetDate: at.Truncate(day).AddDate(0, 0, 14), Webhook: "https://hooks.example/" + marker,
		Account: porting.Account{
			CustomerType: porting.Business, BusinessName: marker, FirstName: marker, LastName: marker, AccountNumber: marker,
			Email: marker + "@example.com", NotifyEmails: []string{marker + "@example.org"},
			Address: porting.Address{Street: marker, City: marker, State: marker, Zip: marker, Country: marker},
		},
		SignBy: at.AddDate(0, 0, 14), Documents: []string{marker}, CreatedAt: at,
	}
	with := func(change func(*porting.Request), numbers ...porting.Number) porting.Request {
		r := base
		r.Numbers = numbers
		if change != nil {
			change(&r)
		}
		return r
	}
	later := number("2", porting.NumberConfirmed, "")
	later.FOC = at.AddDate(0, 0, 12)
	confirmed := number("0", porting.NumberConfirmed, "")
	confirmed.FOC = at.AddDate(0, 0, 10)
	ported := number("0", porting.NumberPorted, "")
	ported.Inbound = porting.Registered
	return map[porting.Detail]porting.Request{
		porting.DetailSignature:   with(nil, number("0", porting.NumberPending, "")),
		porting.DetailUndelivered: with(func(r *porting.Request) { r.Undelivered = true }, number("0", porting.NumberPending, "")),
		porting.DetailQueued:      with(nil, number("0", porting.NumberSubmitted, ""), number("1", porting.NumberSubmitted, "")),
		porting.DetailCarrier: with(func(r *porting.Request) { r.Ref = marker },
			number("0", porting.NumberInProgress, ""), number("1", porting.NumberInProgress, porting.CarrierUnresponsive), number("2", porting.NumberRejected, porting.NumberNotFound)),
		porting.DetailAction: with(func(r *porting.Request) { r.Ref, r.HeldSince = marker, at },
			number("0", porting.NumberInProgress, porting.OutstandingBalance), number("1", porting.NumberConfirmed, porting.ActivationFailed), later),
		porting.DetailConfirmed: with(func(r *porting.Request) { r.Ref = marker }, confirmed),
		porting.DetailCancelRequested: with(func(r *porting.Request) { r.Ref, r.CancelAskedAt = marker, at },
			number("0", porting.NumberInProgress, porting.AddressMismatch)),
		porting.DetailPartly: with(nil, ported, number("1", porting.NumberRejected, porting.PINInvalid)),
		porting.DetailNone:   with(nil, ported),
	}
}

// details returns the details that an entry caused by a rule can have.
func details(rule porting.Rule) []porting.Detail {
	return slices.DeleteFunc(slices.Clone(possible[rule.To]), func(d porting.Detail) bool {
		switch rule.Event {
		case porting.Initiated, porting.Resent:
			return d != porting.DetailSignature
		case porting.Undelivered:
			return d != porting.DetailUndelivered
		case porting.Signed:
			return d != porting.DetailQueued
		case porting.CancelAsked:
			return d != porting.DetailCancelRequested && d != porting.DetailNone
		case porting.CancelRefused:
			return d == porting.DetailCancelRequested
		default:
			return false
		}
	})
}

// possible maps each state to the details that an entry in that state can have.
var possible = map[porting.State][]porting.Detail{
	porting.WaitingForSignature: {porting.DetailSignature, porting.DetailUndelivered},
	porting.Submitted:           {porting.DetailQueued, porting.DetailCancelRequested},
	porting.InProgress:          {porting.DetailCarrier, porting.DetailAction, porting.DetailConfirmed, porting.DetailCancelRequested},
	porting.Completed:           {porting.DetailNone, porting.DetailPartly},
	porting.Canceled:            {porting.DetailNone},
	porting.Failed:              {porting.DetailNone},
}

// entry returns a request after a transition by rule, and the history entry about the transition.
func entry(rule porting.Rule, by porting.Actor, detail porting.Detail) (porting.Request, porting.Entry) {
	r := situations()[detail]
	r.State = rule.To
	end, code := porting.NumberPorted, porting.FailureCode("")
	switch {
	case rule.To == porting.Failed && rule.Event == porting.SignatureExpired:
		end, code = porting.NumberCanceled, porting.SignatureTooLate
	case rule.To == porting.Failed:
		end, code = porting.NumberRejected, porting.AddressMismatch
	case rule.Event == porting.Declined:
		end, code = porting.NumberCanceled, porting.LOADeclined
	case rule.To == porting.Canceled:
		end = porting.NumberCanceled
	}
	if end != porting.NumberPorted {
		r.Numbers = []porting.Number{{Number: "+14155550100", State: end, HasPIN: true}}
	}
	if code != "" {
		r.Failure = &porting.Failure{Code: code, Raw: marker}
	}
	if end == porting.NumberRejected {
		r.Numbers[0].Failure = r.Failure
	}
	return r, porting.Entry{Number: 7, From: rule.From, To: rule.To, Event: rule.Event, Detail: detail, Actor: by, Note: marker}
}

const mailsPage = "testdata/mails.golden"

// TestMails compares the mails for every combination of rule, detail and actor with a golden file. The flag -update writes the file.
func TestMails(t *testing.T) { //nolint:paralleltest // -update writes the file
	var mails []string
	causes := map[string][]string{}
	for _, rule := range porting.Rules() {
		for _, detail := range details(rule) {
			for _, by := range rule.By {
				r, e := entry(rule, by, detail)
				if got := r.Status().Detail; got != detail {
					t.Fatalf("the request of %s in %s has the detail %q", detail, rule.To, got)
				}
				if !e.Mailed() {
					continue
				}
				mail := "Subject: " + r.Subject(e) + "\n\n" + r.Text(e)
				checkMail(t, mail, r)
				if causes[mail] == nil {
					mails = append(mails, mail)
				}
				cause := fmt.Sprintf("%s to %s, %s, %q", orNew(rule.From), rule.To, rule.Event, detail)
				if !slices.Contains(causes[mail], cause) {
					causes[mail] = append(causes[mail], cause)
				}
			}
		}
	}
	var b strings.Builder
	for _, mail := range mails {
		fmt.Fprintf(&b, "==== %s\n%s\n", strings.Join(causes[mail], "\n==== "), mail)
	}
	if *update {
		if err := os.WriteFile(mailsPage, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	written, err := os.ReadFile(mailsPage)
	if err != nil || string(written) != b.String() {
		t.Errorf("the mails are not those of %s (%v): go test ./porting -run Mails -update", mailsPage, err)
	}
}

func orNew(s porting.State) porting.State {
	if s == "" {
		return "(new)"
	}
	return s
}

// checkMail checks that a mail has a short subject, names the request, its first number and the next step, and contains no confidential
// data.
func checkMail(t *testing.T, mail string, r porting.Request) {
	t.Helper()
	subject, text, _ := strings.Cut(mail, "\n\n")
	if strings.Contains(mail, marker) {
		t.Errorf("a mail tells what it must not:\n%s", mail)
	}
	if len(subject) > 100 || strings.HasSuffix(subject, ": ") || !strings.Contains(text, r.ID) || !strings.Contains(text, string(r.Numbers[0].Number)) {
		t.Errorf("a mail has no short subject, or does not say which request and numbers it is about:\n%s", mail)
	}
	for _, bad := range []string{"%!", "_mismatch", "0001", "  \n", "..", ". .", "foc_", "in_progress"} {
		if strings.Contains(strings.ReplaceAll(text, r.ID, ""), bad) {
			t.Errorf("a mail has %q:\n%s", bad, mail)
		}
	}
	next := strings.Split(text, "\n")[2]
	if !slices.ContainsFunc([]string{"Nobody", "Whoever", "must act", "must sign", "ask the carrier", "can be", "keep its service", "Calls"}, func(w string) bool { return strings.Contains(next, w) }) {
		t.Errorf("a mail does not say who must act:\n%s", mail)
	}
}

// TestEveryFailureIsMailed checks for every failure code that the mails about a failed or held-up request contain the reason.
func TestEveryFailureIsMailed(t *testing.T) {
	t.Parallel()
	for _, remedy := range porting.Remedies() {
		r, e := entry(porting.Rule{From: porting.InProgress, Event: porting.Rejected, To: porting.Failed}, porting.Carrier, porting.DetailNone)
		r.Failure.Code = remedy.Code
		if text := r.Text(e); !strings.Contains(text, "\nWhy: "+remedy.Text+"\n") || strings.Contains(text, marker) {
			t.Errorf("%s: the mail is\n%s", remedy.Code, text)
		}
		held := situations()[porting.DetailAction]
		held.State, held.Numbers[0].Failure.Code = porting.InProgress, remedy.Code
		if text := held.Text(porting.Entry{To: porting.InProgress, Event: porting.Changed, Detail: porting.DetailAction}); !strings.Contains(text, "held up: "+remedy.Text) ||
			!strings.Contains(text, "by 1 April 2026, 12:00 UTC") || strings.Contains(text, marker) {
			t.Errorf("%s: the mail is\n%s", remedy.Code, text)
		}
	}
}

// TestQuietEntries checks that entries without meaning to customers are not mailed.
func TestQuietEntries(t *testing.T) {
	t.Parallel()
	for _, e := range []porting.Entry{
		{From: porting.WaitingForSignature, To: porting.WaitingForSignature, Event: porting.Resent, Detail: porting.DetailSignature}, // the letter is mailed separately
		{From: porting.InProgress, To: porting.InProgress, Event: porting.Changed, Detail: porting.DetailCancelRequested},            // another mail follows
	} {
		if e.Mailed() {
			t.Errorf("%+v is mailed", e)
		}
	}
}
