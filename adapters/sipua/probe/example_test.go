package probe_test

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"time"

	"github.com/callwright/callwright/adapters/sipua/probe"
	"github.com/callwright/callwright/sip/discovery"
	"github.com/callwright/callwright/sip/resolve"
	"github.com/callwright/callwright/sip/uri"
)

func Example() {
	resolver, err := resolve.New(resolve.Config{DNS: net.DefaultResolver})
	if err != nil {
		fmt.Println(err)
		return
	}
	prober, err := probe.New(probe.Config{Resolver: resolver, PublicHost: "sip.example.com"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer prober.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	answer := prober.Probe(ctx, discovery.Probe{
		Address: netip.MustParseAddrPort("127.0.0.1:5061"), Transport: uri.TLS, Host: "localhost",
	})
	fmt.Println(answer.Code, answer.Error)
	// Output: 0 the address is not public
}
