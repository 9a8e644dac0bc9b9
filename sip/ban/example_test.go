package ban_test

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/sip/ban"
)

func ExampleLift() {
	leases := memstore.Leases{Store: memstore.New()}
	now := time.Now()
	bans, err := ban.List(context.Background(), leases, now)
	fmt.Println(len(bans), err)
	_, err = ban.Lift(context.Background(), leases, netip.MustParseAddr("192.0.2.7"), now)
	fmt.Println(err)
	// Output:
	// 0 <nil>
	// ban not found
}
