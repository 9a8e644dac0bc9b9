package agenttest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/agenttest/analytics"
	"github.com/callwright/callwright/agenttest/run"
)

// AnalyticsQuery selects the runs that analytics counts.
type AnalyticsQuery struct {
	Pathway  string
	Version  int            // version number that counted runs must have; 0 means all versions
	Days     int            // days to look back, from 1 to analytics.MaxDays; 0 means analytics.DefaultDays
	Zone     *time.Location // time zone of the days in a report; nil means UTC
	Scripted bool           // also count runs without a language model; else such runs count only with engine.Outcome.ByRules
	Scan     int            // maximum number of newest runs to examine, of all versions, including excluded runs; 0 means all
}

// MaxScan is the Scan of interactive reports. They examine only the newest runs, so that the user does not wait long.
const MaxScan = 5_000

// Analytics holds the description of a pathway's runs, and the names that it refers to.
type Analytics[T any] struct {
	About     T
	Scenarios map[string]string // names of the pathway's scenarios, by id
	Cut       bool              // older runs were not examined because of AnalyticsQuery.Scan
	LeftOut   int               // number of examined runs of these days that count only with AnalyticsQuery.Scripted
	// Newest is the number of the newest version among the runs, or 0 without runs. EnhancedAnalytics uses this version's node names, and
	// the draft's names for nodes that this version lacks. Versions counts the runs of each version, regardless of AnalyticsQuery.Version.
	// BasicAnalytics sets neither.
	Newest   int
	Versions []analytics.VersionRuns
}

// WhyLeftOut returns the human-readable reason why LeftOut runs do not count. It returns "" if LeftOut is 0.
func (a Analytics[T]) WhyLeftOut() string {
	const why = ". Without one, only recorded conversations count whose pathway decides by rules alone"
	switch a.LeftOut {
	case 0:
		return ""
	case 1:
		return "No language model took part in 1 run" + why
	default:
		return fmt.Sprintf("No language model took part in %d runs%s", a.LeftOut, why)
	}
}

// ScenarioName returns the name of a scenario, or the id if the scenario was deleted.
func (a Analytics[T]) ScenarioName(id string) string {
	if name, ok := a.Scenarios[id]; ok {
		return name
	}
	return id
}

// BasicAnalytics counts the ended runs of a pathway. It returns CodeNotFound with the field pathway_id if the pathway is absent, and
// CodeBadRequest with the field days or version_number if the value is out of range. It returns CodeTooManyRequests if too many reads run
// concurrently: see run.MaxReads.
func (s *Service) BasicAnalytics(ctx context.Context, org callwright.OrgID, q AnalyticsQuery) (Analytics[analytics.Basic], error) {
	if _, err := s.subject(ctx, org, &q); err != nil {
		return Analytics[analytics.Basic]{}, err
	}
	release, err := s.reads.Hold(ctx, org)
	if err != nil {
		return Analytics[analytics.Basic]{}, err
	}
	defer release()
	now := s.cfg.Clock.Now()
	c := analytics.NewCounter(now, q.Days)
	var a Analytics[analytics.Basic]
	a.Cut, a.LeftOut, err = s.scan(ctx, org, q, now, c.From(), func(r analytics.Run) {
		if q.isAbout(r) {
			c.Add(r)
		}
	})
	if err != nil {
		return Analytics[analytics.Basic]{}, err
	}
	a.About = c.Basic()
	a.Scenarios, err = s.scenarioNames(ctx, org, q.Pathway)
	return a, err
}

// isAbout reports whether a query selects the version of a run.
func (q AnalyticsQuery) isAbout(r analytics.Run) bool {
	return q.Version == 0 || q.Version == r.Version
}

// scan calls f for the counted runs of all versions that were created at or after the time from, newest first. If q.Scan is not 0, it
// examines at most q.Scan runs, and cut reports whether more exist. leftOut is the number of examined runs of q.Days that the query selects
// but excludes as scripted.
func (s *Service) scan(
	ctx context.Context, org callwright.OrgID, q AnalyticsQuery, now, from time.Time, f func(analytics.Run),
) (cut bool, leftOut int, err error) {
	w := run.Window{Pathway: q.Pathway, From: from}
	if q.Scan > 0 {
		w.Limit = q.Scan + 1 // the extra run shows whether older runs exist
	}
	scanned, days := 0, analytics.NewCounter(now, q.Days).From()
	err = s.cfg.Store.EachEnded(ctx, org, w, func(r analytics.Run) {
		scanned++
		switch {
		case q.Scan > 0 && scanned > q.Scan:
			cut = true
		case q.Scripted || !r.Scripted:
			f(r)
		case q.isAbout(r) && !r.CreatedAt.Before(days):
			leftOut++
		}
	})
	return cut, leftOut, err
}

// EnhancedAnalytics returns a report on the ended runs of a pathway. It returns the same errors as BasicAnalytics.
func (s *Service) EnhancedAnalytics(ctx context.Context, org callwright.OrgID, q AnalyticsQuery) (Analytics[analytics.Report], error) {
	draft, err := s.subject(ctx, org, &q)
	if err != nil {
		return Analytics[analytics.Report]{}, err
	}
	release, err := s.reads.Hold(ctx, org)
	if err != nil {
		return Analytics[analytics.Report]{}, err
	}
	defer release()
	now, newest := s.cfg.Clock.Now().UTC(), 0
	if q.Zone != nil {
		now = now.In(q.Zone)
	}
	f, versions := analytics.NewFold(now, q.Days), analytics.NewVersionCounter(now, q.Days)
	var a Analytics[analytics.Report]
	a.Cut, a.LeftOut, err = s.scan(ctx, org, q, now, f.From(), func(r analytics.Run) {
		versions.Add(r)
		if q.isAbout(r) {
			newest = max(newest, r.Version)
			f.Add(r)
		}
	})
	if err != nil {
		return Analytics[analytics.Report]{}, err
	}
	tested := draft
	if newest > 0 {
		if tested, err = s.graphOf(ctx, org, q.Pathway, newest); err != nil {
			return Analytics[analytics.Report]{}, err
		}
	}
	a.Newest, a.Versions = newest, versions.Versions()
	if a.Scenarios, err = s.scenarioNames(ctx, org, q.Pathway); err != nil {
		return a, err
	}
	a.About = f.Report(analytics.Names{Scenario: a.ScenarioName, Node: func(id string) (name, kind string) {
		return nodeName(id, tested, draft)
	}})
	return a, nil
}

// subject checks a query and fills in its default days. It returns the draft of the query's pathway, or nil if the draft is empty or
// invalid.
func (s *Service) subject(ctx context.Context, org callwright.OrgID, q *AnalyticsQuery) (*graph.Graph, error) {
	if q.Days == 0 {
		q.Days = analytics.DefaultDays
	}
	if q.Days < 1 || q.Days > analytics.MaxDays {
		return nil, callwright.Invalid("days", "must be from 1 to %d", analytics.MaxDays)
	}
	if q.Version < 0 {
		return nil, callwright.Invalid("version_number", "must be the number of a saved version, from 1")
	}
	return s.graphOf(ctx, org, q.Pathway, 0)
}

// graphOf returns the graph of a version, or of the draft if number is 0. Its nodes' names are for reports. It returns nil if the version
// is absent, or if the graph is empty or invalid, and an error if the pathway is absent.
func (s *Service) graphOf(ctx context.Context, org callwright.OrgID, id string, number int) (*graph.Graph, error) {
	g, _, err := s.cfg.Pathways.Load(ctx, org, id, pathway.Selector{Number: number})
	e, coded := errors.AsType[*callwright.Error](err)
	switch {
	case err == nil:
		return g, nil
	case coded && e.Field == "pathway_version", errors.Is(err, callwright.ErrInvalidState):
		return nil, nil //nolint:nilnil // the ids have to do
	default:
		return nil, err
	}
}

// unknownType is the type of a node that neither the newest tested version nor the draft contains.
const unknownType = "unknown"

// nodeName returns the name and the type of a node from the first graph that contains the node. The name of a node without a name is its
// id. If no graph contains the node, nodeName returns the id and unknownType.
func nodeName(id string, graphs ...*graph.Graph) (name, kind string) {
	for _, g := range graphs {
		if g == nil {
			continue
		}
		if n := g.Node(id); n != nil {
			if n.Name == "" {
				return id, string(n.Type)
			}
			return n.Name, string(n.Type)
		}
	}
	return id, unknownType
}

// scenarioNames returns the names of a pathway's scenarios, by id.
func (s *Service) scenarioNames(ctx context.Context, org callwright.OrgID, pathway string) (map[string]string, error) {
	list, err := s.cfg.Store.FindScenarios(ctx, org, ScenarioFilter{Pathway: pathway, Brief: true, Limit: MaxStored})
	names := make(map[string]string, len(list))
	for _, l := range list {
		names[l.ID] = l.Name
	}
	return names, err
}
