package alert_test

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/callwright/callwright/sip/alert"
	"github.com/callwright/callwright/sip/health"
)

var (
	start = time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
	trunk = alert.Trunk{ID: "t1", Org: "a", Number: "+15550000001", Direction: "outbound"}

	config = alert.Config{Enabled: true, Thresholds: alert.Thresholds{
		Unreachable: 5 * time.Minute, FailureRate: 20, ResponseTime: 500 * time.Millisecond,
	}}
	fine = alert.Measured{Ended: 10, Samples: 10, ResponseTime: time.Millisecond}
	bad  = map[alert.Kind]alert.Measured{
		alert.Unreachable:  {Unreachable: true},
		alert.FailureRate:  {Ended: 10, Failed: 2},
		alert.ResponseTime: {Samples: 10, ResponseTime: 500 * time.Millisecond},
	}
)

// run contains the alerts of a simulated trunk, its clock, and the notices sent.
type run struct {
	config  alert.Config
	states  alert.States
	now     time.Time
	last    time.Time
	notices []alert.Notice
}

func newRun() *run { return &run{config: config, now: start} }

func (r *run) look(m alert.Measured) []alert.Notice {
	m.LookedAt, r.last = r.last, r.now
	var told []alert.Notice
	r.states, told = r.config.Evaluate(trunk, r.states, m, r.now)
	r.notices = append(r.notices, told...)
	return told
}

// lasting evaluates the same measurement every second until d has passed.
func (r *run) lasting(d time.Duration, m alert.Measured) {
	for end := r.now.Add(d); r.now.Before(end); r.now = r.now.Add(time.Second) {
		r.look(m)
	}
}

// wantOnly checks the ids of the notices since the last check.
func (r *run) wantOnly(t *testing.T, what string, want ...string) {
	t.Helper()
	var got []string
	for _, n := range r.notices {
		got = append(got, n.ID)
	}
	r.notices = nil
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("%s: told %v, want %v", what, got, want)
	}
}

func TestEachKind(t *testing.T) {
	t.Parallel()
	for kind, m := range bad {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			id := "t1." + string(kind) + "."
			r := newRun()
			r.lasting(time.Minute, fine)
			r.wantOnly(t, "while all is well")
			if kind == alert.Unreachable {
				r.lasting(config.Thresholds.Unreachable, m)
				r.wantOnly(t, "before it has lasted")
			}
			r.lasting(time.Second, m)
			r.wantOnly(t, "when it is crossed", id+"1")
			r.lasting(time.Hour, m)
			r.wantOnly(t, "while it goes on")
			r.lasting(alert.ClearFor, fine)
			r.wantOnly(t, "when it has just cleared")
			r.lasting(time.Second, fine)
			r.wantOnly(t, "when it has been clear for a while", id+"2")
			r.lasting(alert.Quiet-time.Second, m)
			r.wantOnly(t, "while it is quiet")
			r.lasting(time.Second, m)
			r.wantOnly(t, "when the quiet is over, and it is still crossed", id+"3")
		})
	}
}

func TestNotice(t *testing.T) {
	t.Parallel()
	r := newRun()
	r.lasting(5*time.Minute+time.Second, bad[alert.Unreachable])
	up := alert.Notice{
		ID: "t1.unreachable.1", Org: "a", Kind: alert.Unreachable, Number: "+15550000001", Direction: "outbound",
		Value: 5, Threshold: 5, TriggeredAt: start.Add(5 * time.Minute),
	}
	if len(r.notices) != 1 || r.notices[0] != up {
		t.Fatalf("told %+v", r.notices)
	}
	r.lasting(2*time.Minute+time.Second, fine)
	down := r.notices[1]
	if down.ResolvedAt == nil || !down.ResolvedAt.Equal(start.Add(7*time.Minute+time.Second)) {
		t.Fatalf("resolved at %v", down.ResolvedAt)
	}
	up.ID, up.Value, up.ResolvedAt = "t1.unreachable.2", 0, down.ResolvedAt
	if down != up {
		t.Errorf("told %+v, want %+v", down, up)
	}
	rate := newRun().look(alert.Measured{Ended: 9, Failed: 3})
	if len(rate) != 1 || rate[0].Value != 33.33 || rate[0].Threshold != 20 {
		t.Errorf("a third of the calls: %+v", rate)
	}
	slow := newRun().look(bad[alert.ResponseTime])
	if len(slow) != 1 || slow[0].Value != 500 || slow[0].Threshold != 500 {
		t.Errorf("half a second: %+v", slow)
	}
}

func TestNoEvidenceNoAlert(t *testing.T) {
	t.Parallel()
	for name, m := range map[string]alert.Measured{
		"few attempts":   {Ended: alert.MinAttempts - 1, Failed: alert.MinAttempts - 1},
		"just below":     {Ended: 1000, Failed: 199},
		"few samples":    {Samples: alert.MinSamples - 1, ResponseTime: time.Minute},
		"just in time":   {Samples: 60, ResponseTime: 500*time.Millisecond - 1},
		"nothing at all": {},
	} {
		r := newRun()
		r.lasting(time.Minute, m)
		r.wantOnly(t, name)
		if len(r.states) != 0 {
			t.Errorf("%s: left %+v", name, r.states)
		}
	}
	everything := alert.Measured{Unreachable: true, Ended: 9, Failed: 9, Samples: 9, ResponseTime: time.Hour}
	r := newRun()
	r.config.Thresholds = alert.Thresholds{}
	r.lasting(time.Hour, everything)
	r.wantOnly(t, "without thresholds")
	if got := (alert.Thresholds{}).Window(); got != 15*time.Minute {
		t.Errorf("the window is %s", got)
	}
}

// TestRestart checks that durations do not continue over a gap of an hour between measurements.
func TestRestart(t *testing.T) {
	t.Parallel()
	r := newRun()
	r.lasting(4*time.Minute, bad[alert.Unreachable])
	r.now = r.now.Add(time.Hour)
	r.lasting(5*time.Minute, bad[alert.Unreachable])
	r.wantOnly(t, "after the restart")
	r.lasting(time.Second, bad[alert.Unreachable])
	r.wantOnly(t, "when it has lasted again", "t1.unreachable.1")
	r.lasting(time.Minute, fine)
	r.now = r.now.Add(health.MaxGap + time.Second)
	r.lasting(alert.ClearFor, fine)
	r.wantOnly(t, "after another restart")
	r.lasting(time.Second, fine)
	r.wantOnly(t, "when it has been clear again", "t1.unreachable.2")
}

func TestEvaluateKeepsItsInput(t *testing.T) {
	t.Parallel()
	states := alert.States{alert.FailureRate: {Edges: 4}}
	config.Evaluate(trunk, states, bad[alert.FailureRate], start)
	if len(states) != 1 || states[alert.FailureRate] != (alert.State{Edges: 4}) {
		t.Errorf("it is %+v", states)
	}
}

// TestEdges checks for random measurements that notices of each kind are alternately raised and resolved, have unique ids, respect the
// quiet time, and match the states.
func TestEdges(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r := newRun()
		ups := map[alert.Kind]time.Time{}
		raised := map[alert.Kind]bool{}
		ids := map[string]bool{}
		down := false
		for range rapid.IntRange(1, 200).Draw(t, "looks") {
			m := fine
			if rapid.IntRange(0, 9).Draw(t, "turn") == 0 {
				down = !down
			}
			m.Unreachable = down
			m.Failed = rapid.IntRange(0, 4).Draw(t, "failed")
			m.ResponseTime = time.Duration(rapid.IntRange(1, 999).Draw(t, "ms")) * time.Millisecond
			for _, n := range r.look(m) {
				up := n.ResolvedAt == nil
				if up == raised[n.Kind] || ids[n.ID] {
					t.Fatalf("told %+v, raised before: %t", n, raised[n.Kind])
				}
				if since := n.TriggeredAt.Sub(ups[n.Kind]); up && since < alert.ClearFor+alert.Quiet {
					t.Fatalf("%s raised again after %s", n.Kind, since)
				}
				if up {
					ups[n.Kind] = n.TriggeredAt
				}
				raised[n.Kind], ids[n.ID] = up, true
			}
			for kind, s := range r.states {
				if s.Raised != raised[kind] {
					t.Fatalf("%s is raised: %t", kind, s.Raised)
				}
			}
			r.now = r.now.Add(time.Duration(rapid.IntRange(1, 120).Draw(t, "seconds")) * time.Second)
		}
	})
}

func TestText(t *testing.T) {
	t.Parallel()
	over := start.Add(time.Hour)
	for want, n := range map[string]alert.Notice{
		"has an unreachable server":    {Kind: alert.Unreachable},
		"has all of its servers again": {Kind: alert.Unreachable, ResolvedAt: &over},
		"has too many failed calls":    {Kind: alert.FailureRate},
		"has few failed calls again":   {Kind: alert.FailureRate, ResolvedAt: &over},
		"answers slowly":               {Kind: alert.ResponseTime},
		"answers fast enough again":    {Kind: alert.ResponseTime, ResolvedAt: &over},
	} {
		n.Number, n.Direction, n.Value, n.Threshold, n.TriggeredAt = trunk.Number, trunk.Direction, 33.33, 20, start
		some := n
		some.Others = 2
		if got := some.Subject(); got != "SIP trunk +15550000001 (outbound, and 2 more numbers) "+want {
			t.Errorf("of three numbers: %q", got)
		}
		if got := n.Subject(); got != "SIP trunk +15550000001 (outbound) "+want {
			t.Errorf("subject %q", got)
		}
		text := n.Text()
		for _, part := range []string{n.Subject(), "33.33", "20", "2026-05-04T03:02:01Z"} {
			if !strings.Contains(text, part) {
				t.Errorf("%q lacks %q", text, part)
			}
		}
		if got := strings.Contains(text, "2026-05-04T04:02:01Z"); got != (n.ResolvedAt != nil) {
			t.Errorf("%q tells the end: %t", text, got)
		}
	}
}

// TestDue checks that measurements before Due send no notice, and that a measurement at Due sends the notice.
func TestDue(t *testing.T) {
	t.Parallel()
	r := newRun()
	if at, ok := r.config.Due(r.states); ok {
		t.Errorf("of a trunk that is well, at %s", at)
	}
	step := func(what string, m alert.Measured, after time.Duration, told int) {
		t.Helper()
		r.look(m)
		at, ok := r.config.Due(r.states)
		if !ok || !at.Equal(r.now.Add(after)) {
			t.Fatalf("%s: due %s later, %t; want %s", what, at.Sub(r.now), ok, after)
		}
		for r.now = r.now.Add(time.Minute); r.now.Before(at); r.now = r.now.Add(time.Minute) {
			if early := r.look(m); len(early) > 0 {
				t.Errorf("%s: told %s before it is due", what, at.Sub(r.now))
			}
		}
		r.now = at
		if now := r.look(m); len(now) != told {
			t.Errorf("%s: told %v", what, now)
		}
	}
	step("unreachable", bad[alert.Unreachable], config.Thresholds.Unreachable, 1)
	if _, ok := r.config.Due(r.states); ok {
		t.Error("while it is raised there is nothing to wait for")
	}
	step("clear", fine, alert.ClearFor, 1)
	step("again", bad[alert.Unreachable], alert.Quiet, 1)
}
