package pathwaywire

import (
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/llm/price"
	"github.com/callwright/callwright/transport/httpapi/internal/wire"
)

// ModelUse has the fields of the generated type ModelUse of each area.
type ModelUse struct {
	Model        string
	Replaced     wire.Nil[string]
	Cause        wire.Nil[string]
	Requests     int
	Failed       int
	Uncounted    int
	InputTokens  int
	OutputTokens int
	CachedTokens int
	Cost         wire.OptNil[float64]
}

// UseOf translates the use of a model, without its cost.
func UseOf(u llm.Use) ModelUse {
	return ModelUse{
		Model: u.Model, Replaced: wire.NilText(u.Replaced), Cause: wire.NilText(string(u.Cause)), Requests: u.Requests, Failed: u.Failed,
		Uncounted: u.Uncounted, InputTokens: u.Usage.Input, OutputTokens: u.Usage.Output, CachedTokens: u.Usage.Cached,
	}
}

// PricedUse translates the use of a model with its cost. A nil cost is null.
func PricedUse(u llm.Use, cost *price.Money) ModelUse {
	record := UseOf(u)
	record.Cost = Cost(cost)
	return record
}

// Cost translates a cost to US dollars. A nil cost is null.
func Cost(cost *price.Money) wire.OptNil[float64] {
	if cost == nil {
		return wire.OptNil[float64]{Set: true, Null: true}
	}
	return wire.OptNil[float64]{Value: cost.Amount(), Set: true}
}
