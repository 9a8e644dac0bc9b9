package node_test

import (
	"context"
	"fmt"

	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/node"
)

// Two processes say that they are alive. An observer, which beats not itself, sees both.
func ExampleHeartbeat() {
	ctx := context.Background()
	leases := memstore.Leases{Store: memstore.New()}
	for _, name := range []string{"a", "b"} {
		heart, err := node.NewHeartbeat(node.HeartbeatConfig{Leases: leases, Kind: "call.node", Node: name})
		if err != nil {
			fmt.Println(err)
			return
		}
		heart.Beat(ctx) // Run does so until its context ends
	}
	observer, err := node.NewHeartbeat(node.HeartbeatConfig{Leases: leases, Kind: "call.node", Node: "admin"})
	if err != nil {
		fmt.Println(err)
		return
	}
	peers, _, err := observer.Peers(ctx)
	fmt.Println(peers.Alive, err)
	// Output: [a b] <nil>
}
