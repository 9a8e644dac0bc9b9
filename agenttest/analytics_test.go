package agenttest_test

import (
	"errors"
	"testing"
	"testing/synctest"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agenttest"
)

// TestAnalyticsOfRuns: the end of a run stores what analytics read.
func TestAnalyticsOfRuns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		good, bad := l.scenario(), l.scenario(failing)
		l.run(l.Service)
		l.start(good, agenttest.RunRequest{})
		l.start(bad, agenttest.RunRequest{})
		settled()
		q := agenttest.AnalyticsQuery{Pathway: "p1", Scripted: true}
		basic, err := l.BasicAnalytics(t.Context(), org, q)
		b := basic.About
		if err != nil || b.Total != 2 || b.Passed != 1 || b.Failed != 1 || b.Score == nil || *b.Score != 0.75 || len(b.Recent) != 2 {
			t.Errorf("got %+v, %v", b, err)
		}
		found, err := l.EnhancedAnalytics(t.Context(), org, q)
		r := found.About
		if err != nil || len(r.Heatmap) != 2 || r.Heatmap[0].Node != "paid" || r.Heatmap[0].Failed != 1 || r.Heatmap[0].Visits != 2 {
			t.Errorf("the heatmap is %+v, %v", r.Heatmap, err)
		}
		if n := len(r.Flow.Links); n != 5 || r.Flow.Links[2].Source != "n1:start" || r.Flow.Links[2].Target != "n2:paid" || r.Flow.Links[2].Runs != 2 {
			t.Errorf("the flow is %+v", r.Flow.Links)
		}
		if len(found.Versions) != 1 || found.Versions[0].Version != found.Newest || found.Versions[0].Passed != 1 || found.Versions[0].Failed != 1 {
			t.Errorf("the versions are %+v, the newest %d", found.Versions, found.Newest)
		}
		q.Version = found.Newest + 1
		other, err := l.EnhancedAnalytics(t.Context(), org, q)
		if basic, _ := l.BasicAnalytics(t.Context(), org, q); err != nil || other.About.Total != 0 || basic.About.Total != 0 || len(other.Versions) != 1 {
			t.Errorf("another version has %+v, %v", other, err)
		}
		if found.ScenarioName(good.ID) != good.Name || found.ScenarioName("gone") != "gone" {
			t.Errorf("the names are %v", found.Scenarios)
		}
	})
}

// TestAnalyticsThatAreRefused asks for other days and for pathways that are absent.
func TestAnalyticsThatAreRefused(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	for name, tt := range map[string]struct {
		org   callwright.OrgID
		q     agenttest.AnalyticsQuery
		want  error
		field string
	}{
		"another organization's": {"other", agenttest.AnalyticsQuery{Pathway: "p1"}, callwright.ErrNotFound, "pathway_id"},
		"no pathway":             {org, agenttest.AnalyticsQuery{Pathway: "p2"}, callwright.ErrNotFound, "pathway_id"},
		"too many days":          {org, agenttest.AnalyticsQuery{Pathway: "p1", Days: 366}, callwright.ErrBadRequest, "days"},
		"no version": {
			org, agenttest.AnalyticsQuery{Pathway: "p1", Version: -1}, callwright.ErrBadRequest, "version_number",
		},
		"days to come": {org, agenttest.AnalyticsQuery{Pathway: "p1", Days: -1}, callwright.ErrBadRequest, "days"},
	} {
		_, basic := l.BasicAnalytics(t.Context(), tt.org, tt.q)
		_, enhanced := l.EnhancedAnalytics(t.Context(), tt.org, tt.q)
		if !errors.Is(basic, tt.want) || !errors.Is(enhanced, tt.want) || fieldOf(basic) != tt.field || fieldOf(enhanced) != tt.field {
			t.Errorf("%s: %v, %v", name, basic, enhanced)
		}
	}
	for _, days := range []int{0, 1, 365} {
		if _, err := l.EnhancedAnalytics(t.Context(), org, agenttest.AnalyticsQuery{Pathway: "p1", Days: days}); err != nil {
			t.Errorf("%d days: %v", days, err)
		}
	}
}
