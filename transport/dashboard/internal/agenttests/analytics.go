package agenttests

import (
	"cmp"
	"context"
	"html/template"
	"maps"
	"net/http"
	"slices"
	"strconv"

	"github.com/callwright/callwright/agenttest"
	"github.com/callwright/callwright/agenttest/analytics"
	"github.com/callwright/callwright/transport/dashboard/internal/chart"
	"github.com/callwright/callwright/transport/dashboard/internal/page"
)

// report contains the data of the page with a pathway's test results.
type report struct {
	Filter   filter
	Pathways []tested // pathways with scenarios; set if the filter names no pathway
	Report   *analytics.Report
	Cut      bool   // only the newest agenttest.MaxScan runs count
	LeftOut  string // why some runs do not count; empty if all count
	Count    string // query that includes the runs left out
	Versions []versionRow
	Trend    template.HTML
	Zone     string          // name of the time zone of the days
	Days     []analytics.Day // newest first
	DaysPart part
	Heat     heatmap
	Flows    template.HTML
	Links    []link
}

// tested is a pathway and the number of its scenarios.
type tested struct {
	ID        string
	Scenarios int
}

// versionRow is a version with its runs and the query of the link to their results.
type versionRow struct {
	analytics.VersionRuns

	Query  string
	Chosen bool
}

// link is a transition between two nodes, with the number of runs that took it.
type link struct {
	From, To string
	analytics.Link
}

// maxRows is the maximum number of rows in a table of a report.
const maxRows = 50

// analytics shows the test results of the pathway that the filter names, or a list of pathways if it names none.
func (p pages) analytics(ctx context.Context, r *page.Request) (page.Answer, error) {
	f, err := p.readFilter(ctx, r, "pathway_id", "version_number", "days", "include_scripted")
	if err != nil {
		return nil, err
	}
	data := report{Filter: f}
	view := f.view("analytics", "Analytics of tests", &data)
	query, err := f.query()
	if err == nil && query.Pathway == "" {
		data.Pathways, err = p.pathways(ctx, r)
		return view, err
	}
	var found agenttest.Analytics[analytics.Report]
	if err == nil {
		query.Zone = r.Zone()
		found, err = p.cfg.Tests.EnhancedAnalytics(ctx, r.Org(), query)
	}
	if faults, ok := faultsOf(err, "pathway_id", "version_number", "days"); ok {
		maps.Copy(f.Faults, faults)
	} else if err != nil {
		return nil, err
	}
	if len(f.Faults) > 0 {
		if view.Status = http.StatusUnprocessableEntity; f.Faults["pathway_id"] != "" {
			view.Status = http.StatusNotFound
		}
		return view, nil
	}
	if err := data.describe(r, found, query.Version); err != nil {
		return nil, err
	}
	data.LeftOut, data.Count = found.WhyLeftOut(), r.With("include_scripted", "true")
	number := cmp.Or(query.Version, found.Newest)
	data.Heat, err = p.heatmap(ctx, r, query.Pathway, number, found.About.Heatmap)
	return view, err
}

// query converts the filter to a query. An invalid number causes CodeBadRequest with the name of the field.
func (f filter) query() (q agenttest.AnalyticsQuery, err error) {
	q.Pathway, q.Scan = f.Values["pathway_id"], agenttest.MaxScan
	if scripted := f.choice("include_scripted"); scripted != nil {
		q.Scripted = *scripted
	}
	for name, to := range map[string]*int{"version_number": &q.Version, "days": &q.Days} {
		n, err := form{Values: f.Values}.whole(name)
		if err != nil {
			return q, err
		}
		if n != nil {
			*to = *n
		}
	}
	return q, nil
}

// describe sets the data of the page from the found analytics. chosen is the selected version, or 0.
func (data *report) describe(r *page.Request, found agenttest.Analytics[analytics.Report], chosen int) (err error) {
	a := found.About
	data.Report, data.Cut, data.Zone = &a, found.Cut, r.Zone().String()
	for _, v := range found.Versions {
		data.Versions = append(data.Versions, versionRow{v, r.With("version_number", strconv.Itoa(v.Version), "view", "", "nodes", ""), v.Version == chosen})
	}
	rates := make([]chart.Point, len(a.Days))
	for i, d := range a.Days {
		rates[i] = chart.Point{At: d.Date, Value: 100 * d.Rate}
	}
	data.Trend = chart.Lines{ID: "trend", Title: "Pass rate of each day", Unit: "%", Series: []chart.Series{{Name: "Pass rate", Points: rates}}}.SVG()
	newest := slices.Clone(a.Days)
	slices.Reverse(newest)
	if data.DaysPart, err = partOf(r, "", "Days", "daily", "daily", len(newest), maxRows); err != nil {
		return err
	}
	data.Days = newest[data.DaysPart.From:data.DaysPart.To]
	data.flow(a.Flow)
	return nil
}

// flow sets the diagram and the table of the transitions with the most runs.
func (data *report) flow(f analytics.Flow) {
	names := make(map[string]string, len(f.Entries))
	for _, e := range f.Entries {
		names[e.ID] = e.Name
	}
	strongest := slices.SortedStableFunc(slices.Values(f.Links), func(a, b analytics.Link) int { return cmp.Compare(b.Runs, a.Runs) })
	flows := chart.Sankey{ID: "flows", Title: "Paths of runs", Unit: "runs"}
	for _, l := range strongest[:min(maxRows, len(strongest))] {
		data.Links = append(data.Links, link{names[l.Source], names[l.Target], l})
		flows.Stages = append(flows.Stages, chart.Stage{ID: l.Source, Label: names[l.Source]}, chart.Stage{ID: l.Target, Label: names[l.Target]})
		flows.Flows = append(flows.Flows, chart.Flow{From: l.Source, To: l.Target, Weight: float64(l.Runs)})
	}
	data.Flows = flows.SVG()
}

// pathways returns up to maxRows pathways that have scenarios, those with the most scenarios first.
func (p pages) pathways(ctx context.Context, r *page.Request) ([]tested, error) {
	found, err := p.cfg.Tests.ListScenarios(ctx, r.Org(), agenttest.ScenarioFilter{Brief: true}, 0)
	if err != nil {
		return nil, err
	}
	counts := map[string]int{}
	for _, sc := range found.Items {
		if sc.Pathway != "" {
			counts[sc.Pathway]++
		}
	}
	var all []tested
	for id, n := range counts {
		all = append(all, tested{id, n})
	}
	slices.SortFunc(all, func(a, b tested) int { return cmp.Or(cmp.Compare(b.Scenarios, a.Scenarios), cmp.Compare(a.ID, b.ID)) })
	return all[:min(maxRows, len(all))], nil
}
