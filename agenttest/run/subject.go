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

// NewSnapshot returns a snapshot of the tested scenario and version at a time.
func NewSnapshot(sc scenario.Scenario, v Version, override map[string]any, at time.Time) Snapshot {
	return Snapshot{
		ID: SnapshotID(sc, v, override), Org: sc.Org, Scenario: sc, Version: v.Number, Hash: v.Hash, CreatedAt: at,
	}
}

// SnapshotID returns the id of a snapshot. It is derived from the tested content, so that equal tests share a snapshot. The fields
// of a brief scenario suffice.
func SnapshotID(sc scenario.Scenario, v Version, override map[string]any) string {
	raw, err := json.Marshal([]any{sc.Org, sc.ID, sc.Revision, v.Number, v.Hash, override})
	if err != nil { // overrides of request data are JSON
		panic(err)
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// Subject is a scenario in its state at the creation of its runs or of their group.
type Subject struct {
	Scenario string // id
	Revision int64  // of the scenario
	Name     string
	Pathway  string // id; empty: Persona
	Persona  string
	Version  int
	Snapshot string // id
}

// NewSubject returns the common facts of the runs of a snapshot.
func NewSubject(sc scenario.Scenario, v Version, snapshot string) Subject {
	return Subject{
		Scenario: sc.ID, Revision: sc.Revision, Name: sc.Name, Pathway: sc.Pathway, Persona: sc.Persona, Version: v.Number,
		Snapshot: snapshot,
	}
}

// New returns a waiting run of a subject.
func (s Subject) New(org callwright.OrgID, id string, at time.Time) Run {
	return Run{
		ID: id, Org: org, Scenario: s.Scenario, Name: s.Name, Pathway: s.Pathway, Persona: s.Persona, Version: s.Version,
		Snapshot: s.Snapshot, State: Pending, CreatedAt: at, Revision: 1,
	}
}
