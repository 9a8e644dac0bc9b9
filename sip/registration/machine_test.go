package registration_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/registration"
)

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

var phases = []registration.Phase{
	registration.Waiting, registration.Registering, registration.Bound, registration.Refreshing, registration.Denied, registration.Ended,
}

var kinds = []registration.Kind{
	registration.Due, registration.Granted, registration.Refused, registration.Failed, registration.Lost, registration.Removed,
}

// in returns a machine in the given phase, with fields as legal moves would set them.
func in(p registration.Phase) registration.Machine {
	m := registration.Machine{Phase: p, Registration: sip.Registration{State: sip.Registering, Since: start, NextAt: start}}
	switch p {
	case registration.Bound, registration.Refreshing:
		m.State, m.ExpiresAt = sip.Registered, start.Add(time.Hour)
	case registration.Denied:
		m.State, m.Failures, m.Reason = sip.Refused, 1, "403 Forbidden"
	default:
	}
	return m
}

// TestEveryMove checks for every event in every phase that it leads to the phase in this table, or is refused.
func TestEveryMove(t *testing.T) {
	t.Parallel()
	const no = registration.Phase(-1)
	want := map[registration.Phase][]registration.Phase{
		//                       Due                    Granted             Refused              Failed                Lost                  Removed
		registration.Waiting:     {registration.Registering, no, no, no, registration.Waiting, registration.Ended},
		registration.Registering: {no, registration.Bound, registration.Denied, registration.Waiting, registration.Registering, registration.Ended},
		registration.Bound:       {registration.Refreshing, no, no, no, registration.Waiting, registration.Ended},
		registration.Refreshing:  {no, registration.Bound, registration.Denied, registration.Bound, registration.Registering, registration.Ended},
		registration.Denied:      {registration.Registering, no, no, no, registration.Denied, registration.Ended},
		registration.Ended:       {no, no, no, no, no, no},
	}
	for _, p := range phases {
		for i, k := range kinds {
			before := in(p)
			after, err := before.Next(registration.Event{Kind: k, For: time.Hour, Reason: "why"}, start, 0.5)
			switch to := want[p][i]; {
			case to == no && (err == nil || after != before):
				t.Errorf("phase %d takes event %d and becomes %+v, %v", p, k, after, err)
			case to != no && (err != nil || after.Phase != to):
				t.Errorf("phase %d after event %d is %d, %v; want %d", p, k, after.Phase, err, to)
			}
		}
	}
}

func next(t *testing.T, m registration.Machine, e registration.Event, now time.Time, chance float64) registration.Machine {
	t.Helper()
	m, err := m.Next(e, now, chance)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestRefreshAt85Percent(t *testing.T) {
	t.Parallel()
	for granted, want := range map[time.Duration]time.Duration{
		time.Hour:           51 * time.Minute,
		100 * time.Second:   85 * time.Second,
		time.Second:         time.Second,
		30 * 24 * time.Hour: 24 * time.Hour * 85 / 100,
	} {
		m := next(t, in(registration.Registering), registration.Event{Kind: registration.Granted, For: granted}, start, 1)
		if got := m.NextAt.Sub(start); got != want || m.State != sip.Registered || m.Since != start || m.Failures != 0 || m.Reason != "" {
			t.Errorf("granted %s: %+v", granted, m)
		}
		if m.ExpiresAt.Sub(start) != min(granted, 24*time.Hour) {
			t.Errorf("granted %s expires after %s", granted, m.ExpiresAt.Sub(start))
		}
	}
}

func TestWaits(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name      string
		kind      registration.Kind
		failures  int // number of failures before the event
		after     time.Duration
		low, high time.Duration // waits for chance 0 and 1
	}{
		{"first failure", registration.Failed, 0, 0, 500 * time.Millisecond, time.Second},
		{"third failure", registration.Failed, 2, 0, 2 * time.Second, 4 * time.Second},
		{"tenth failure", registration.Failed, 9, 0, 150 * time.Second, 5 * time.Minute},
		{"thousandth failure", registration.Failed, 999, 0, 150 * time.Second, 5 * time.Minute},
		{"failure with Retry-After", registration.Failed, 0, time.Minute, time.Minute, time.Minute},
		{"absurd Retry-After", registration.Failed, 0, 99 * time.Hour, time.Hour, time.Hour},
		{"first refusal", registration.Refused, 0, 0, 5 * time.Minute, 330 * time.Second},
		{"second refusal", registration.Refused, 1, 0, 10 * time.Minute, 11 * time.Minute},
		{"hundredth refusal", registration.Refused, 99, 0, 30 * time.Minute, 30 * time.Minute},
		{"refusal with Retry-After", registration.Refused, 0, 40 * time.Minute, 40 * time.Minute, 40 * time.Minute},
	} {
		for chance, want := range map[float64]time.Duration{0: tt.low, 1: tt.high} {
			m := in(registration.Registering)
			m.Failures = tt.failures
			m = next(t, m, registration.Event{Kind: tt.kind, After: tt.after, Reason: "why"}, start, chance)
			if got := m.NextAt.Sub(start); got != want || m.Failures != tt.failures+1 || m.Reason != "why" {
				t.Errorf("%s: %s, want %s; %+v", tt.name, got, want, m)
			}
		}
	}
}

// TestRefreshFails checks that a binding remains valid while its refreshes fail, but not after its expiry.
func TestRefreshFails(t *testing.T) {
	t.Parallel()
	fail := registration.Event{Kind: registration.Failed, Reason: "no answer"}
	m := in(registration.Refreshing)
	m = next(t, m, fail, m.ExpiresAt.Add(-time.Millisecond), 1)
	if m.Phase != registration.Bound || m.State != sip.Registered || m.NextAt != m.ExpiresAt || m.Since != start {
		t.Errorf("before its end: %+v", m)
	}
	end := m.ExpiresAt
	m = next(t, next(t, m, registration.Event{Kind: registration.Due}, end, 1), fail, end, 1)
	if m.Phase != registration.Waiting || m.State != sip.Registering || !m.ExpiresAt.IsZero() || m.Since != end {
		t.Errorf("after its end: %+v", m)
	}
}

func TestLostConnection(t *testing.T) {
	t.Parallel()
	lost := registration.Event{Kind: registration.Lost, Reason: "the connection was lost"}
	m := next(t, in(registration.Bound), lost, start, 0.5)
	if m.State != sip.Registering || m.NextAt.Sub(start) != time.Second || !m.ExpiresAt.IsZero() || m.Reason == "" {
		t.Errorf("%+v", m)
	}
	again := next(t, m, lost, start.Add(time.Minute), 1)
	if again != m {
		t.Errorf("a second loss changes %+v into %+v", m, again)
	}
	denied := in(registration.Denied)
	if m := next(t, denied, lost, start, 1); m != denied {
		t.Errorf("a loss changes %+v into %+v", denied, m)
	}
}

// TestRefusedAgain checks that after several refusals in a row Since is the time of the first refusal.
func TestRefusedAgain(t *testing.T) {
	t.Parallel()
	m, later := in(registration.Denied), start.Add(time.Hour)
	m = next(t, m, registration.Event{Kind: registration.Due}, later, 0)
	m = next(t, m, registration.Event{Kind: registration.Refused, Reason: "403 again"}, later, 0)
	if m.State != sip.Refused || m.Since != start || m.Failures != 2 || m.Reason != "403 again" {
		t.Errorf("%+v", m)
	}
	m = next(t, m, registration.Event{Kind: registration.Due}, later, 0)
	m = next(t, m, registration.Event{Kind: registration.Failed, Reason: "silence"}, later, 0)
	if m.State != sip.Registering || m.Since != later {
		t.Errorf("%+v", m)
	}
}

func TestResume(t *testing.T) {
	t.Parallel()
	later := start.Add(time.Hour)
	for state, want := range map[sip.RegistrationState]registration.Phase{
		sip.Registering: registration.Waiting, sip.Registered: registration.Waiting, sip.Refused: registration.Denied,
	} {
		row := sip.Registration{TrunkID: "t", State: state, NextAt: later, ExpiresAt: later}
		m := registration.Resume(row, start, 1)
		if m.Phase != want {
			t.Errorf("%s: %+v", state, m)
		}
		if soon := m.NextAt.Sub(start) <= 2*time.Second; soon != (state == sip.Registered) {
			t.Errorf("%s is to be tried at %s", state, m.NextAt)
		}
	}
}

// TestInvariants checks for random events that the state matches the phase, only a binding has an expiry, every idle phase has a next time,
// and no attempt follows a refusal within five minutes.
func TestInvariants(t *testing.T) {
	t.Parallel()
	shown := map[registration.Phase]sip.RegistrationState{
		registration.Waiting: sip.Registering, registration.Registering: sip.Registering, registration.Bound: sip.Registered,
		registration.Refreshing: sip.Registered, registration.Denied: sip.Refused, registration.Ended: sip.Registering,
	}
	rapid.Check(t, func(t *rapid.T) {
		m, now := registration.Resume(sip.Registration{State: sip.Registering, NextAt: start}, start, 0), start
		for range rapid.IntRange(1, 60).Draw(t, "events") {
			now = now.Add(time.Duration(rapid.Int64Range(0, int64(time.Hour/time.Microsecond)).Draw(t, "passed")) * time.Microsecond)
			e := registration.Event{
				Kind: rapid.SampledFrom(kinds[:5]).Draw(t, "kind"), For: time.Duration(rapid.Int64Range(1, int64(48*time.Hour)).Draw(t, "granted")),
			}
			after, err := m.Next(e, now, rapid.Float64Range(0, 1).Draw(t, "chance"))
			if err != nil {
				continue
			}
			m = after
			if again := m.Phase == registration.Registering && m.State == sip.Refused; m.State != shown[m.Phase] && !again {
				t.Fatalf("%+v", m)
			}
			if bound := m.State == sip.Registered; bound == m.ExpiresAt.IsZero() {
				t.Fatalf("bound %t, %+v", bound, m)
			}
			if e.Kind == registration.Refused && m.NextAt.Sub(now) < 5*time.Minute {
				t.Fatalf("again after %s", m.NextAt.Sub(now))
			}
			if e.Kind == registration.Failed && (m.NextAt.Before(now) || m.NextAt.Sub(now) > 5*time.Minute) {
				t.Fatalf("again after %s", m.NextAt.Sub(now))
			}
		}
	})
}
