package issues_test

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/callwright/callwright/transport/dashboard/internal/issues"
	"github.com/callwright/callwright/triage"
	"github.com/callwright/callwright/triage/triagetest"
)

var tags = regexp.MustCompile(`<[^>]*>|\s+`)

// feed returns the text of an issue's feed without HTML tags.
func (h *house) feed(id string) string {
	h.t.Helper()
	_, feed, _ := strings.Cut(h.get(http.StatusOK, "/issues/"+id), `id="live-feed"`)
	return strings.Join(strings.Fields(tags.ReplaceAllString(feed, " ")), " ")
}

// TestRevisedCommentsOfOlderPages checks that an older page of a feed shows the current text of an edited comment, and no text of a deleted
// one.
func TestRevisedCommentsOfOlderPages(t *testing.T) {
	t.Parallel()
	h := open(t)
	i := h.issue(org, triage.Draft{Title: "A"})
	var ids []string
	for n := range 60 {
		e, err := h.Comment(t.Context(), org, ada, i.ID, triage.CommentDraft{Detail: fmt.Sprintf("Text %d.", n)})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, e.ID)
	}
	_, editErr := h.EditComment(t.Context(), org, ada, i.ID, ids[1], strings.Repeat("Anew. ", 2000))
	_, deleteErr := h.DeleteComment(t.Context(), org, ada, i.ID, ids[2])
	if err := errors.Join(editErr, deleteErr); err != nil {
		t.Fatal(err)
	}
	newest := h.get(http.StatusOK, "/issues/"+i.ID)
	has(t, newest, "edited a comment", "deleted a comment", "Text 59.")
	hasNot(t, newest, "Text 1.", "Anew.")
	_, next, _ := strings.Cut(newest, `<nav class="pager" aria-label="Pages"><a href="`)
	next, _, _ = strings.Cut(next, `"`)
	older := h.get(http.StatusOK, next)
	has(t, older, "Text 3.", "Anew.", "…", "edited", "deleted", "/comments/"+ids[1])
	hasNot(t, older, "Text 1.", "Text 2.", "/comments/"+ids[2])
}

// TestFeedSaysWhatHappened checks the sentences about relations, merges, flags and sessions. The feeds of both issues of a relation or
// merge are checked.
func TestFeedSaysWhatHappened(t *testing.T) {
	t.Parallel()
	h := open(t)
	var all [5]triage.Issue
	for n := range all {
		all[n] = h.issue(org, triage.Draft{Title: "Issue"})
	}
	one, two, three, four, five := all[0], all[1], all[2], all[3], all[4]
	ctx := t.Context()
	related, _, relateErr := h.Relate(ctx, org, bob, one.ID, two.ID, triage.Blocks)
	_, _, duplicateErr := h.Relate(ctx, org, bob, three.ID, one.ID, triage.DuplicateOf)
	_, _, likeErr := h.Relate(ctx, org, bob, one.ID, four.ID, triage.RelatedTo)
	_, _, attachErr := h.Attach(ctx, org, bob, five.ID, triage.ResourceDraft{Type: triage.ResourceCall, ResourceID: "c1", Title: "Call"})
	flag, flagErr := h.Flag(ctx, org, bob, five.ID, triage.FlagDraft{CallID: "c1", Type: "wrong date", MessageIndex: new(2)})
	_, wholeErr := h.Flag(ctx, org, bob, five.ID, triage.FlagDraft{CallID: "c1", Type: "rude"})
	unflagErr := h.Unflag(ctx, org, bob, five.ID, flag.ID)
	err := errors.Join(relateErr, duplicateErr, likeErr, attachErr, flagErr, wholeErr, unflagErr, h.Unrelate(ctx, org, bob, one.ID, related.ID),
		h.Delete(ctx, org, bob, four.ID))
	if err != nil {
		t.Fatal(err)
	}
	session, err := h.StartSession(ctx, org, bob, five.ID, triage.SessionDraft{AgentName: "Scout"})
	if err != nil {
		t.Fatal(err)
	}
	_, stepErr := h.Append(ctx, org, five.ID, session.ID, triage.Step{Type: triage.TypeResponse, Detail: "It rained."},
		triage.Step{Type: triage.TypeResponse, Detail: "Did it?", Status: triage.SessionAwaitingInput})
	_, mergeErr := h.Merge(ctx, org, bob, five.ID, two.ID)
	if err := errors.Join(stepErr, mergeErr); err != nil {
		t.Fatal(err)
	}
	for id, wants := range map[string][]string{
		one.ID: {
			"recorded that this issue blocks T-1002", "recorded that this issue no longer blocks T-1002",
			"recorded that this issue is duplicated by T-1003", "recorded that this issue is related to T-1004",
			"deleted T-1004 Issue and with it the relation: this issue is related to that one",
		},
		two.ID: {
			"recorded that this issue is blocked by T-1001", "recorded that this issue no longer is blocked by T-1001",
			"merged T-1005 Issue • closed into this issue, and attached call Call",
		},
		three.ID: {"recorded that this issue is a duplicate of T-1001"},
		five.ID: {
			"merged this issue into T-1002 Issue • backlog : backlog → closed", "set the flag “wrong date” on line 3 of call Call",
			"set the flag “rude” on call Call", "removed the flag “wrong date” from line 3 of call Call", "Scout answered", "Scout asked",
		},
	} {
		has(t, h.feed(id), wants...)
	}
	if text := h.get(http.StatusOK, "/issues/"+one.ID); strings.Count(text, "/issues/"+four.ID) != 1 {
		t.Error("the entry of the deletion links to the issue that was deleted")
	}
}

// TestMergesWithoutRoom merges an issue into another issue that already has the maximum number of attachments. The feed must state how many
// attachments were not moved.
func TestMergesWithoutRoom(t *testing.T) {
	t.Parallel()
	h := open(t)
	from, into := h.issue(org, triage.Draft{Title: "From"}), h.issue(org, triage.Draft{Title: "Into"})
	if _, _, err := h.Attach(t.Context(), org, bob, from.ID, triage.ResourceDraft{Type: triage.ResourceCall, ResourceID: "c1"}); err != nil {
		t.Fatal(err)
	}
	into.Resources = triage.MaxResources
	if err := h.store.UpdateIssue(t.Context(), into); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Merge(t.Context(), org, bob, from.ID, into.ID); err != nil {
		t.Fatal(err)
	}
	has(t, h.feed(into.ID), "into this issue, which had no room for 1 of its attachments")
}

// TestOffersWhatWorks checks that the pages offer no action that would fail, and contain no link to a missing page.
func TestOffersWhatWorks(t *testing.T) {
	t.Parallel()
	h := open(t, func(d *triage.Config, c *issues.Config) { d.Analyst, c.Pages = nil, nil })
	from, into := h.issue(org, triage.Draft{Title: "From"}), h.issue(org, triage.Draft{Title: "Into"})
	e, commentErr := h.Comment(t.Context(), org, ada, from.ID, triage.CommentDraft{Detail: "Mine."})
	_, _, attachErr := h.Attach(t.Context(), org, bob, into.ID, triage.ResourceDraft{Type: triage.ResourceCall, ResourceID: "c1"})
	_, flagErr := h.Flag(t.Context(), org, bob, into.ID, triage.FlagDraft{CallID: "c1", Type: "date"})
	_, mergeErr := h.Merge(t.Context(), org, bob, from.ID, into.ID)
	if err := errors.Join(commentErr, attachErr, flagErr, mergeErr); err != nil {
		t.Fatal(err)
	}
	h.agent(into.ID, map[string]any{"root_cause": "a", "evidence": []any{map[string]any{"resource_type": "call", "resource_id": "c1", "line": 0}}})
	text := h.get(http.StatusOK, "/issues/"+into.ID)
	has(t, text, "is duplicated by", "call c1, line 1")
	hasNot(t, text, "/relations/", "/analyze", `href="/calls`)
	text = h.get(http.StatusOK, "/issues/"+from.ID+"/comments/"+e.ID)
	has(t, text, "Mine.", "merged into another")
	hasNot(t, text, "Save", "Delete")
}

// TestFeedFoldsAttachments checks that consecutive attachments of one type are folded into one entry. A single attachment must stay
// unfolded.
func TestFeedFoldsAttachments(t *testing.T) {
	t.Parallel()
	calls := new(triagetest.Resolver)
	for n := range 23 {
		calls.Add(org, fmt.Sprint("call-", n), triage.Item{}, triage.Evidence{})
	}
	h := open(t, func(c *triage.Config, _ *issues.Config) { c.Resolvers[triage.ResourceCall] = calls })
	i := h.issue(org, triage.Draft{Title: "Calls fail"})
	attach := func(from, to int) {
		for n := from; n < to; n++ {
			if _, _, err := h.Attach(t.Context(), org, bob, i.ID, triage.ResourceDraft{Type: triage.ResourceCall, ResourceID: fmt.Sprint("call-", n)}); err != nil {
				t.Fatal(err)
			}
		}
	}
	attach(0, 22)
	if _, err := h.Comment(t.Context(), org, ada, i.ID, triage.CommentDraft{Detail: "Between."}); err != nil {
		t.Fatal(err)
	}
	attach(22, 23)
	page := h.get(http.StatusOK, "/issues/"+i.ID)
	_, feed, _ := strings.Cut(page, `id="live-feed"`)
	if n := strings.Count(feed, `<details id="fold-`); n != 1 {
		t.Errorf("%d entries unfold", n)
	}
	has(t, feed, "attached 22 resources of the kind", "call-0", "call-21", "Between.", "call-22")
	if top, _, _ := strings.Cut(feed, "<details"); !strings.Contains(top, "call-22") || strings.Contains(top, "call-21") {
		t.Error("the one that stands alone is folded, or others are not")
	}
}
