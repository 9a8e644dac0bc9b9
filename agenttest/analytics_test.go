package agenttest_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agenttest"
	"github.com/callwright/callwright/agenttest/run"
)

// TestAnalyticsOfRuns checks that finished runs appear in the analytics of their pathway.
func TestAnalyticsOfRuns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		good, bad := l.scenario(), l.scenario(failing)
		l.run(l.Service)
		l.start(good, run.Request{})
		l.start(bad, run.Request{})
		settled()
		q := agenttest.AnalyticsQuery{Pathway: "p1", Scripted: true}
		basic, err := l.BasicAnalytics(t.Context(), org, q)
		b := basic.About
		if err != nil || b.Total != 2 || b.Passed != 1 || b.Failed != 1 || b.Score == nil || *b.Score != 0.75 || len(b.Recent) != 2 {
			t.Errorf("got %+v, %v", b, err)
		}
		found, err := l.EnhancedAnalytics(t.Context(), org, q)
		r := found.About
		if err != nil || len(r.Heatmap) != 2 || r.Heatmap[0].Failed != 0 || r.Heatmap[0].Visits != 2 || r.Unplaced != 1 {
			t.Errorf("the heatmap is %+v, %d failures have no place, %v", r.Heatmap, r.Unplaced, err)
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

// TestAnalyticsOfNewestRuns checks that analytics examine at most AnalyticsQuery.Scan runs, and that LeftOut counts the excluded ones.
func TestAnalyticsOfNewestRuns(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	for i := range 6 {
		r := run.Run{
			ID: fmt.Sprint("r", i), Org: org, Scenario: "s1", Pathway: "p1", Version: 1 + i%2, State: run.Passed, Scripted: i < 2,
			CreatedAt: time.Now().Add(-time.Duration(i) * time.Minute), EndedAt: time.Now(),
		}
		if err := l.cfg.Store.InsertRuns(t.Context(), []run.Run{r}); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		scan, version  int
		scripted       bool
		total, leftOut int
		cut            bool
	}{
		{0, 0, false, 4, 2, false},
		{0, 1, false, 2, 1, false},
		{0, 0, true, 6, 0, false},
		{6, 0, false, 4, 2, false},
		{6, 0, true, 6, 0, false},
		{5, 0, false, 3, 2, true},
		{5, 1, false, 2, 1, true},
		{2, 0, false, 0, 2, true},
		{2, 0, true, 2, 0, true},
	} {
		q := agenttest.AnalyticsQuery{Pathway: "p1", Version: tt.version, Scripted: tt.scripted, Scan: tt.scan}
		basic, err := l.BasicAnalytics(t.Context(), org, q)
		if err != nil || basic.About.Total != tt.total || basic.LeftOut != tt.leftOut || basic.Cut != tt.cut {
			t.Errorf("%+v: %d runs, %d left out, cut: %t, %v", q, basic.About.Total, basic.LeftOut, basic.Cut, err)
		}
		found, err := l.EnhancedAnalytics(t.Context(), org, q)
		if err != nil || found.About.Total != tt.total || found.LeftOut != tt.leftOut || found.Cut != tt.cut {
			t.Errorf("%+v: %d runs, %d left out, cut: %t, %v", q, found.About.Total, found.LeftOut, found.Cut, err)
		}
		if why := found.WhyLeftOut(); (why != "") != (tt.leftOut > 0) || why != basic.WhyLeftOut() {
			t.Errorf("%+v: %q, %q", q, why, basic.WhyLeftOut())
		}
	}
	// The trend spans two weeks, regardless of the query's days. LeftOut must not count runs before these days.
	old := run.Run{
		ID: "old", Org: org, Scenario: "s1", Pathway: "p1", Version: 1, State: run.Passed, Scripted: true,
		CreatedAt: time.Now().Add(-72 * time.Hour), EndedAt: time.Now(),
	}
	if err := l.cfg.Store.InsertRuns(t.Context(), []run.Run{old}); err != nil {
		t.Fatal(err)
	}
	found, err := l.EnhancedAnalytics(t.Context(), org, agenttest.AnalyticsQuery{Pathway: "p1", Days: 1})
	if err != nil || found.LeftOut != 2 {
		t.Errorf("of one day %d runs are left out, %v", found.LeftOut, err)
	}
}

// TestAnalyticsThatAreRefused checks the errors of queries for absent pathways, and for days and versions out of range.
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
