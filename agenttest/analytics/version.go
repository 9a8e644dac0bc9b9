package analytics

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/callwright/callwright/agenttest/stats"
)

// MaxVersions is the maximum number of versions in a VersionCounter.
const MaxVersions = 100

// VersionRuns counts the ended runs of a version.
type VersionRuns struct {
	Version                  int
	Passed, Failed, Unscored int
}

// Rate returns the share of passed runs among scored ones, or nil if none was scored.
func (v VersionRuns) Rate() *float64 { return ratio(v.Passed, v.Passed+v.Failed) }

// VersionCounter counts the runs of each version.
type VersionCounter struct {
	from     time.Time
	versions map[int]*VersionRuns
}

// NewVersionCounter returns a VersionCounter for the given number of days before now.
func NewVersionCounter(now time.Time, days int) *VersionCounter {
	return &VersionCounter{NewCounter(now, days).from, map[int]*VersionRuns{}}
}

// Add counts a run, unless the run was created before the window. Runs must be added newest first: after MaxVersions versions, Add omits
// the runs of further versions.
func (c *VersionCounter) Add(r Run) {
	v := c.versions[r.Version]
	if r.CreatedAt.Before(c.from) || v == nil && len(c.versions) == MaxVersions {
		return
	}
	if v == nil {
		v = &VersionRuns{Version: r.Version}
		c.versions[r.Version] = v
	}
	switch r.State {
	case stats.Passed:
		v.Passed++
	case stats.Failed:
		v.Failed++
	case stats.Error, stats.Cancelled:
		v.Unscored++
	}
}

// Versions returns the counts, newest version first.
func (c *VersionCounter) Versions() []VersionRuns {
	all := make([]VersionRuns, 0, len(c.versions))
	for v := range maps.Values(c.versions) {
		all = append(all, *v)
	}
	slices.SortFunc(all, func(a, b VersionRuns) int { return cmp.Compare(b.Version, a.Version) })
	return all
}
