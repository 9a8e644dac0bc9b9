package agents_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/agentstore"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/call"
)

const number callwright.PhoneNumber = "+15550000001"

func newService(t *testing.T) *agents.Service {
	t.Helper()
	store := memstore.New()
	s, err := agents.New(agents.Config{
		Store: agentstore.Numbers{Store: store}, WebAgents: agentstore.WebAgents{Store: store}, Atomic: store,
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestRegisterInbound(t *testing.T) {
	t.Parallel()
	s := newService(t)
	setTask := func(a *call.Agent) error { a.Task = "Sell."; return nil }
	for range 2 { // a number that is registered again keeps its agent
		if err := s.RegisterInbound(t.Context(), "a", number); err != nil {
			t.Fatal(err)
		}
		if _, err := s.UpdateInbound(t.Context(), "a", number, setTask); err != nil {
			t.Fatal(err)
		}
	}
	n, err := s.Inbound(t.Context(), "a", number)
	if err != nil || n.Agent.Task != "Sell." || n.Version != 3 {
		t.Errorf("got %+v, %v", n, err)
	}
	if list, err := s.ListInbound(t.Context(), "b"); err != nil || len(list) != 0 {
		t.Errorf("another organization lists %+v, %v", list, err)
	}
}

func TestUpdateInboundTogether(t *testing.T) {
	t.Parallel()
	s := newService(t)
	if err := s.RegisterInbound(t.Context(), "a", number); err != nil {
		t.Fatal(err)
	}
	const editors = 4
	var editing sync.WaitGroup
	for range editors {
		editing.Go(func() {
			_, err := s.UpdateInbound(t.Context(), "a", number, func(a *call.Agent) error {
				a.Task += "x"
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	editing.Wait()
	if n, err := s.Inbound(t.Context(), "a", number); err != nil || len(n.Agent.Task) != editors {
		t.Errorf("got %+v, %v; an edit was lost", n.Agent, err)
	}
}

func TestUpdateInboundRefuses(t *testing.T) {
	t.Parallel()
	s := newService(t)
	_, err := s.UpdateInbound(t.Context(), "a", number, func(*call.Agent) error { return nil })
	if !errors.Is(err, callwright.ErrNotFound) {
		t.Errorf("an absent number gave %v", err)
	}
	if err := s.RegisterInbound(t.Context(), "a", number); err != nil {
		t.Fatal(err)
	}
	refusal := callwright.Invalid("voice", "is odd")
	if _, err := s.UpdateInbound(t.Context(), "a", number, func(*call.Agent) error { return refusal }); !errors.Is(err, refusal) {
		t.Errorf("got %v", err)
	}
	if n, _ := s.Inbound(t.Context(), "a", number); n.Version != 1 {
		t.Error("a refused change was stored")
	}
}

func TestAnswering(t *testing.T) {
	t.Parallel()
	s := newService(t)
	unknown, err := s.Answering(t.Context(), "a", number)
	if err != nil || unknown.Task == "" || unknown.MaxDuration != call.DefaultMaxDuration {
		t.Errorf("an unknown number is answered by %+v, %v", unknown, err)
	}
	if err := s.RegisterInbound(t.Context(), "a", number); err != nil {
		t.Fatal(err)
	}
	_, err = s.UpdateInbound(t.Context(), "a", number, func(a *call.Agent) error {
		a.FirstSentence, a.MaxDuration = "Hello.", time.Minute
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.Answering(t.Context(), "a", number)
	if err != nil || got.FirstSentence != "Hello." || got.MaxDuration != time.Minute || got.Task == "" {
		t.Errorf("got %+v, %v", got, err)
	}
}
