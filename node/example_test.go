package node_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/node"
)

// ExampleHeartbeat starts two heartbeats. An observer without a heartbeat reads which processes are alive.
func ExampleHeartbeat() {
	ctx := context.Background()
	leases := memstore.Leases{Store: memstore.New()}
	for _, name := range []string{"a", "b"} {
		heart, err := node.NewHeartbeat(node.HeartbeatConfig{Leases: leases, Kind: "call.node", Node: name})
		if err != nil {
			fmt.Println(err)
			return
		}
		heart.Beat(ctx) // Run calls Beat until its context ends
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

// ExampleHolder claims one letter at a time from a tray. When the process stops, the context of the letter that it holds ends with the
// cause Draining.
func ExampleHolder() {
	tray, news := []string{"letter 1", "letter 2"}, make(chan string)
	var h *node.Holder[struct{}]
	claim := func(ctx context.Context) error {
		for h.Free() > 0 && len(tray) > 0 {
			letter := tray[0]
			if slot, ok := h.Hold(ctx, letter, struct{}{}); ok {
				tray = tray[1:]
				slot.Go(func(ctx context.Context) {
					news <- letter + " is on its way"
					<-ctx.Done()
					news <- letter + ": " + context.Cause(ctx).Error()
				})
			}
		}
		return nil
	}
	h, err := node.NewHolder[struct{}](node.HolderConfig{
		Leases: memstore.Leases{Store: memstore.New()}, Kind: "letter.node", Node: "n", Most: 1, Claim: claim,
		Draining: errors.New("the process stops"),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- h.Run(ctx) }()
	fmt.Println(<-news)
	h.Stop("letter 1", errors.New("delivered"))
	fmt.Println(<-news)
	fmt.Println(<-news)
	stop()
	fmt.Println(<-news)
	fmt.Println(<-done)
	// Output:
	// letter 1 is on its way
	// letter 1: delivered
	// letter 2 is on its way
	// letter 2: the process stops
	// <nil>
}
