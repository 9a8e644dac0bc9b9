package run

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agenttest/scenario"
)

// Snapshot contains the scenario and the version that a run tests, in their state at the run's creation. All runs of the same test share a
// snapshot.
type Snapshot struct {
	ID        string
	Org       callwright.OrgID
	Scenario  scenario.Scenario // with the run's overrides applied to its RequestData
	Version   int
	Hash      string // hash of the version: see pathway.Version
	CreatedAt time.Time
}

// NewSnapshot returns a snapshot of the tested scenario and version, with the given time as its CreatedAt.
func NewSnapshot(sc scenario.Scenario, v Version, override map[string]any, at time.Time) Snapshot {
	return Snapshot{
		ID: SnapshotID(sc, v, override), Org: sc.Org, Scenario: sc, Version: v.Number, Hash: v.Hash, CreatedAt: at,
	}
}

// SnapshotID returns the id of a snapshot: a hash of the scenario's organization, id and revision, the version's number and hash, and the
// override. Equal tests therefore share a snapshot. A brief scenario (ScenarioFilter.Brief) is sufficient.
func SnapshotID(sc scenario.Scenario, v Version, override map[string]any) string {
	raw, err := json.Marshal([]any{sc.Org, sc.ID, sc.Revision, v.Number, v.Hash, override})
	if err != nil { // overrides of request data can always be encoded
		panic(err)
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// Subject is a tested scenario in its state at the creation of its runs or of their group.
type Subject struct {
	Scenario string // id of the scenario
	Revision int64  // revision of the scenario
	Name     string
	Pathway  string // id; empty if Persona is set
	Persona  string
	Version  int
	Snapshot string // id of the Snapshot
}

// NewSubject returns the data that all runs with a snapshot share.
func NewSubject(sc scenario.Scenario, v Version, snapshot string) Subject {
	return Subject{
		Scenario: sc.ID, Revision: sc.Revision, Name: sc.Name, Pathway: sc.Pathway, Persona: sc.Persona, Version: v.Number,
		Snapshot: snapshot,
	}
}

// New returns a waiting run that tests the subject.
func (s Subject) New(org callwright.OrgID, id string, at time.Time) Run {
	return Run{
		ID: id, Org: org, Scenario: s.Scenario, Name: s.Name, Pathway: s.Pathway, Persona: s.Persona, Version: s.Version,
		Snapshot: s.Snapshot, State: Pending, CreatedAt: at, Revision: 1,
	}
}
