package call_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/agentstore"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/call"
)

// BenchmarkRefusedCall measures a refused call in memory: it is created, placed, refused and closed.
func BenchmarkRefusedCall(b *testing.B) {
	store := memstore.New()
	work, line := memstore.NewWork(store, nil), agentstest.NewLine(agentstest.PhoneConfig{})
	defer line.Close()
	ended := make(chan struct{}, 1)
	s, err := call.New(call.Config{
		Store: agentstore.Calls{Store: store}, Leases: memstore.Leases{Store: store}, Atomic: store, Work: work, Line: line, Routes: routes{}, Model: model{},
		Recognizer: listener{&agentstest.Recognizer{}}, Synthesizer: speaker{&agentstest.Synthesizer{}}, Node: "n1",
		Agents: anyAgent{},
		Observe: func(o call.Observation) {
			if o.What == call.ObservedEnded {
				ended <- struct{}{}
			}
		},
	})
	if err != nil {
		b.Fatal(err)
	}
	ctx, stop := context.WithCancel(b.Context())
	var running sync.WaitGroup
	running.Go(func() { _ = s.Run(ctx) })
	running.Go(func() { _ = work.Run(ctx) })
	defer running.Wait()
	defer stop()
	b.ReportAllocs()
	for b.Loop() {
		line.Script(agentstest.Refuse(call.CauseBusy, 486))
		if _, err := s.Create(ctx, "a", call.Request{To: "+15550000002", Agent: agents.Agent{Task: "Talk."}}); err != nil {
			b.Fatal(err)
		}
		<-ended
	}
}

// anyAgent returns the agent of the request, with a MaxDuration of one minute, for outgoing calls. For incoming calls it returns an empty
// agent.
type anyAgent struct{}

func (anyAgent) Answering(context.Context, callwright.OrgID, callwright.PhoneNumber) (agents.Agent, error) {
	return agents.Agent{}, nil
}

func (anyAgent) Calling(_ context.Context, _ callwright.OrgID, c agents.Choice) (agents.Agent, error) {
	c.Agent.MaxDuration = time.Minute
	return c.Agent, nil
}
