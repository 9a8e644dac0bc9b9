package analytics_test

import (
	"testing"

	"github.com/callwright/callwright/agenttest/analytics"
	"github.com/callwright/callwright/agenttest/stats"
)

// TestVersions checks that only runs in the window count, and only of the MaxVersions most recently tested versions.
func TestVersions(t *testing.T) {
	t.Parallel()
	c := analytics.NewVersionCounter(now, 30)
	for n := range analytics.MaxVersions + 5 {
		c.Add(analytics.Run{Version: 500 - n, State: stats.Passed, CreatedAt: ago(1)})
	}
	for _, r := range []analytics.Run{
		{Version: 500, State: stats.Failed, CreatedAt: ago(2)}, {Version: 500, State: stats.Error, CreatedAt: ago(2)},
		{Version: 500, State: stats.Cancelled, CreatedAt: ago(2)}, {Version: 500, State: stats.Failed, CreatedAt: ago(31)},
	} {
		c.Add(r)
	}
	all := c.Versions()
	if len(all) != analytics.MaxVersions || all[0] != (analytics.VersionRuns{Version: 500, Passed: 1, Failed: 1, Unscored: 2}) || all[99].Version != 401 {
		t.Fatalf("%d versions: %+v", len(all), all)
	}
	if !near(all[0].Rate(), 0.5) || (analytics.VersionRuns{Unscored: 1}).Rate() != nil {
		t.Errorf("the rate is %v", all[0].Rate())
	}
}
