package run

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agenttest/scenario"
)

// Snapshot is the test of a run, as of the run's creation. All runs with the same test share it.
type Snapshot struct {
	ID        string
	Org       callwright.OrgID
	Scenario  scenario.Scenario // with the run's overrides in its RequestData
	Version   int
	Hash      string // of the version: see pathway.Version
	CreatedAt time.Time
}

// NewSnapshot returns what is tested as it is at a time.
func NewSnapshot(sc scenario.Scenario, v Version, override map[string]any, at time.Time) Snapshot {
	return Snapshot{
		ID: SnapshotID(sc, v, override), Org: sc.Org, Scenario: sc, Version: v.Number, Hash: v.Hash, CreatedAt: at,
	}
}

// SnapshotID returns the id of a snapshot. It follows from what is tested, so that all runs that test the same share a snapshot. Of
// the scenario it needs what brief lists have.
func SnapshotID(sc scenario.Scenario, v Version, override map[string]any) string {
	raw, err := json.Marshal([]any{sc.Org, sc.ID, sc.Revision, v.Number, v.Hash, override})
	if err != nil { // overrides of request data are JSON
		panic(err)
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// Subject is a scenario as runs test it: as it was when they, or their group, were created.
type Subject struct {
	Scenario string // id
	Revision int64  // of the scenario
	Name     string
	Pathway  string // id; empty: Persona
	Persona  string
	Version  int
	Snapshot string // id
}

// NewSubject returns what the runs of a snapshot have in common.
func NewSubject(sc scenario.Scenario, v Version, snapshot string) Subject {
	return Subject{
		Scenario: sc.ID, Revision: sc.Revision, Name: sc.Name, Pathway: sc.Pathway, Persona: sc.Persona, Version: v.Number,
		Snapshot: snapshot,
	}
}

// New returns a run of a subject that waits.
func (s Subject) New(org callwright.OrgID, id string, at time.Time) Run {
	return Run{
		ID: id, Org: org, Scenario: s.Scenario, Name: s.Name, Pathway: s.Pathway, Persona: s.Persona, Version: s.Version,
		Snapshot: s.Snapshot, State: Pending, CreatedAt: at, Revision: 1,
	}
}
