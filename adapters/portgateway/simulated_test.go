package portgateway_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/portgateway"
	"github.com/callwright/callwright/porting"
	"github.com/callwright/callwright/porting/portingtest"
)

var signed = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// clock is a clock that advances only by move.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func newSimulated(t *testing.T, c portgateway.SimulatedConfig) (*portgateway.Simulated, *clock) {
	t.Helper()
	now := &clock{now: signed}
	c.Clock = now
	s, err := portgateway.NewSimulated(c)
	if err != nil {
		t.Fatal(err)
	}
	return s, now
}

func TestSimulatedConforms(t *testing.T) {
	t.Parallel()
	last := map[portingtest.GatewayCase]callwright.PhoneNumber{
		portingtest.Ports: "00", portingtest.PortsPartly: "06", portingtest.CancelsLater: "41", portingtest.RefusesToCancel: "50",
		portingtest.PortsDespiteCancel: "51", portingtest.ReportsUnknown: "60", portingtest.RefusesOrder: "61",
		portingtest.LosesAnswer: "62", portingtest.NeverAnswers: "63",
	}
	portingtest.RunGateway(t, func(t *testing.T, c portingtest.GatewayCase) portingtest.GatewayHarness {
		s, now := newSimulated(t, portgateway.SimulatedConfig{Secret: "carrier"})
		return portingtest.GatewayHarness{
			Gateway: s, Numbers: []callwright.PhoneNumber{"+14155551234", "+141555501" + last[c]}, SignedAt: signed,
			Step: func() { now.move(6 * time.Hour) },
			Events: func(o porting.Order) (sent []portingtest.GatewayEvent) {
				for n := range 3 {
					header, body := s.Event(o, n)
					sent = append(sent, portingtest.GatewayEvent{Header: header, Body: body})
				}
				return sent
			},
		}
	})
}

// life returns the successive states of a number during 30 days, with the codes of failures, and with "(kept)" while the carrier refuses a
// cancellation. If cancelAfter is not 0, life requests the cancellation after that time.
func life(t *testing.T, digits string, cancelAfter time.Duration) (states []string) {
	t.Helper()
	s, now := newSimulated(t, portgateway.SimulatedConfig{})
	number := callwright.PhoneNumber("+141555501" + digits)
	o := porting.Order{
		Key: "k", Numbers: []callwright.PhoneNumber{number}, SignedAt: signed, TargetDate: time.Date(2026, 3, 10, 0, 0, 0, 0, time.UTC),
	}
	r, err := s.Submit(t.Context(), porting.Submission{Order: o})
	if err != nil {
		t.Fatalf("%s: %v", digits, err)
	}
	o.Ref = r.Ref
	for hour := range 24 * 30 {
		if cancelAfter > 0 && time.Duration(hour)*time.Hour == cancelAfter {
			o.CancelAskedAt = now.Now()
		}
		shot, err := s.Snapshot(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		state := string(shot.Numbers[0].State)
		if f := shot.Numbers[0].Failure; f != nil {
			state += ":" + string(f.Code)
		}
		if shot.CancelRefused {
			state += " (kept)"
		}
		if len(states) == 0 || states[len(states)-1] != state {
			states = append(states, state)
		}
		now.move(time.Hour)
	}
	return states
}

func TestMagicNumbers(t *testing.T) {
	t.Parallel()
	want := map[string]string{
		"00": "submitted, in_progress, foc_confirmed, ported",
		"40": "submitted, in_progress, foc_confirmed, in_progress:foc_rejected, foc_confirmed, ported",
		"41": "submitted, in_progress, in_progress:address_mismatch",
		"42": "submitted, in_progress, in_progress:carrier_unresponsive, ported",
		"50": "submitted, in_progress, foc_confirmed, ported",
		"51": "submitted, in_progress, foc_confirmed, ported",
		"60": "submitted, , foc_confirmed, ported",
		"99": "submitted, in_progress, foc_confirmed, ported", // not a magic number
	}
	for i, r := range porting.Remedies() {
		want[fmt.Sprintf("%02d", i+1)] = "submitted, in_progress, rejected:" + string(r.Code)
	}
	for digits, want := range want {
		if got := strings.Join(life(t, digits, 0), ", "); got != want {
			t.Errorf("%s: got %s; want %s", digits, got, want)
		}
	}
}

func TestMagicNumbersCanceled(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		digits string
		after  time.Duration
		want   string
	}{
		"at once":        {"00", time.Hour, "submitted, in_progress, canceled"},
		"with a date":    {"00", 48 * time.Hour, "submitted, in_progress, foc_confirmed, canceled"},
		"too late":       {"00", 8 * 24 * time.Hour, "submitted, in_progress, foc_confirmed, foc_confirmed (kept), ported (kept)"},
		"held up":        {"41", 20 * 24 * time.Hour, "submitted, in_progress, in_progress:address_mismatch, canceled"},
		"kept":           {"50", time.Hour, "submitted, in_progress, in_progress (kept), foc_confirmed (kept), ported (kept)"},
		"hurried":        {"51", 48 * time.Hour, "submitted, in_progress, foc_confirmed, ported"},
		"after its end":  {"06", 72 * time.Hour, "submitted, in_progress, rejected:address_mismatch"},
		"after the port": {"00", 20 * 24 * time.Hour, "submitted, in_progress, foc_confirmed, ported, ported (kept)"},
	} {
		if got := strings.Join(life(t, test.digits, test.after), ", "); got != test.want {
			t.Errorf("%s: got %s; want %s", name, got, test.want)
		}
	}
}

func TestSimulatedPace(t *testing.T) {
	t.Parallel()
	s, now := newSimulated(t, portgateway.SimulatedConfig{AcceptAfter: 1, ConfirmAfter: time.Second, PortAfter: time.Minute, CutOff: -1})
	if got := s.Capabilities().CutOff; got != 0 {
		t.Errorf("the cut-off is %s", got)
	}
	o := porting.Order{Key: "k", Numbers: []callwright.PhoneNumber{"+14155550100"}, SignedAt: signed}
	r, err := s.Submit(t.Context(), porting.Submission{Order: o})
	if err != nil {
		t.Fatal(err)
	}
	o.Ref = r.Ref
	now.move(time.Minute)
	shot, err := s.Snapshot(t.Context(), o)
	if err != nil || !shot.Numbers[0].PortedAt.Equal(signed.Add(time.Minute)) {
		t.Errorf("got %+v, %v", shot, err)
	}
	for name, c := range map[string]portgateway.SimulatedConfig{
		"negative": {AcceptAfter: -1}, "confirms first": {AcceptAfter: 48 * time.Hour}, "ports first": {PortAfter: time.Hour},
	} {
		if _, err := portgateway.NewSimulated(c); err == nil {
			t.Errorf("%s: a carrier was made", name)
		}
	}
}

func TestSimulatedChecks(t *testing.T) {
	t.Parallel()
	s, _ := newSimulated(t, portgateway.SimulatedConfig{})
	got, err := s.CheckNumbers(t.Context(), []callwright.PhoneNumber{"+14155550100", "+14155550109", "+14155550112"})
	if err != nil || len(got) != 3 {
		t.Fatalf("got %+v, %v", got, err)
	}
	if got[0].PINRequired || !got[1].PINRequired || got[2].Portable || got[2].Failure != porting.NumberNotPortable {
		t.Errorf("got %+v", got)
	}
}

// TestSimulatedWithoutSecret checks that ReadEvents rejects an event signed with an empty secret, which anyone could sign.
func TestSimulatedWithoutSecret(t *testing.T) {
	t.Parallel()
	s, _ := newSimulated(t, portgateway.SimulatedConfig{})
	header, body := s.Event(porting.Order{Ref: "r"}, 0)
	if _, err := s.ReadEvents(header, body); !errors.Is(err, callwright.ErrAuthFailure) {
		t.Errorf("got %v", err)
	}
}

func TestDocumentListsMagicNumbers(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/states/porting.md")
	if err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	table.WriteString("| Last digits | A number that ends in 55501 and these |\n|---|---|\n")
	for _, m := range portgateway.Magic() {
		fmt.Fprintf(&table, "| %s | %s |\n", m.Digits, m.What)
	}
	if !strings.Contains(string(page), table.String()) {
		t.Errorf("the page lacks this table:\n%s", table.String())
	}
}
