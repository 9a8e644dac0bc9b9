package porting_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/porting"
)

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// order returns a request in progress whose order the carrier has accepted.
func order(numbers ...porting.Number) porting.Request {
	return porting.Request{State: porting.InProgress, Sending: true, Ref: "o1", Numbers: numbers}
}

func numberIn(s porting.NumberState) porting.Number {
	return porting.Number{Number: "+14155550100", State: s}
}

func confirmed(foc time.Time) porting.Number {
	n := numberIn(porting.NumberConfirmed)
	n.FOC = foc
	return n
}

func TestDetail(t *testing.T) {
	t.Parallel()
	held, silent := numberIn(porting.NumberInProgress), numberIn(porting.NumberInProgress)
	held.Failure = &porting.Failure{Code: porting.AddressMismatch}
	silent.Failure = &porting.Failure{Code: porting.CarrierUnresponsive}
	asked := order(held)
	asked.CancelAskedAt = noon
	queued := order(numberIn(porting.NumberSubmitted))
	queued.State, queued.Ref = porting.Submitted, ""
	partly := order(numberIn(porting.NumberPorted), numberIn(porting.NumberRejected))
	partly.State = porting.Completed
	whole := order(numberIn(porting.NumberPorted))
	whole.State = porting.Completed
	for want, r := range map[porting.Detail][]porting.Request{
		porting.DetailSignature:       {{State: porting.WaitingForSignature}},
		porting.DetailQueued:          {queued},
		porting.DetailCarrier:         {order(numberIn(porting.NumberInProgress)), order(silent), order(confirmed(noon), silent)},
		porting.DetailAction:          {order(held), order(confirmed(noon), held)},
		porting.DetailConfirmed:       {order(confirmed(noon)), order(confirmed(noon), numberIn(porting.NumberRejected))},
		porting.DetailCancelRequested: {asked},
		porting.DetailPartly:          {partly},
		porting.DetailNone:            {whole, {State: porting.Failed}, {State: porting.Canceled}},
	} {
		for i, r := range r {
			if got := r.Status().Detail; got != want {
				t.Errorf("%d of %q: got %q", i, want, got)
			}
		}
	}
}

func TestFOCIsTheEarliestThatIsOpen(t *testing.T) {
	t.Parallel()
	over := confirmed(noon)
	over.State = porting.NumberPorted
	r := order(over, confirmed(noon.Add(3*time.Hour)), confirmed(noon.Add(2*time.Hour)), numberIn(porting.NumberInProgress))
	if got := r.FOC(); !got.Equal(noon.Add(2 * time.Hour)) {
		t.Errorf("got %s", got)
	}
	if got := order(over).FOC(); !got.IsZero() {
		t.Errorf("what has ended has the date %s", got)
	}
}

func TestPlanCancel(t *testing.T) {
	t.Parallel()
	const cutOff = 48 * time.Hour
	in := func(s porting.State) porting.Request {
		r := order(numberIn(porting.NumberInProgress))
		r.State = s
		return r
	}
	unsent := in(porting.Submitted)
	unsent.Sending, unsent.Ref = false, ""
	lost := in(porting.Submitted)
	lost.Ref = ""
	asked := order(confirmed(noon.Add(time.Hour)))
	asked.CancelAskedAt = noon
	for name, test := range map[string]struct {
		r    porting.Request
		want porting.CancelPhase // empty if the cancellation is refused
		says string
	}{
		"not signed":               {in(porting.WaitingForSignature), porting.CancelDone, ""},
		"not sent":                 {unsent, porting.CancelDone, ""},
		"sent, no answer yet":      {lost, porting.CancelSoon, ""},
		"submitted":                {in(porting.Submitted), porting.CancelSoon, ""},
		"in progress":              {in(porting.InProgress), porting.CancelSoon, ""},
		"asked before":             {asked, porting.CancelSoon, ""},
		"canceled before":          {in(porting.Canceled), porting.CancelDone, ""},
		"completed":                {in(porting.Completed), "", "is completed"},
		"failed":                   {in(porting.Failed), "", "is failed"},
		"one is ported":            {order(numberIn(porting.NumberPorted), numberIn(porting.NumberInProgress)), "", "some of the numbers are ported"},
		"at the cut-off":           {order(confirmed(noon.Add(cutOff))), porting.CancelSoon, ""},
		"a moment after":           {order(confirmed(noon.Add(cutOff - 1))), "", "until 48 hours before"},
		"one of two is that near":  {order(confirmed(noon.Add(90*time.Hour)), confirmed(noon)), "", "2026-03-02T12:00:00Z"},
		"the date has passed":      {order(confirmed(noon.Add(-time.Hour))), "", "2026-03-02T11:00:00Z"},
		"that number has ended":    {order(rejected(confirmed(noon)), numberIn(porting.NumberInProgress)), porting.CancelSoon, ""},
		"it is held up, no date":   {order(numberIn(porting.NumberInProgress)), porting.CancelSoon, ""},
		"all canceled by carriers": {in(porting.Canceled), porting.CancelDone, ""},
	} {
		got, err := porting.PlanCancel(test.r, cutOff, noon)
		if test.want == "" {
			if !errors.Is(err, callwright.ErrInvalidState) || !strings.Contains(err.Error(), test.says) {
				t.Errorf("%s: got %q, %v; want a refusal that says %q", name, got, err, test.says)
			}
		} else if err != nil || got != test.want {
			t.Errorf("%s: got %q, %v; want %s", name, got, err, test.want)
		}
	}
}

func rejected(n porting.Number) porting.Number {
	n.State = porting.NumberRejected
	return n
}

func TestMasked(t *testing.T) {
	t.Parallel()
	for number, want := range map[callwright.Secret]string{
		"": "", "1": "*", "12": "*2", "12345": "***45", "1234567890": "******7890", "éèàù": "**àù",
	} {
		if got := porting.Masked(number); got != want {
			t.Errorf("%q: got %q, want %q", number.Reveal(), got, want)
		}
	}
}

// TestSecretsDoNotPrint checks that a formatted request reveals neither a PIN nor an account number.
func TestSecretsDoNotPrint(t *testing.T) {
	t.Parallel()
	n := numberIn(porting.NumberPending)
	n.PIN = "4711"
	r := order(n)
	r.Account.AccountNumber = "88231"
	for _, verb := range []string{"%v", "%+v", "%#v"} {
		if text := fmt.Sprintf(verb, r); strings.Contains(text, "4711") || strings.Contains(text, "88231") {
			t.Errorf("%s prints %s", verb, text)
		}
	}
}

func TestActBy(t *testing.T) {
	t.Parallel()
	unsigned, over := order(confirmed(noon)), order(confirmed(noon))
	unsigned.State, unsigned.SignBy, over.State = porting.WaitingForSignature, noon.Add(time.Hour), porting.Canceled
	for name, test := range map[string]struct {
		r    porting.Request
		want time.Time
	}{
		"unsigned": {unsigned, noon.Add(time.Hour)}, "confirmed": {order(confirmed(noon)), noon},
		"no date": {order(numberIn(porting.NumberInProgress)), time.Time{}}, "ended": {over, time.Time{}},
	} {
		if got := test.r.ActBy(); !got.Equal(test.want) {
			t.Errorf("%s: got %s, want %s", name, got, test.want)
		}
	}
}

// TestWaitsFor checks that WaitsFor names the party that must act for open and failed requests, and no party for completed and canceled
// ones.
func TestWaitsFor(t *testing.T) {
	t.Parallel()
	held, silent := numberIn(porting.NumberInProgress), numberIn(porting.NumberInProgress)
	held.Failure = &porting.Failure{Code: porting.AddressMismatch}
	silent.Failure = &porting.Failure{Code: porting.CarrierUnresponsive}
	unheard := order(numberIn(porting.NumberInProgress))
	unheard.Misses = 4
	for name, test := range map[string]struct {
		r    porting.Request
		want porting.Party
	}{
		"unsigned":      {porting.Request{State: porting.WaitingForSignature}, porting.ActSigner},
		"undelivered":   {porting.Request{State: porting.WaitingForSignature, Undelivered: true}, porting.ActCustomer},
		"submitted":     {porting.Request{State: porting.Submitted}, porting.ActCarrier},
		"unheard":       {unheard, porting.ActOperator},
		"held up":       {order(silent, held), porting.ActCustomer},
		"silent":        {order(silent), porting.ActCarrier},
		"completed":     {porting.Request{State: porting.Completed}, ""},
		"canceled":      {porting.Request{State: porting.Canceled}, ""},
		"failed":        {porting.Request{State: porting.Failed, Failure: &porting.Failure{Code: porting.GatewayError}}, porting.ActOperator},
		"not to be had": {porting.Request{State: porting.Failed, Failure: &porting.Failure{Code: porting.NumberNotPortable}}, porting.ActNobody},
	} {
		if got := test.r.WaitsFor(); got != test.want {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
	}
}
