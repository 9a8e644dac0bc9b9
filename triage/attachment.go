package triage

import (
	"time"

	"github.com/callwright/callwright"
)

// The limits of an issue.
const (
	MaxResources = 500 // attached to an issue
	MaxFlags     = 200 // on the calls of an issue: all are read together, up to 34 KB each
	MaxRelations = 200 // of an issue, in both directions
	MaxShown     = 50  // resources, and other issues, of one entry
)

// Resource is something attached to an issue.
type Resource struct {
	ID         string
	Org        callwright.OrgID
	IssueID    string
	Type       ResourceType
	ResourceID string // id of the attached resource
	Title      string
	Status     Availability   // at the time of attachment, like Metadata; Service.Resources returns the current values
	Metadata   map[string]any // further data of its ResourceResolver, for example "created_at"
	AttachedBy string         // id of the actor
	CreatedAt  time.Time
}

// ResourceType is the type of an attached resource.
type ResourceType string

// The types of resources. A program supports the types in Config.Resolvers.
const (
	ResourceCall    ResourceType = "call"
	ResourceRun     ResourceType = "run" // of a test
	ResourcePathway ResourceType = "pathway"
	ResourcePort    ResourceType = "port_request" // of telephone numbers
	ResourceSample  ResourceType = "sample"       // of speech
	ResourceFile    ResourceType = "file"
)

// Availability is the availability of an attached resource.
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
	Type         string // kind of the problem, in the organization's words
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
	From      IssueRef // current, like the refs of From and To
	To        IssueRef
	Merged    bool   // either issue was merged into another, so that the relation cannot be deleted
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

// RelationType is the relation of the first issue to the second.
type RelationType string

// The types of relations.
const (
	RelatedTo   RelationType = "related_to" // symmetric
	Blocks      RelationType = "blocks"
	DuplicateOf RelationType = "duplicate_of"
)
