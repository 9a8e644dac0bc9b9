package siptest_test

import (
	"context"
	"fmt"

	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/sipstore"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/failover"
	"github.com/callwright/callwright/sip/health"
	"github.com/callwright/callwright/sip/siptest"
)

// StageStatus stores a status with a server that is down, before a test begins.
func Example() {
	ctx := context.Background()
	statuses := sipstore.Statuses{Store: memstore.New()}
	if err := siptest.StageStatus(ctx, statuses, sip.Status{
		Org: "acme", TrunkID: "t1", Servers: []sip.ServerStatus{{
			Server: failover.Server{Host: "one.example.com", Port: 5061}, Health: health.Server{State: health.Unreachable},
		}},
	}); err != nil {
		fmt.Println(err)
		return
	}
	status, err := statuses.Status(ctx, "acme", "t1")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(status.Servers[0].Server.Host, status.Servers[0].Health.State)
	// Output: one.example.com unreachable
}
