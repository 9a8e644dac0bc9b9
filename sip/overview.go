package sip

import (
	"context"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip/health"
)

// Overview summarizes the trunks of an organization.
type Overview struct {
	Any bool // the organization has at least one trunk in either direction
	// Counts maps the public health states (see health.State.Public) to numbers of outbound trunks, each at most MaxCounted. Inbound trunks
	// are not probed, and not counted.
	Counts map[health.State]int
	Worst  []TrunkDay // unreachable trunks first, then healthy and unchecked ones; within a state by downtime, longest first
}

// TrunkDay summarizes the last 24 hours of an outbound trunk.
type TrunkDay struct {
	Number callwright.PhoneNumber
	Health health.State  // as health.State.Public shows it
	Active string        // server that calls try first
	Uptime *float64      // percentage of the recorded time of the last 24 hours; nil if unknown
	Hours  []health.Hour // last 24 hours, oldest first, without unknown hours
}

// Limits of an Overview.
const (
	MaxCounted = 1000 // maximum count of a state; means "this many or more"
	MaxWorst   = 50
)

// byNeed lists the public states of trunks, most urgent first.
var byNeed = []health.State{health.Unreachable, health.Healthy, health.Unchecked}

// Overview returns an overview of an organization's trunks, with at most limit trunks in Worst. limit must be from 1 to MaxWorst. The
// number of trunks that Overview reads is bounded.
func (s *Service) Overview(ctx context.Context, org callwright.OrgID, limit int) (Overview, error) {
	if limit < 1 || limit > MaxWorst {
		return Overview{}, callwright.Invalid("limit", "must be from 1 to %d", MaxWorst)
	}
	first, err := s.cfg.Store.List(ctx, org, callwright.Keyset{}, 1)
	if err != nil || len(first) == 0 {
		return Overview{}, err
	}
	o := Overview{Any: true}
	if o.Counts, err = s.cfg.Statuses.CountStatuses(ctx, org, MaxCounted); err != nil {
		return Overview{}, err
	}
	for _, state := range byNeed {
		if o.Counts[state] == 0 || len(o.Worst) == limit {
			continue
		}
		worst, err := s.cfg.Statuses.WorstStatuses(ctx, org, state, limit-len(o.Worst))
		if err != nil {
			return Overview{}, err
		}
		for _, status := range worst {
			o.Worst = append(o.Worst, TrunkDay{
				Number: status.Number, Health: status.State(), Active: status.active(),
				Uptime: known(status.History.LastDayUptime(s.cfg.Clock.Now())), Hours: status.History.Hours,
			})
		}
	}
	return o, nil
}
