package trusted_test

import (
	"fmt"
	"net"
	"net/netip"

	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/sipstore"
	"github.com/callwright/callwright/sip/resolve"
	"github.com/callwright/callwright/sip/trusted"
)

func Example() {
	resolver, err := resolve.New(resolve.Config{DNS: net.DefaultResolver})
	if err != nil {
		fmt.Println(err)
		return
	}
	set, err := trusted.New(trusted.Config{
		Store:    sipstore.Trunks{Store: memstore.New()},
		Resolver: resolver,
		Always:   []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	// A program runs set.Run, which adds the addresses of the trunks.
	fmt.Println(set.Contains(netip.MustParseAddr("192.0.2.7")), set.Contains(netip.MustParseAddr("198.51.100.7")))
	// Output: true false
}
