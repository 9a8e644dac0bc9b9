package call

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/request"
)

// callersPatience bounds how long an incoming call rings while its dynamic data is fetched.
const callersPatience = 5 * time.Second

// fetchDynamicData sends the requests of the agent's dynamic data concurrently, and adds their results to the call's variables. If a
// request fails, the conversation continues without its result, and the log of turn 0 contains the error.
func (s *Service) fetchDynamicData(ctx context.Context, c *Call, book *recordWriter) {
	if len(c.Agent.DynamicData) == 0 {
		return
	}
	if c.Inbound {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, callersPatience)
		defer cancel()
	}
	ctx = request.WithBudget(ctx)
	began := book.clock.Now()
	logs := make([]request.Log, len(c.Agent.DynamicData))
	var asking sync.WaitGroup
	for i, d := range c.Agent.DynamicData {
		asking.Go(func() { logs[i] = s.ask(ctx, c, fmt.Sprintf("dynamic_data[%d]", i), d) })
	}
	asking.Wait()
	now := book.clock.Now()
	turn := pathway.Log{Duration: now.Sub(began)}
	for _, l := range logs {
		turn.Entries = append(turn.Entries, pathway.RequestEntries(l, now)...)
		if l.Error != "" {
			s.cfg.Logger.WarnContext(ctx, "fetching dynamic data", "call_id", c.ID, "request", l.Name, "error", l.Error)
		}
		book.request(EventsDynamicData, l)
	}
	book.log(turn)
	c.Variables = book.found(c.Variables)
}

// ask sends one request of the dynamic data, and returns its log with the result or the error.
func (s *Service) ask(ctx context.Context, c *Call, name string, d agents.DynamicData) request.Log {
	r, err := d.Source().Parse()
	if err != nil {
		return request.Log{Name: name, Error: callwright.MessageOf(err)}
	}
	return r.Do(ctx, s.cfg.Requests, c.Org, name, c.Variables)
}
