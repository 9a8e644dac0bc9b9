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

// entry is an entry of a feed, prepared for the page.
type entry struct {
	triage.Entry
	Did      string // verb phrase that precedes the referenced issues
	Then     string // rest of the sentence, before the resources
	Gone     bool   // the referenced issues were deleted
	Markdown bool   // Detail is a comment
	Comment  string // id of the comment, if the entry is a comment
	State    string // state of the comment: "edited", "deleted" or empty
	From, To string // former and new value of a changed field
	Cause    *cause
	Payload  string // JSON of an artifact other than a cause
	Fold     *fold  // similar entries that this entry represents; nil for a single entry
}

// fold is a group of consecutive attachments of one type, which the feed shows as one entry.
type fold struct {
	ID      string // id of the oldest entry, which is stable when others are added
	Kind    triage.ResourceType
	Since   time.Time // time of the oldest entry
	Entries []entry   // all entries, newest first
}

// cause is the artifact that an analysis appends.
type cause struct {
	Cause      string     `json:"root_cause"`
	Suggestion string     `json:"suggestion"`
	Confidence string     `json:"confidence"`
	Evidence   []evidence `json:"evidence"`
}

// evidence is a line or a fact that a cause cites.
type evidence struct {
	Type triage.ResourceType `json:"resource_type"`
	ID   string              `json:"resource_id"`
	Line *int                `json:"line"`
	Fact string              `json:"fact"`
	Text string              `json:"text"`
	At   *time.Duration      `json:"-"` // position of the line in the call; nil if unknown
	Href string              `json:"-"` // path of the page, at the line; may be empty
}

// The limits of a page of the feed.
const (
	maxPayload  = 8 << 10 // bytes
	maxEvidence = 50      // maximum citations per cause
	maxLine     = 1 << 30 // maximum index of a cited line
	maxLocated  = 100     // maximum cited lines per page whose times are looked up
	maxComment  = 6000    // bytes shown of a comment
)

// entries converts the items of a feed page to the entries that the page shows, and folds consecutive attachments.
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

// newEntry prepares an entry for the page. revised contains the edited and the deleted comments of the page, by id.
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
	case e.Type == triage.TypeComment: // the comment itself shows the new text
		shown.Detail = ""
	case e.Artifact != nil:
		shown.artifact(*e.Artifact)
	}
	_, shown.Gone = e.Metadata["deleted"]
	return shown
}

// isComment reports whether an entry is a comment. An entry that edits or deletes a comment is not a comment.
func isComment(e triage.Entry) bool {
	return e.Type == triage.TypeComment && text(e.Metadata["comment_id"]) == ""
}

// text formats a value of an entry's metadata, truncated to 200 bytes. It returns "" for nil.
func text(value any) string {
	if value == nil {
		return ""
	}
	return callwright.Clip(fmt.Sprint(value), 200)
}

// artifact sets Cause if the artifact is a root cause, or else Payload.
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

// locate sets the paths of cited resources and, unless Config.Calls is nil, the times of cited lines. It looks up at most maxLocated lines,
// in one query.
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

// Number returns the number of the cited line, starting at 1. Line must not be nil.
func (e evidence) Number() int { return *e.Line + 1 }
