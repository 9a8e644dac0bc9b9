// Command embed-sip keeps trunks in memory and asks where a call would go.
package main

import (
	"context"
	"fmt"
	"log"
	"net/netip"

	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/sip"
)

func main() {
	ctx, store := context.Background(), memstore.New()
	numbers, err := agents.New(agents.Config{Store: memstore.Numbers{Store: store}, Atomic: store})
	if err != nil {
		log.Fatal(err)
	}
	trunks, err := sip.New(sip.Config{
		Store: memstore.Trunks{Store: store}, Atomic: store, Numbers: numbers, Codecs: []string{"PCMU", "PCMA"},
	})
	if err != nil {
		log.Fatal(err)
	}
	endpoint := "sip:pbx.example.com"
	done, err := trunks.Attach(ctx, "acme", sip.Attachment{
		Numbers:    []string{"+15551234567", "not a number"},
		Directions: []sip.DirectionInput{{Type: sip.Inbound}, {Type: sip.Outbound, Endpoint: &endpoint}},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("attached:", done.Configured, "failed:", done.Failed[0].Number, "because it", done.Failed[0].Err.Message)

	out, err := trunks.Outbound(ctx, "acme", "+15551234567")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("a call out goes to", out.Servers[0])
	in, err := trunks.Inbound(ctx, "+15551234567", sip.Peer{Address: netip.MustParseAddr("192.0.2.7")})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("a call in belongs to", in.Org)
}
