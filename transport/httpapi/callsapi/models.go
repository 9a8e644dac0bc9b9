package callsapi

import (
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/transport/httpapi/internal/pathwaywire"
	oas "github.com/callwright/callwright/transport/oas/callsoas"
)

// setModels sets the models that answered, in all and by turn, and their cost. The cost is absent until the call has ended.
func setModels(r *oas.CallRecord, c call.Call, logs []pathway.Log) {
	for _, m := range c.Models {
		r.Models = append(r.Models, modelUse(pathwaywire.PricedUse(m.Use, m.Cost)))
	}
	if c.Queue.Ended() {
		r.Cost.SetToNull()
		if cost, known := c.Cost(); known {
			r.Cost = pathwaywire.Cost(&cost)
		}
	}
	for _, l := range logs {
		turn := oas.CallTurnModels{Turn: l.Turn}
		for _, u := range llm.AddUses(l.Models, l.Withdrawn.Models...) {
			turn.Models = append(turn.Models, modelUse(pathwaywire.UseOf(u)))
		}
		if len(turn.Models) > 0 {
			r.TurnModels = append(r.TurnModels, turn)
		}
	}
}

// modelUse converts the use of a model to the generated type.
func modelUse(u pathwaywire.ModelUse) oas.ModelUse {
	return oas.ModelUse{
		Model: u.Model, Replaced: u.Replaced, Cause: u.Cause, Requests: u.Requests, Failed: u.Failed, Uncounted: u.Uncounted,
		InputTokens: u.InputTokens, OutputTokens: u.OutputTokens, CachedTokens: u.CachedTokens, Cost: u.Cost,
	}
}
