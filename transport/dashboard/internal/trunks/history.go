package trunks

import (
	"fmt"
	"html/template"
	"strconv"
	"time"

	"github.com/callwright/callwright/sip/health"
	"github.com/callwright/callwright/transport/dashboard/internal/chart"
)

const day = 24 * time.Hour

// uptimes returns the uptime of the last 24 hours, of the last 7 days and of the last 30 days. The history counts whole days in UTC.
func uptimes(h health.History, now time.Time) []period {
	today := now.UTC().Truncate(day)
	all := []period{{Name: "24 h"}}
	if percent, ok := h.LastDayUptime(now); ok {
		all[0].Percent = &percent
	}
	for _, p := range []struct {
		name string
		days int
	}{{"7 d", 7}, {"30 d", health.MaxDays}} {
		shown := period{Name: p.name}
		if percent, ok := h.UptimeSince(today.Add(-time.Duration(p.days-1) * day)); ok {
			shown.Percent = &percent
		}
		all = append(all, shown)
	}
	return all
}

// nearlyUp is the share of uptime below which a cell is a warning.
const nearlyUp = 0.99

// days draws the uptime of the last 30 days. It returns an empty picture if the history has no days.
func days(h health.History, now time.Time) template.HTML {
	if len(h.Days) == 0 {
		return ""
	}
	first := now.UTC().Truncate(day).Add(-(health.MaxDays - 1) * day)
	cells := make([]chart.Cell, health.MaxDays)
	for _, d := range h.Days {
		fill(cells, int(d.Date.Sub(first)/day), d.Up, d.Down)
	}
	return chart.Strip{ID: "days", Title: "Health of the last 30 days", Start: first, Step: day, Cells: cells}.SVG()
}

// LastDay draws a trunk's uptime in each of the last 24 hours. It returns an empty picture if no hour is known.
func LastDay(id, title string, hours []health.Hour, now time.Time) template.HTML {
	first := now.UTC().Truncate(time.Hour).Add(-(health.MaxHours - 1) * time.Hour)
	cells := make([]chart.Cell, health.MaxHours)
	known := false
	for _, h := range hours {
		known = fill(cells, int(h.Start.Sub(first)/time.Hour), h.Up, h.Down) || known
	}
	if !known {
		return ""
	}
	return chart.Strip{ID: id, Title: title, Start: first, Step: time.Hour, Cells: cells}.SVG()
}

// fill sets cell i to the state of a period with the given uptime and downtime. It reports whether i is in range and the period's state is
// known.
func fill(cells []chart.Cell, i int, up, down time.Duration) bool {
	known := up + down
	if i < 0 || i >= len(cells) || known == 0 {
		return false
	}
	share := float64(up) / float64(known)
	cells[i] = chart.Cell{State: chart.Good, Note: fmt.Sprintf("up for %.2f%%", 100*share)}
	switch {
	case up == 0:
		cells[i].State = chart.Bad
	case share < nearlyUp:
		cells[i].State = chart.Warn
	}
	return true
}

// responses draws the response times of the last answered probes. It returns an empty picture if there are none.
func responses(h health.History) template.HTML {
	if len(h.Samples) == 0 {
		return ""
	}
	var values []float64
	for _, s := range h.Samples {
		values = append(values, float64(s)/float64(time.Millisecond))
	}
	title := "Response times of the last " + strconv.Itoa(len(values)) + " answered probes"
	return chart.Sparkline{ID: "responses", Title: title, Unit: "ms", Values: values}.SVG()
}
