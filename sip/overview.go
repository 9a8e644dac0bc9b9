package sip

import (
	"context"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip/health"
)

// Overview summarizes the trunks of an organization.
type Overview struct {
	Any bool // the organization has at least one trunk, of either direction
	// Counts holds the number of outbound trunks by health, up to MaxCounted of each: see health.State.Public. Inbound trunks are not
	// probed, and not counted.
	Counts map[health.State]int
	Worst  []TrunkDay // unreachable trunks first, then healthy and unchecked ones; among equals the longest downtime first
}

// TrunkDay is the last day of an outbound trunk.
type TrunkDay struct {
	Number callwright.PhoneNumber
	Health health.State  // see health.State.Public
	Active string        // the server that calls go to first
	Uptime *float64      // percent of the known time of the last 24 hours; nil: unknown
	Hours  []health.Hour // of the last 24 hours, oldest first; unknown hours are omitted
}

// The limits of an Overview.
const (
	MaxCounted = 1000 // of a state; MaxCounted stands for that many or more
	MaxWorst   = 50
)

// byNeed lists the states of trunks in the order of their need for attention.
var byNeed = []health.State{health.Unreachable, health.Healthy, health.Unchecked}

// Overview returns an overview with up to limit trunks, at most MaxWorst. The number of trunks that it reads is bounded.
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
