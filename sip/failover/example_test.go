package failover_test

import (
	"fmt"

	"github.com/callwright/callwright/sip/failover"
	"github.com/callwright/callwright/sip/health"
)

func Example() {
	// The primary server is unreachable, so calls try the secondary server first.
	servers := []health.State{health.Unreachable, health.Healthy, health.Healthy}
	active := failover.Active(failover.Auto, 0, servers)
	fmt.Println(failover.Order(active, servers))

	// 486 (Busy Here) is the callee's response and final. 503 (Service Unavailable) comes from the server, so the call tries the next one.
	config := failover.Config{Enabled: true}
	fmt.Println(config.Next(failover.Outcome{Code: 486, Connected: true}), config.Next(failover.Outcome{Code: 503, Connected: true}))
	// Output:
	// [1 2]
	// false true
}
