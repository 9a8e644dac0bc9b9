package failover_test

import (
	"fmt"

	"github.com/callwright/callwright/sip/failover"
	"github.com/callwright/callwright/sip/health"
)

func Example() {
	// The primary server cannot be reached: calls try the secondary first.
	servers := []health.State{health.Unreachable, health.Healthy, health.Healthy}
	active := failover.Active(failover.Auto, 0, servers)
	fmt.Println(failover.Order(active, servers))

	// 486 Busy Here is the callee's answer. 503 Service Unavailable is the server's.
	config := failover.Config{Enabled: true}
	fmt.Println(config.Next(failover.Outcome{Code: 486, Connected: true}), config.Next(failover.Outcome{Code: 503, Connected: true}))
	// Output:
	// [1 2]
	// false true
}
