package resolve_test

import (
	"context"
	"fmt"
	"net"

	"github.com/callwright/callwright/sip/resolve"
	"github.com/callwright/callwright/sip/uri"
)

func Example() {
	resolver, err := resolve.New(resolve.Config{DNS: net.DefaultResolver})
	if err != nil {
		fmt.Println(err)
		return
	}
	// An IP address needs no DNS query: it is its own target.
	targets, err := resolver.Targets(context.Background(), uri.URI{Scheme: uri.SIPS, Host: "192.0.2.7"})
	fmt.Println(targets[0].Address, err)
	// Output: 192.0.2.7:5061 <nil>
}
