package overview

import (
	"context"
	"html/template"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/transport/dashboard/internal/chart"
)

// day contains the counts and charts of the calls of the last dayHours hours.
type day struct {
	Calls, Answered int
	Rate            float64 // answered calls / ended calls
	Rated           bool    // Rate is valid: at least one call has ended
	PerHour, Rates  template.HTML
}

// count reads the hourly counts of calls and draws the charts.
func (v *view) count(ctx context.Context, org callwright.OrgID) error {
	if v.Has.Calls == nil {
		return nil
	}
	hours, err := v.Has.Calls.Hours(ctx, org, dayHours)
	if err != nil {
		return err
	}
	var series [4][]float64 // answered, other; then answered and not answered in percent of the ended calls
	for i := range series {
		series[i] = make([]float64, len(hours))
	}
	ended := 0
	for i, h := range hours {
		series[0][i], series[1][i] = float64(h.Answered), float64(h.Calls-h.Answered)
		rate := 100 * float64(h.Answered) / float64(h.Ended) // NaN, drawn as a gap, if no call has ended
		series[2][i], series[3][i] = rate, 100-rate
		v.Day.Calls += h.Calls
		v.Day.Answered += h.Answered
		ended += h.Ended
	}
	if v.Day.Calls == 0 {
		return nil
	}
	bars := chart.Bars{ID: "calls-per-hour", Title: "Calls per hour", Unit: "calls", Start: hours[0].Start, Step: time.Hour}
	bars.Series = []chart.BarSeries{{Name: "answered", Values: series[0]}, {Name: "not answered, or under way", Values: series[1]}}
	v.Day.PerHour = bars.SVG()
	if ended == 0 {
		return nil
	}
	v.Day.Rate, v.Day.Rated = float64(v.Day.Answered)/float64(ended), true
	bars.ID, bars.Title, bars.Unit = "answer-rate", "Answer rate per hour", "%"
	bars.Series = []chart.BarSeries{{Name: "answered", Values: series[2]}, {Name: "not answered", Values: series[3]}}
	v.Day.Rates = bars.SVG()
	return nil
}
