package failover_test

import (
	"slices"
	"testing"

	"github.com/callwright/callwright/sip/failover"
	"github.com/callwright/callwright/sip/health"
)

var states = []health.State{health.Unchecked, health.Healthy, health.Suspect, health.Unreachable, health.Recovering}

func down(s health.State) bool { return s == health.Unreachable || s == health.Recovering }

// everyTrunk calls f with every combination of states of one to three servers, and with each server as the active one.
func everyTrunk(f func(servers []health.State, active int)) {
	var grow func(servers []health.State)
	grow = func(servers []health.State) {
		for active := range servers {
			f(slices.Clone(servers), active)
		}
		if len(servers) == failover.MaxServers {
			return
		}
		for _, s := range states {
			grow(append(slices.Clone(servers), s))
		}
	}
	grow(nil)
}

// TestActive checks the rules of Active for every combination of states, active server and Failback.
func TestActive(t *testing.T) {
	t.Parallel()
	count := 0
	everyTrunk(func(servers []health.State, active int) {
		for _, back := range []failover.Failback{"", failover.Auto, failover.Manual} {
			count++
			got := failover.Active(back, active, servers)
			allDown := !slices.ContainsFunc(servers, func(s health.State) bool { return !down(s) })
			moved := got != active
			switch {
			case got < 0 || got >= len(servers):
				t.Fatalf("%v from %d: %d", servers, active, got)
			case allDown && moved:
				t.Errorf("%v from %d: moved to %d though none is better", servers, active, got)
			case !allDown && down(servers[got]):
				t.Errorf("%v from %d: stays at %d, which is down", servers, active, got)
			case !down(servers[active]) && got > active:
				t.Errorf("%v from %d: left it for %d", servers, active, got)
			case !down(servers[active]) && moved && back == failover.Manual:
				t.Errorf("%v from %d: went back to %d by itself", servers, active, got)
			case !down(servers[active]) && moved && servers[got] != health.Healthy:
				t.Errorf("%v from %d: went back to %d, which is not healthy yet", servers, active, got)
			case !down(servers[active]) && back != failover.Manual && slices.Contains(servers[:got], health.Healthy):
				t.Errorf("%v from %d: a server before %d is healthy", servers, active, got)
			case failover.Active(back, got, servers) != got:
				t.Errorf("%v from %d: does not stay at %d", servers, active, got)
			}
		}
	})
	if want := 3 * (5 + 2*25 + 3*125); count != want {
		t.Errorf("%d trunks, want %d", count, want)
	}
}

func TestActiveOfAnotherList(t *testing.T) {
	t.Parallel()
	for _, current := range []int{-1, 1, 7} {
		if got := failover.Active(failover.Manual, current, []health.State{health.Healthy}); got != 0 {
			t.Errorf("from %d: %d", current, got)
		}
	}
	if got := failover.Active(failover.Auto, 0, nil); got != 0 {
		t.Errorf("of none: %d", got)
	}
}

func TestOrder(t *testing.T) {
	t.Parallel()
	everyTrunk(func(servers []health.State, active int) {
		got := failover.Order(active, servers)
		var want, all []int
		if !down(servers[active]) {
			want = append(want, active)
		}
		for i, s := range servers {
			all = append(all, i)
			if i != active && !down(s) {
				want = append(want, i)
			}
		}
		if len(want) == 0 {
			want = all
		}
		if !slices.Equal(got, want) {
			t.Errorf("%v, active %d: %v, want %v", servers, active, got, want)
		}
	})
}
