// Command embed-sip stores trunks in memory, and looks up the routes of an outbound and an inbound call.
package main

import (
	"context"
	"fmt"
	"log"
	"net/netip"
	"strings"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/sipstore"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/failover"
)

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	store := memstore.New()
	trunks, err := sip.New(sip.Config{ // optional fields add a monitor of peers, and agents for the numbers
		Store: sipstore.Trunks{Store: store}, Atomic: store,
		Statuses: sipstore.Statuses{Store: store}, Registrations: sipstore.Registrations{Store: store},
		Codecs:        []string{"PCMU", "PCMA"},
		DerivationKey: callwright.Secret(strings.Repeat("a secret of this deployment, ", 2)),
	})
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
	return nil
}
