package sipua_test

import (
	"context"
	"testing"

	"github.com/callwright/callwright/adapters/sipua"
	"github.com/callwright/callwright/agents/call"
)

// BenchmarkCall measures one call without media between two user agents in one process, over TLS on loopback: INVITE, 100, 180, 200, ACK,
// BYE, 200.
func BenchmarkCall(b *testing.B) {
	caller := newAgent(b, nil)
	callee := newAgent(b, func(c *sipua.Config) { c.InvitesPerSecond = 1_000_000 })
	caller.callsTo(b, callee.Addr().String())
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	go func() {
		for {
			p, err := callee.Accept(ctx)
			if err != nil {
				return
			}
			go func() { _, _ = p.Answer(ctx) }()
		}
	}()
	b.ReportAllocs()
	for b.Loop() {
		l, err := caller.Dial(ctx, call.DialRequest{Org: org, From: alice, To: bob}, nil)
		if err != nil {
			b.Fatal(err)
		}
		if err := l.Hangup(ctx); err != nil {
			b.Fatal(err)
		}
	}
}
