package call

import (
	"slices"

	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/llm/price"
)

// ModelUse counts the requests of a call that one model answered.
type ModelUse struct {
	llm.Use

	Cost *price.Money // cost of Usage at the prices of the end of the call; nil if the price of the model is unknown
}

// Cost returns the cost of the reported tokens of all models. known is false if the price of a model is unknown, and if no model has reported
// tokens. Requests without reported tokens (llm.Use.Uncounted) are not part of the cost.
func (c Call) Cost() (cost price.Money, known bool) {
	for _, m := range c.Models {
		switch {
		case m.Usage == llm.Usage{}:
		case m.Cost == nil:
			return 0, false
		default:
			cost, known = cost+*m.Cost, true
		}
	}
	return cost, known
}

// used returns the uses with the costs at the prices of this server. A use without reported tokens has no cost.
func (s *Service) used(uses []llm.Use) []ModelUse {
	var all []ModelUse
	for _, u := range uses {
		m := ModelUse{Use: u}
		if s.cfg.Prices != nil && u.Usage != (llm.Usage{}) {
			if cost, known := s.cfg.Prices(u.Model, u.Usage); known {
				m.Cost = &cost
			}
		}
		all = append(all, m)
	}
	return all
}

// addModels returns the uses of both lists, with the costs that each has. It adds the numbers and the costs of a model that both lists
// contain, unless only one of the costs is known.
func addModels(all, more []ModelUse) []ModelUse {
	sum := slices.Clone(all)
	for _, m := range more {
		i := slices.IndexFunc(sum, func(n ModelUse) bool {
			return n.Model == m.Model && n.Replaced == m.Replaced && n.Cause == m.Cause && (n.Cost == nil) == (m.Cost == nil)
		})
		if i < 0 {
			sum = append(sum, m)
			continue
		}
		sum[i].Use = llm.AddUses([]llm.Use{sum[i].Use}, m.Use)[0]
		if m.Cost != nil {
			cost := *sum[i].Cost + *m.Cost
			sum[i].Cost = &cost
		}
	}
	return sum
}
