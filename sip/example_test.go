package sip_test

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
)

// A number is attached in both directions. An outgoing call then finds its route, and an incoming call its organization.
func Example() {
	store := memstore.New()
	s, err := sip.New(sip.Config{
		Store: sipstore.Trunks{Store: store}, Atomic: store,
		Statuses: sipstore.Statuses{Store: store}, Registrations: sipstore.Registrations{Store: store},
		Codecs:        []string{"PCMU", "PCMA"},
		DerivationKey: callwright.Secret(strings.Repeat("secret ", 5)),
	})
	if err != nil {
		log.Fatal(err)
	}
	ctx, endpoint := context.Background(), "pbx.example.com:5071"
	office := []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}
	_, err = s.Attach(ctx, "acme", sip.Attachment{
		Numbers:    []string{"+15551234567"},
		Directions: []sip.DirectionInput{{Type: sip.Outbound, Endpoint: &endpoint}, {Type: sip.Inbound, AllowedIPs: &office}},
	})
	if err != nil {
		log.Fatal(err)
	}
	out, err := s.Outbound(ctx, "acme", "+15551234567")
	fmt.Println(out.Servers, out.Codecs, err)
	in, err := s.Inbound(ctx, "+15551234567", sip.Peer{Address: netip.MustParseAddr("192.0.2.7")})
	fmt.Println(in.Org, err)
	_, err = s.Inbound(ctx, "+15551234567", sip.Peer{Address: netip.MustParseAddr("198.51.100.7")})
	fmt.Println(callwright.CodeOf(err))
	// Output:
	// [sip:pbx.example.com:5071;transport=tls] [PCMU PCMA] <nil>
	// acme <nil>
	// FORBIDDEN
}
