package failover_test

import (
	"slices"
	"testing"

	"github.com/callwright/callwright/sip/failover"
)

// These statuses come from the callee, not from the trunk. They must be final for every configuration.
var never = []int{404, 410, 480, 484, 486, 487, 488, 600, 603, 604, 606, 607, 608}

// TestEveryOutcome compares Classify with the documented rules for every final status and every combination of flags.
func TestEveryOutcome(t *testing.T) {
	t.Parallel()
	codes := []int{0}
	for code := 200; code < 700; code++ {
		codes = append(codes, code)
	}
	for _, code := range codes {
		for flags := range 8 {
			o := failover.Outcome{Code: code, Connected: flags&1 > 0, Rang: flags&2 > 0, Authenticated: flags&4 > 0}
			got, ok := failover.Classify(o)
			want := expected(o)
			if got != want || ok != (want != "") {
				t.Errorf("%+v: %q, %t; want %q", o, got, ok, want)
			}
			if ok && slices.Contains(never, code) {
				t.Errorf("%+v moves the call", o)
			}
			if ok && o.Rang {
				t.Errorf("%+v rang, and moves the call", o)
			}
		}
	}
}

// expected implements the documented rules of Classify independently.
func expected(o failover.Outcome) failover.Trigger {
	silent := o.Code == 0
	refused := o.Code == 401 || o.Code == 407
	outOfOrder := o.Code == 408 || o.Code == 502 || o.Code == 503 || o.Code == 504
	switch {
	case !o.Rang && (silent && !o.Connected || outOfOrder):
		return failover.Unreachable
	case !o.Rang && silent:
		return failover.Timeout
	case !o.Rang && refused && o.Authenticated:
		return failover.AuthFailure
	default:
		return ""
	}
}

func TestNext(t *testing.T) {
	t.Parallel()
	outcomes := map[failover.Trigger]failover.Outcome{
		failover.Unreachable: {}, failover.Timeout: {Connected: true},
		failover.AuthFailure: {Connected: true, Code: 401, Authenticated: true}, "": {Connected: true, Code: 486},
	}
	all := []failover.Trigger{failover.Unreachable, failover.AuthFailure, failover.Timeout}
	for chosen := range 8 {
		var triggers []failover.Trigger
		for i, trigger := range all {
			if chosen&(1<<i) > 0 {
				triggers = append(triggers, trigger)
			}
		}
		for trigger, outcome := range outcomes {
			want := trigger != "" && (len(triggers) == 0 || slices.Contains(triggers, trigger))
			on := failover.Config{Enabled: true, Triggers: triggers}
			if got := on.Next(outcome); got != want {
				t.Errorf("with %v, %q: %t", triggers, trigger, got)
			}
			if off := (failover.Config{Triggers: triggers}); off.Next(outcome) {
				t.Errorf("disabled, %q moves the call", trigger)
			}
		}
	}
}

func TestServerString(t *testing.T) {
	t.Parallel()
	for want, s := range map[string]failover.Server{
		"pbx.example.com": {Host: "pbx.example.com"}, "pbx.example.com:5061": {Host: "pbx.example.com", Port: 5061},
		"[2001:db8::1]:5061": {Host: "2001:db8::1", Port: 5061},
	} {
		if got := s.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
