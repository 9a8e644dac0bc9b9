package issues

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/transport/dashboard/internal/calls"
	"github.com/callwright/callwright/transport/dashboard/internal/page"
	"github.com/callwright/callwright/triage"
)

// entry is a line of a feed as people see it.
type entry struct {
	triage.Entry
	Did      string // the actor's action on the referenced issues
	Then     string // the rest of the sentence, before its resources
	Gone     bool   // the issues that it references were deleted
	Markdown bool   // Detail is a comment
	Comment  string // id of the comment that it is
	State    string // of that comment: "edited", "deleted" or empty
	From, To string // of a changed field
	Cause    *cause
	Payload  string // of another artifact, as JSON
	Fold     *fold  // the entry stands for several like it; nil: for itself
}

// fold is several consecutive attachments of one kind in a feed, shown as one entry.
type fold struct {
	ID      string // of the oldest, which stays when others are attached
	Kind    triage.ResourceType
	Since   time.Time // the oldest was attached
	Entries []entry   // all of them, the newest first
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
	At   *time.Duration      `json:"-"` // of the line in the call; nil: it is unknown
	Href string              `json:"-"` // of its page, at the line; empty: it has none
}

// The bounds of the shown parts of artifacts.
const (
	maxPayload  = 8 << 10 // bytes
	maxEvidence = 50      // of a cause
	maxLine     = 1 << 30 // the number of a cited line
	maxLocated  = 100     // cited lines of a page whose times are looked up
	maxComment  = 6000    // bytes of a comment that are shown
)

// entries makes the lines of a page of the feed of an issue.
func (p pages) entries(ctx context.Context, org callwright.OrgID, issue string, items []triage.Entry) ([]entry, error) {
	var comments []string
	for _, e := range items {
		if isComment(e) {
			comments = append(comments, e.ID)
		}
	}
	revised, err := p.cfg.Issues.RevisedComments(ctx, org, issue, comments, maxComment+1)
	if err != nil {
		return nil, err
	}
	var all []entry
	for _, group := range triage.Fold(items) {
		shown := newEntry(group[0], revised)
		if oldest := group[len(group)-1]; len(group) > 1 {
			shown.Fold = &fold{ID: oldest.ID, Kind: oldest.Resources[0].Type, Since: oldest.CreatedAt}
			for _, e := range group {
				shown.Fold.Entries = append(shown.Fold.Entries, newEntry(e, revised))
			}
		}
		all = append(all, shown)
	}
	return all, p.locate(ctx, org, all)
}

// newEntry shows an entry. revised are the comments of the page that are not as they were written.
func newEntry(e triage.Entry, revised map[string]triage.Comment) entry {
	shown := entry{Entry: e, From: text(e.Metadata["from"]), To: text(e.Metadata["to"])}
	shown.Did, shown.Then = sentence(e)
	if e.FromStatus != "" || e.ToStatus != "" {
		shown.From, shown.To = page.Words(e.FromStatus), page.Words(e.ToStatus)
	}
	switch {
	case isComment(e):
		shown.Markdown, shown.Comment = true, e.ID
		if c, ok := revised[e.ID]; ok && c.Deleted {
			shown.State, shown.Detail = "deleted", ""
		} else if ok {
			shown.State, shown.Detail = "edited", c.Detail
		}
	case e.Type == triage.TypeComment: // its text is shown where the comment is
		shown.Detail = ""
	case e.Artifact != nil:
		shown.artifact(*e.Artifact)
	}
	_, shown.Gone = e.Metadata["deleted"]
	return shown
}

// isComment reports whether an entry is a comment, and not the change of one.
func isComment(e triage.Entry) bool {
	return e.Type == triage.TypeComment && text(e.Metadata["comment_id"]) == ""
}

// text shows a value of an entry's metadata.
func text(value any) string {
	if value == nil {
		return ""
	}
	return callwright.Clip(fmt.Sprint(value), 200)
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

// locate finds the pages of cited resources, and the times of the cited lines of calls. It looks up maxLocated lines in one query.
func (p pages) locate(ctx context.Context, org callwright.OrgID, all []entry) error {
	cited := map[call.LinePlace][]*evidence{}
	for _, shown := range all {
		if shown.Cause == nil {
			continue
		}
		for n := range shown.Cause.Evidence {
			e := &shown.Cause.Evidence[n]
			e.Href = p.href(e.Type, e.ID)
			if e.Type != triage.ResourceCall || e.Line == nil || *e.Line < 0 || *e.Line > maxLine {
				continue
			}
			place := call.LinePlace{Call: e.ID, Seq: e.Number()}
			if cited[place] != nil || len(cited) < maxLocated {
				cited[place] = append(cited[place], e)
			}
		}
	}
	if p.cfg.Calls == nil {
		return nil
	}
	found, err := p.cfg.Calls.LinesAt(ctx, org, slices.Collect(maps.Keys(cited)))
	for place, line := range found {
		for _, e := range cited[place] {
			if e.At = &line.Start; e.Href != "" {
				e.Href = calls.LinePath(place.Call, place.Seq)
			}
		}
	}
	return err
}

// Number returns the number of the cited line, from 1.
func (e evidence) Number() int { return *e.Line + 1 }
