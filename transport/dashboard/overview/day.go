package overview

import (
	"context"
	"html/template"
	"math"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/transport/dashboard/chart"
)

// day counts the calls of the last hours.
type day struct {
	Calls, Answered int
	Rate            float64 // of the calls that have ended, those that were answered
	Rated           bool    // some have ended
	PerHour, Rates  template.HTML
}

// count counts the calls of each of the last hours.
func (v *view) count(ctx context.Context, org callwright.OrgID) error {
	if v.Has.Calls == nil {
		return nil
	}
	hours, err := v.Has.Calls.Hours(ctx, org, dayHours)
	if err != nil {
		return err
	}
	answered, others, rates := make([]float64, len(hours)), make([]float64, len(hours)), make([]chart.Point, len(hours))
	ended := 0
	for i, h := range hours {
		answered[i], others[i] = float64(h.Answered), float64(h.Calls-h.Answered)
		rates[i] = chart.Point{At: h.Start, Value: math.NaN()}
		if h.Ended > 0 {
			rates[i].Value = 100 * float64(h.Answered) / float64(h.Ended)
		}
		v.Day.Calls += h.Calls
		v.Day.Answered += h.Answered
		ended += h.Ended
	}
	if v.Day.Calls == 0 {
		return nil
	}
	v.Day.PerHour = chart.Bars{
		ID: "calls-per-hour", Title: "Calls per hour", Unit: "calls", Start: hours[0].Start, Step: time.Hour,
		Series: []chart.BarSeries{{Name: "answered", Values: answered}, {Name: "others", Values: others}},
	}.SVG()
	if ended == 0 {
		return nil
	}
	v.Day.Rate, v.Day.Rated = float64(v.Day.Answered)/float64(ended), true
	v.Day.Rates = chart.Lines{
		ID: "answer-rate", Title: "Answer rate per hour", Unit: "%", Series: []chart.Series{{Name: "of those that have ended", Points: rates}},
	}.SVG()
	return nil
}
