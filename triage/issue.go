package triage

import (
	"strconv"
	"strings"
	"time"

	"github.com/callwright/callwright"
)

// Issue records a problem and the work on it.
type Issue struct {
	ID           string
	Org          callwright.OrgID
	Number       int // sequential per organization, from FirstNumber
	Title        string
	Description  string
	Status       Status
	Severity     Severity
	Source       Source
	Category     string // free text, or empty
	OwnerID      string // id of the responsible person, or empty
	AssigneeID   string // id of the person who works on it, or empty
	Author       Actor
	ExternalLink string // URL of the same issue in another system, or empty
	MergedInto   string // id of the issue into which this one was merged; empty if none, or if that issue was deleted

	Resources int         // number of attached resources
	Flags     int         // number of flags
	Relations int         // number of relations to other issues, counting both directions
	Session   *SessionRef // current state of the newest agent session, or nil
	Working   int         // number of pending or active agent sessions

	CreatedAt      time.Time
	UpdatedAt      time.Time // when Version last changed
	LastActivityAt time.Time // time of the newest entry
	Version        int64     // counts changes of editable fields from 1; editors pass it to detect other edits
	Revision       int64     // counts changes of the record from 1, for the compare-and-set of UpdateIssue
}

// FirstNumber is the number of an organization's first issue.
const FirstNumber = 1001

// Name returns the issue's readable name, for example "T-1001".
func (i Issue) Name() string { return issueName(i.Number) }

// Ref returns a short form of the issue in its current state.
func (i Issue) Ref() IssueRef {
	return IssueRef{ID: i.ID, Number: i.Number, Title: i.Title, Status: i.Status}
}

// IssueRef is a short form of an issue. In an Entry, it shows the issue as it was when the entry was added; in a Relation, it shows the
// current state.
type IssueRef struct {
	ID     string
	Number int
	Title  string
	Status Status
}

// Name returns the issue's readable name, for example "T-1001".
func (r IssueRef) Name() string { return issueName(r.Number) }

func issueName(number int) string { return "T-" + strconv.Itoa(number) }

// parseName parses the readable name of an issue, in upper or lower case. ok is false for any other text.
func parseName(name string) (number int, ok bool) {
	if len(name) < len("T-1") {
		return 0, false
	}
	number, err := strconv.Atoi(name[len("T-"):])
	return number, err == nil && strings.EqualFold(issueName(number), name)
}

// Severity ranks the problem of an issue, from SeverityLow to SeverityCritical.
type Severity string

// The severities, worst first.
const (
	SeverityCritical Severity = "critical"
	SeverityHigh     Severity = "high"
	SeverityMedium   Severity = "medium"
	SeverityLow      Severity = "low"
)

// Severities lists all severities, least severe first. Lists that are sorted by severity use their indexes.
func Severities() []Severity {
	return []Severity{SeverityLow, SeverityMedium, SeverityHigh, SeverityCritical}
}

// Source is the origin of an issue.
type Source string

// The values of Source.
const (
	SourceManual    Source = "manual"
	SourceAutomated Source = "automated"
	SourceClient    Source = "client"
)

// Actor is the person, agent or platform that makes a change.
type Actor struct {
	Kind      ActorKind
	ID        string // at most 64 characters
	Label     string // displayed name, at most 200 characters
	AvatarURL string // may be empty
}

// ActorKind distinguishes people, agents and the platform.
type ActorKind string

// The values of ActorKind.
const (
	ActorUser   ActorKind = "user"
	ActorSystem ActorKind = "system"
	ActorAgent  ActorKind = "agent"
)

// System returns the platform as an actor.
func System() Actor { return Actor{Kind: ActorSystem, ID: "system", Label: "Callwright"} }
