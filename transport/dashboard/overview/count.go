package overview

import (
	"context"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/transport/dashboard/chart"
)

// count counts the calls of the last day and the trunks, or takes what was counted a moment ago.
func (p *pages) count(ctx context.Context, who callwright.Principal, v *view) error {
	now := p.cfg.Clock.Now()
	p.mu.Lock()
	kept, ok := p.kept[who.Org]
	p.mu.Unlock()
	if ok && now.Before(kept.until) {
		v.Day = kept
		return nil
	}
	fresh := slow{until: now.Add(keepFor)}
	if p.cfg.Calls != nil {
		if err := p.countCalls(ctx, who.Org, &fresh); err != nil {
			return err
		}
	}
	if p.cfg.Trunks != nil && who.Entitled(callwright.EntitlementSIP) {
		numbers, err := p.cfg.Trunks.Numbers(ctx, who.Org)
		if err != nil {
			return err
		}
		fresh.sort(numbers)
	}
	p.mu.Lock()
	if len(p.kept) >= maxKept {
		clear(p.kept)
	}
	p.kept[who.Org] = fresh
	p.mu.Unlock()
	v.Day = fresh
	return nil
}

func (p *pages) countCalls(ctx context.Context, org callwright.OrgID, s *slow) error {
	hours, err := p.cfg.Calls.Hours(ctx, org, dayHours)
	if err != nil {
		return err
	}
	answered, others := make([]float64, len(hours)), make([]float64, len(hours))
	ended := 0
	for i, h := range hours {
		answered[i], others[i] = float64(h.Answered), float64(h.Calls-h.Answered)
		s.Calls += h.Calls
		s.Answered += h.Answered
		ended += h.Ended
	}
	if ended > 0 {
		s.Rate, s.Rated = float64(s.Answered)/float64(ended), true
	}
	s.Chart = chart.Bars{
		ID: "calls-per-hour", Title: "Calls per hour", Unit: "calls", Start: hours[0].Start, Step: time.Hour,
		Series: []chart.BarSeries{{Name: "answered", Values: answered}, {Name: "others", Values: others}},
	}.SVG()
	return nil
}
