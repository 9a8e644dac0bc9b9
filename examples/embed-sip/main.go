// Command embed-sip keeps trunks in memory, asks for the route of a call, and prints the health of the trunks.
package main

import (
	"context"
	"fmt"
	"log"
	"net"
	"net/netip"
	"strings"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/agentstore"
	"github.com/callwright/callwright/adapters/memstore/orgstore"
	"github.com/callwright/callwright/adapters/memstore/sipstore"
	"github.com/callwright/callwright/adapters/sipua/probe"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/failover"
	"github.com/callwright/callwright/sip/monitor"
	"github.com/callwright/callwright/sip/resolve"
)

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	trunks, err := newTrunks(ctx)
	if err != nil {
		return err
	}
	endpoint := "sip:pbx.example.com"
	done, err := trunks.Attach(ctx, "acme", sip.Attachment{
		Numbers:    []string{"+15551234567", "not a number"},
		Directions: []sip.DirectionInput{{Type: sip.Inbound}, {Type: sip.Outbound, Endpoint: &endpoint}},
	})
	if err != nil {
		return err
	}
	fmt.Println("attached:", done.Configured, "failed:", done.Failed[0].Number, "because it", done.Failed[0].Err.Message)

	if _, err := trunks.Configure(ctx, "acme", sip.ConfigChange{
		Number: "+15551234567", Direction: sip.Outbound,
		Failover: callwright.Optional[failover.Config]{Set: true, Value: &failover.Config{
			Enabled: true, Servers: []failover.Server{{Host: "pbx.example.com"}, {Host: "backup.example.com", Port: 5071}},
		}},
	}); err != nil {
		return err
	}
	out, err := trunks.Outbound(ctx, "acme", "+15551234567")
	if err != nil {
		return err
	}
	fmt.Println("a call out goes to", out.Servers[0], "and then to", out.Servers[1])
	in, err := trunks.Inbound(ctx, "+15551234567", sip.Peer{Address: netip.MustParseAddr("192.0.2.7")})
	if err != nil {
		return err
	}
	fmt.Println("a call in belongs to", in.Org)
	health, err := trunks.Health(ctx, "acme", "+15551234567")
	if err != nil {
		return err
	}
	fmt.Println("the trunk is", health.State) // until the monitor's Run has asked its servers
	return nil
}

// newTrunks puts the parts together, and makes the organization that the trunks are for.
func newTrunks(ctx context.Context) (*sip.Service, error) {
	store := memstore.New()
	tenants, statuses := orgstore.Tenants{Store: store}, sipstore.Statuses{Store: store}
	if err := tenants.InsertOrganization(ctx, callwright.Organization{ID: "acme"}); err != nil {
		return nil, err
	}
	resolver, err := resolve.New(resolve.Config{DNS: net.DefaultResolver})
	if err != nil {
		return nil, err
	}
	prober, err := probe.New(probe.Config{Resolver: resolver})
	if err != nil {
		return nil, err
	}
	watch, err := monitor.New(monitor.Config{
		Statuses: statuses, Trunks: sipstore.Trunks{Store: store}, Attempts: sipstore.CallLog{Store: store}, Atomic: store,
		Work: memstore.NewWork(store, nil), Prober: prober, Organizations: tenants,
	})
	if err != nil {
		return nil, err
	}
	numbers, err := agents.New(agents.Config{
		Numbers: agentstore.Numbers{Store: store}, WebAgents: agentstore.WebAgents{Store: store}, Atomic: store,
	})
	if err != nil {
		return nil, err
	}
	return sip.New(sip.Config{
		Store: sipstore.Trunks{Store: store}, Atomic: store, Numbers: numbers,
		Statuses: statuses, Registrations: sipstore.Registrations{Store: store}, Monitor: watch,
		Codecs:        []string{"PCMU", "PCMA"},
		DerivationKey: callwright.Secret(strings.Repeat("a secret of this deployment, ", 2)),
	})
}
