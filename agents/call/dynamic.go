package call

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/request"
)

// callersPatience is how long a caller may hear it ring while other systems are asked for what the agent is to know.
const callersPatience = 5 * time.Second

// fetchDynamicData makes the requests of the agent's dynamic data, all side by side, and adds what they give to the call's
// variables. What fails is logged, and the conversation goes without it.
func (s *Service) fetchDynamicData(ctx context.Context, c *Call, book *recordWriter) {
	if len(c.Agent.DynamicData) == 0 {
		return
	}
	if c.Inbound {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, callersPatience)
		defer cancel()
	}
	began := s.cfg.Clock.Now()
	logs := make([]request.Log, len(c.Agent.DynamicData))
	var asking sync.WaitGroup
	for i, d := range c.Agent.DynamicData {
		asking.Go(func() { logs[i] = s.ask(ctx, c, fmt.Sprintf("dynamic_data[%d]", i), d) })
	}
	asking.Wait()
	now := s.cfg.Clock.Now()
	turn := pathway.Log{Took: now.Sub(began)}
	for _, l := range logs {
		turn.Entries = append(turn.Entries, requestEntries(l, now)...)
		if l.Error != "" {
			s.cfg.Logger.WarnContext(ctx, "fetching dynamic data", "call_id", c.ID, "request", l.Name, "error", l.Error)
		}
		book.request(EventsDynamicData, l)
	}
	book.log(turn)
	c.Variables = book.found(c.Variables)
}

// requestEntries are what a log has of a request.
func requestEntries(l request.Log, at time.Time) []pathway.LogEntry {
	entries := []pathway.LogEntry{{Kind: pathway.LogRequest, Name: l.Name, Request: &l, At: at}}
	if len(l.Variables) > 0 {
		entries = append(entries, pathway.LogEntry{
			Kind: pathway.LogVariables, Name: l.Name, Variables: l.Variables, At: at,
		})
	}
	return entries
}

// ask makes one request.
func (s *Service) ask(ctx context.Context, c *Call, name string, d agents.DynamicData) request.Log {
	r, err := d.Source().Parse()
	if err != nil {
		return request.Log{Name: name, Error: callwright.MessageOf(err)}
	}
	return r.Do(ctx, s.cfg.Requests, c.Org, name, c.Variables)
}

// remember adds what a turn has found out to what is known.
func remember(known map[string]any, turn pathway.Log) {
	for _, e := range turn.Entries {
		maps.Copy(known, e.Variables)
	}
}

// merged is all variables of both, the second's before the first's.
func merged(known, found map[string]any) map[string]any {
	all := make(map[string]any, len(known)+len(found))
	maps.Copy(all, known)
	maps.Copy(all, found)
	return all
}
