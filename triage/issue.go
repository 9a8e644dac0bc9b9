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
	Number       int // counts the issues of the organization, from FirstNumber
	Title        string
	Description  string
	Status       Status
	Severity     Severity
	Source       Source
	Category     string // free grouping; empty: none
	OwnerID      string // person responsible for it; empty: none
	AssigneeID   string // person working on it; empty: none
	Author       Actor
	ExternalLink string // the same issue in another system; empty: none
	MergedInto   string // the issue that replaces it; empty: none, or it was deleted. A merged issue no longer changes

	Resources int         // number of attached resources
	Flags     int         // number of flags
	Relations int         // number of relations to other issues, in either direction
	Session   *SessionRef // current state of the latest agent session; nil: none
	Working   int         // number of pending or active agent sessions

	CreatedAt      time.Time
	UpdatedAt      time.Time // when Version last changed
	LastActivityAt time.Time // of the newest entry
	Version        int64     // counts the changes of editable fields, for the editors' check; 1 at first
	Revision       int64     // counts all changes of the record, for the compare-and-set; 1 at first
}

// FirstNumber is the number of an organization's first issue.
const FirstNumber = 1001

// Name returns the issue's readable name, for example "T-1001".
func (i Issue) Name() string { return issueName(i.Number) }

// Ref returns the issue in short.
func (i Issue) Ref() IssueRef {
	return IssueRef{ID: i.ID, Number: i.Number, Title: i.Title, Status: i.Status}
}

// IssueRef is an issue in short, as it was when it was mentioned.
type IssueRef struct {
	ID     string
	Number int
	Title  string
	Status Status
}

// Name returns the issue's readable name.
func (r IssueRef) Name() string { return issueName(r.Number) }

func issueName(number int) string { return "T-" + strconv.Itoa(number) }

// parseName returns the number in the readable name of an issue, in any case.
func parseName(name string) (number int, ok bool) {
	if len(name) < len("T-1") {
		return 0, false
	}
	number, err := strconv.Atoi(name[len("T-"):])
	return number, err == nil && strings.EqualFold(issueName(number), name)
}

// Severity is the severity of an issue.
type Severity string

// The severities, the worst first.
const (
	SeverityCritical Severity = "critical"
	SeverityHigh     Severity = "high"
	SeverityMedium   Severity = "medium"
	SeverityLow      Severity = "low"
)

// Severities lists all severities, the least first: lists sort by their index.
func Severities() []Severity {
	return []Severity{SeverityLow, SeverityMedium, SeverityHigh, SeverityCritical}
}

// Source is the source of an issue.
type Source string

// The sources.
const (
	SourceManual    Source = "manual"
	SourceAutomated Source = "automated"
	SourceClient    Source = "client"
)

// Actor is the person, agent or platform that acts.
type Actor struct {
	Kind      ActorKind
	ID        string // at most 64 characters
	Label     string // the name to show, at most 200 characters
	AvatarURL string // empty: none
}

// ActorKind distinguishes people, agents and the platform.
type ActorKind string

// The kinds of actors.
const (
	ActorUser   ActorKind = "user"
	ActorSystem ActorKind = "system"
	ActorAgent  ActorKind = "agent"
)

// System returns the platform as an actor.
func System() Actor { return Actor{Kind: ActorSystem, ID: "system", Label: "Callwright"} }
