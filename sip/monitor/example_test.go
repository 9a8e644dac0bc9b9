package monitor_test

import (
	"context"
	"fmt"

	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/orgstore"
	"github.com/callwright/callwright/adapters/memstore/sipstore"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/failover"
	"github.com/callwright/callwright/sip/health"
	"github.com/callwright/callwright/sip/monitor"
)

// silent is a Prober in whose network no server responds.
type silent struct{}

func (silent) Options(context.Context, failover.Server, sip.TLSVerification) health.Evidence {
	return health.Evidence{Reason: "no answer"}
}

func Example() {
	memory := memstore.New()
	service, err := monitor.New(monitor.Config{
		Statuses: sipstore.Statuses{Store: memory}, Trunks: sipstore.Trunks{Store: memory}, Attempts: sipstore.CallLog{Store: memory},
		Atomic: memory, Work: memstore.NewWork(memory, nil), Prober: silent{}, Organizations: orgstore.Tenants{Store: memory},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	trunk := sip.Trunk{ID: "t1", Org: "acme", Number: "+15551234567", Direction: sip.Outbound, Failover: &failover.Config{
		Enabled: true, Servers: []failover.Server{{Host: "one.example.com", Port: 5061}, {Host: "two.example.com", Port: 5061}},
	}}
	if err := service.Watch(ctx, trunk); err != nil {
		fmt.Println(err)
		return
	}
	// A call finds that the first server is down, so the next call tries the second server first.
	service.Observe(ctx, "acme", "t1", "one.example.com:5061", health.Evidence{Reason: "connection refused"})
	fmt.Println(service.Servers(ctx, trunk))
	// Output: [two.example.com:5061] <nil>
}
