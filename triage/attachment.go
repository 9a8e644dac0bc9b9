package triage

import (
	"time"

	"github.com/callwright/callwright"
)

// The limits of an issue.
const (
	MaxResources = 500 // attached to an issue
	MaxFlags     = 200 // on the calls of an issue: all are read at once, and each may have 34 KB
	MaxRelations = 200 // of an issue, in both directions
	MaxShown     = 50  // resources, and other issues, of one entry
)

// Resource is something attached to an issue.
type Resource struct {
	ID         string
	Org        callwright.OrgID
	IssueID    string
	Type       ResourceType
	ResourceID string // id of what is attached
	Title      string
	Status     Availability   // when it was attached; Service.Resources says what it is now, and so of Metadata
	Metadata   map[string]any // what else its ResourceResolver tells, such as "created_at"
	AttachedBy string         // id of the actor
	CreatedAt  time.Time
}

// ResourceType says what kind of thing is attached.
type ResourceType string

// The types of resources. Which of them a program serves depends on its libraries: see Config.
const (
	ResourceCall    ResourceType = "call"
	ResourceRun     ResourceType = "run" // of a test
	ResourcePathway ResourceType = "pathway"
	ResourcePort    ResourceType = "port_request" // of telephone numbers
	ResourceSample  ResourceType = "sample"       // of speech
	ResourceFile    ResourceType = "file"
)

// Availability says whether an attached resource can still be read.
type Availability string

// The availabilities.
const (
	Available   Availability = "available"
	Unavailable Availability = "unavailable"
)

// Flag marks a place in an attached call that needs attention.
type Flag struct {
	ID           string
	Org          callwright.OrgID
	IssueID      string
	CallID       string
	Type         string // what kind of trouble it is, in the organization's words
	Note         string
	NodeID       string // of the pathway; empty: none
	NodeName     string
	MessageIndex *int // of the transcript, from 0; nil: the whole call
	MessageText  string
	CreatedBy    string // id of the actor
	CreatedAt    time.Time
}

// Relation relates two issues.
type Relation struct {
	ID        string
	Org       callwright.OrgID
	Type      RelationType
	From      IssueRef // as it stands, the ref of From and To
	To        IssueRef
	Merged    bool   // either issue was merged into another, so that the relation stays
	CreatedBy string // id of the actor
	CreatedAt time.Time
}

// other returns the id of the issue at the other end of a relation.
func (r Relation) other(id string) string {
	if r.From.ID == id {
		return r.To.ID
	}
	return r.From.ID
}

// RelationType says what the first issue of a relation is to the second.
type RelationType string

// The types of relations.
const (
	RelatedTo   RelationType = "related_to" // the other way round, too
	Blocks      RelationType = "blocks"
	DuplicateOf RelationType = "duplicate_of"
)
