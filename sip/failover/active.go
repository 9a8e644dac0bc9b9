package failover

import (
	"slices"

	"github.com/callwright/callwright/sip/health"
)

// Active returns the index of the server that calls try first. current is the previous index, and servers are the states of all servers by
// priority. An unreachable server is replaced with the best reachable one, if any. With Auto, calls return to a server of higher priority
// as soon as it is healthy, which takes two answered probes if it was unreachable; with Manual they do not return. If current is out of
// range, Active returns 0.
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

// Order returns the indexes of a trunk's servers in the order in which a call tries them: the active server, then the others by priority.
// It omits unreachable servers, unless all servers are unreachable.
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
