package issues

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/transport/dashboard/calls"
	"github.com/callwright/callwright/transport/dashboard/page"
	"github.com/callwright/callwright/triage"
)

// entry is a line of a feed as people see it.
type entry struct {
	triage.Entry
	Did      string // what its actor did
	Markdown bool   // Detail is a comment
	Comment  string // id of the comment that it is
	State    string // of that comment: "edited", "deleted" or empty
	From, To string // of a changed field
	Cause    *cause
	Payload  string // of another artifact, as JSON
}

// cause is the artifact of an analysis.
type cause struct {
	Cause      string     `json:"root_cause"`
	Suggestion string     `json:"suggestion"`
	Confidence string     `json:"confidence"`
	Evidence   []evidence `json:"evidence"`
}

// evidence is a line or a fact that a cause rests on.
type evidence struct {
	Type triage.ResourceType `json:"resource_type"`
	ID   string              `json:"resource_id"`
	Line *int                `json:"line"`
	Fact string              `json:"fact"`
	Text string              `json:"text"`
	At   *time.Duration      `json:"-"` // of the line in the call; nil: it is not known
}

// The bounds of what a page shows of artifacts.
const (
	maxPayload  = 8 << 10 // bytes
	maxEvidence = 50      // of a cause
	maxLine     = 1 << 30 // the number of a cited line
	maxLocated  = 100     // cited lines of a page whose times are looked up
)

// sentences say what was done, by the type of the entry.
var sentences = map[triage.EntryType]string{
	triage.TypeCreated: "opened the issue", triage.TypeStatusChanged: "changed the status", triage.TypeSeverityChanged: "changed the severity",
	triage.TypeCategoryChanged: "changed the category", triage.TypeAssigneeChanged: "changed the assignee",
	triage.TypeOwnerChanged: "changed the owner", triage.TypeComment: "commented", triage.TypeResourceAdded: "attached",
	triage.TypeResourceRemoved: "detached", triage.TypeFlagAdded: "flagged", triage.TypeFlagRemoved: "removed a flag from",
	triage.TypeRelationAdded: "related the issue to", triage.TypeRelationRemoved: "removed the relation to",
	triage.TypeAlertTransition: "saw an alert change", triage.TypeAccepted: "accepted the issue", triage.TypeDeclined: "declined the issue",
	triage.TypeMerged: "merged", triage.TypeSessionStarted: "began to work", triage.TypePrompt: "said to the agent", triage.TypeThought: "thought",
	triage.TypeAction: "did", triage.TypeResponse: "answered", triage.TypeArtifact: "made", triage.TypeError: "failed",
	triage.TypeSessionStopped: "stopped",
}

// entries makes the lines of a page of a feed.
func (p pages) entries(ctx context.Context, org callwright.OrgID, items []triage.Entry) ([]entry, error) {
	all := make([]entry, len(items))
	latest := map[string]triage.Entry{} // changes of comments by the ids of these, the newest
	room := maxLocated
	for n, e := range items {
		all[n] = entry{Entry: e, Did: sentences[e.Type], From: text(e.Metadata["from"]), To: text(e.Metadata["to"])}
		if e.FromStatus != "" || e.ToStatus != "" {
			all[n].From, all[n].To = words(e.FromStatus), words(e.ToStatus)
		}
		if e.Type == triage.TypeComment {
			all[n].comment(latest)
		}
		if e.Artifact == nil {
			continue
		}
		all[n].artifact(*e.Artifact)
		if err := p.locate(ctx, org, all[n].Cause, &room); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// text shows a value of an entry's metadata.
func text(value any) string {
	if value == nil {
		return ""
	}
	return callwright.Clip(fmt.Sprint(value), 200)
}

// comment shows a comment as it stands by the later changes on the page.
func (e *entry) comment(latest map[string]triage.Entry) {
	e.Markdown = true
	id, act := text(e.Metadata["comment_id"]), text(e.Metadata["action"])
	if id != "" {
		if _, later := latest[id]; !later {
			latest[id] = e.Entry
		}
		e.Did, e.Detail = act+" a comment", ""
		return
	}
	e.Comment = e.ID
	if change, ok := latest[e.ID]; ok {
		e.State, e.Detail = text(change.Metadata["action"]), change.Detail
	}
}

// artifact shows the result of an agent's work.
func (e *entry) artifact(a triage.Artifact) {
	if c := new(cause); a.Type == "root_cause" && json.Unmarshal(a.Payload, c) == nil {
		c.Evidence = c.Evidence[:min(len(c.Evidence), maxEvidence)]
		e.Cause = c
		return
	}
	var b bytes.Buffer
	if len(a.Payload) > 0 && json.Indent(&b, a.Payload, "", "  ") == nil {
		e.Payload = callwright.Clip(b.String(), maxPayload)
	}
}

// locate finds the times of the cited lines of calls, as long as there is room for more on the page.
func (p pages) locate(ctx context.Context, org callwright.OrgID, c *cause, room *int) error {
	if c == nil || p.cfg.Calls == nil {
		return nil
	}
	for n := range c.Evidence {
		e := &c.Evidence[n]
		if e.Type != triage.ResourceCall || e.Line == nil || *e.Line < 0 || *e.Line > maxLine || *room == 0 {
			continue
		}
		*room--
		found, err := p.cfg.Calls.TranscriptBefore(ctx, org, e.ID, e.Number()+1, 1)
		if err != nil && !errors.Is(err, callwright.ErrNotFound) {
			return err
		}
		if len(found) == 1 && found[0].Seq == e.Number() {
			e.At = &found[0].Start
		}
	}
	return nil
}

// Href returns the page of a cited resource, at the second of the line; empty: it has none.
func (e evidence) Href() string {
	if e.At != nil {
		return calls.LinePath(e.ID, e.Number(), *e.At)
	}
	return href(e.Type, e.ID)
}

// Number returns the number of the cited line, from 1.
func (e evidence) Number() int { return *e.Line + 1 }

// folders are the pages of what can be attached.
var folders = map[triage.ResourceType]string{
	triage.ResourceCall: "/calls", triage.ResourceRun: "/tests/runs", triage.ResourcePathway: "/pathways", triage.ResourcePort: "/ports",
}

// href returns the path of the page of a resource; empty: it has none.
func href(t triage.ResourceType, id string) string {
	if folders[t] == "" {
		return ""
	}
	return page.Path(folders[t], id)
}
