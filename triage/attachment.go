package triage

import (
	"time"

	"github.com/callwright/callwright"
)

// Limits of an issue.
const (
	MaxResources = 500 // attached to an issue
	MaxFlags     = 200 // on the calls of an issue; all are read together, up to 34 KB each
	MaxRelations = 200 // of an issue, counting both directions
	MaxShown     = 50  // resources, and other issues, that an entry mentions
)

// Resource is the attachment of a resource, such as a call, to an issue.
type Resource struct {
	ID         string
	Org        callwright.OrgID
	IssueID    string
	Type       ResourceType
	ResourceID string // id of the attached resource
	Title      string
	Status     Availability   // at the time of attachment, like Metadata; Service.Resources returns the current values
	Metadata   map[string]any // more data from its ResourceResolver, for example "created_at"
	AttachedBy string         // id of the actor
	CreatedAt  time.Time
}

// ResourceType is the type of an attached resource, such as a call.
type ResourceType string

// The values of ResourceType. A program supports the types for which Config.Resolvers contains a resolver.
const (
	ResourceCall    ResourceType = "call"
	ResourceRun     ResourceType = "run" // a run of a test
	ResourcePathway ResourceType = "pathway"
	ResourcePort    ResourceType = "port_request" // a request to port telephone numbers
	ResourceSample  ResourceType = "sample"       // a sample of speech
	ResourceFile    ResourceType = "file"
)

// Availability states whether an attached resource still exists.
type Availability string

// The values of Availability.
const (
	Available   Availability = "available"
	Unavailable Availability = "unavailable"
)

// Flag marks an attached call, or a message or node of it, as needing attention.
type Flag struct {
	ID           string
	Org          callwright.OrgID
	IssueID      string
	CallID       string
	Type         string // type of problem, in the organization's words
	Note         string
	NodeID       string // node of the pathway, or empty
	NodeName     string
	MessageIndex *int // index in the transcript, from 0; nil means the whole call
	MessageText  string
	CreatedBy    string // id of the actor
	CreatedAt    time.Time
}

// Relation is a directed relation between two issues.
type Relation struct {
	ID        string
	Org       callwright.OrgID
	Type      RelationType
	From      IssueRef // From and To hold the current state of the issues
	To        IssueRef
	Merged    bool   // either issue was merged, so the relation cannot be deleted
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

// RelationType describes how the issue From of a relation relates to the issue To.
type RelationType string

// The values of RelationType.
const (
	RelatedTo   RelationType = "related_to" // symmetric
	Blocks      RelationType = "blocks"
	DuplicateOf RelationType = "duplicate_of"
)
