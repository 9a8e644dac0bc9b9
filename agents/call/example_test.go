package call_test

import (
	"context"
	"fmt"
	"iter"

	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/agentstore"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/conversation"
)

// clock is a brain that says the time and ends the conversation.
type clock struct{ time string }

func (c clock) Respond(context.Context, conversation.Turn) iter.Seq2[conversation.Step, error] {
	return func(yield func(conversation.Step, error) bool) {
		if yield(conversation.Say{Text: "it is " + c.time}, nil) {
			yield(conversation.End{}, nil)
		}
	}
}

// A program answers a call with its own brain, and observes the call's events. The telephone and the engines are fakes. A real program uses
// a line such as adapters/sipua, and engines such as adapters/flite.
func ExampleService() {
	store, line := memstore.New(), agentstest.NewLine(agentstest.PhoneConfig{})
	work := memstore.NewWork(store, nil)
	ctx, stop := context.WithCancel(context.Background())
	service, err := call.New(call.Config{
		Store: agentstore.Calls{Store: store}, Leases: memstore.Leases{Store: store}, Atomic: store, Work: work, Line: line,
		Recognizer: &agentstest.Recognizer{}, Synthesizer: &agentstest.Synthesizer{},
		NewBrain: func(context.Context, call.Call) (conversation.Brain, error) { return clock{"noon"}, nil },
		Observe: func(o call.Observation) {
			switch o.What {
			case call.ObservedLine:
				fmt.Println(o.Line.Speaker, "says", o.Line.Text)
			case call.ObservedEnded:
				fmt.Println("ended", o.Call.From, o.Call.Status)
				stop()
			default:
				fmt.Println(o.What)
			}
		},
	})
	if err != nil {
		panic(err)
	}
	go func() { _ = work.Run(ctx) }()
	line.Call(call.CallerInfo{Org: "acme", From: "+15550000009", To: "+15550000001"}, agentstest.PhoneConfig{})
	if err := service.Run(ctx); err != nil {
		panic(err)
	}
	// Output:
	// started
	// answered
	// assistant says it is noon
	// ended +15550000009 completed
}
