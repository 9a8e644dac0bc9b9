package failover

import (
	"slices"

	"github.com/callwright/callwright/sip/health"
)

// Active is which of a trunk's servers calls go to first, given which it was and how all of them are, by priority. From
// a server that is unreachable calls go to the best of the others, if there is one that is not. Back to a server of a
// higher priority they go by themselves only with Auto, and only once it is healthy, which takes two answers.
func Active(back Failback, current int, servers []health.State) int {
	if current < 0 || current >= len(servers) {
		return 0
	}
	if servers[current].Public() == health.Unreachable {
		if best := health.Best(servers...); best.Public() != health.Unreachable {
			return slices.Index(servers, best)
		}
		return current
	}
	if back != Manual {
		if higher := slices.Index(servers[:current], health.Healthy); higher >= 0 {
			return higher
		}
	}
	return current
}

// Order is in which order a call tries a trunk's servers: the active one, then the others by priority. Those that are
// unreachable are left out; when all of them are, none is, and they are tried by priority.
func Order(active int, servers []health.State) []int {
	var order, all []int
	for i, s := range servers {
		all = append(all, i)
		switch {
		case s.Public() == health.Unreachable:
		case i == active:
			order = slices.Insert(order, 0, i)
		default:
			order = append(order, i)
		}
	}
	if len(order) == 0 {
		return all
	}
	return order
}
