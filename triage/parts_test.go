package triage_test

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/triage"
	"github.com/callwright/callwright/triage/triagetest"
)

// depot is a house with resources. The organization "acme" has the calls call-0 to call-9 and the run run-0, and "other" has the call
// call-x.
type depot struct {
	house
	calls, runs *triagetest.Resolver
	resolvers   map[triage.ResourceType]triage.ResourceResolver // the resolvers that the service uses
}

func openDepot(t testing.TB, change ...func(*triage.Config)) depot {
	t.Helper()
	s := depot{calls: new(triagetest.Resolver), runs: new(triagetest.Resolver)}
	for n := range 10 {
		s.calls.Add("acme", fmt.Sprintf("call-%d", n), triage.Item{
			Title: fmt.Sprintf("Call %d", n), Metadata: map[string]any{"status": "completed"},
		}, triage.Evidence{})
	}
	s.runs.Add("acme", "run-0", triage.Item{Title: "Run 0"}, triage.Evidence{})
	s.calls.Add("other", "call-x", triage.Item{Title: "Not yours"}, triage.Evidence{})
	s.house = open(t, append(change, func(c *triage.Config) {
		s.resolvers = map[triage.ResourceType]triage.ResourceResolver{triage.ResourceCall: s.calls, triage.ResourceRun: s.runs}
		c.Resolvers = s.resolvers
	})...)
	return s
}

// attached attaches a call to an issue of "acme".
func (s depot) attached(id, call string) triage.Resource {
	s.t.Helper()
	r, added, err := s.Attach(s.t.Context(), "acme", ada, id, triage.ResourceDraft{Type: triage.ResourceCall, ResourceID: call})
	if err != nil || !added {
		s.t.Fatal(added, err)
	}
	return r
}

// kept holds all stored data of an issue except its sessions.
type kept struct {
	Issue     triage.Issue
	Feed      []triage.Entry
	Resources []triage.Resource
	Flags     []triage.Flag
	Relations []triage.Relation
}

func (h house) kept(id string) kept {
	h.t.Helper()
	k := kept{Issue: h.get(id), Feed: h.feed(id)}
	var errs [3]error
	k.Resources, errs[0] = h.store().ResourcesOf(h.t.Context(), "acme", id)
	k.Flags, errs[1] = h.store().FlagsOf(h.t.Context(), "acme", id)
	k.Relations, errs[2] = h.store().RelationsOf(h.t.Context(), "acme", id)
	for _, err := range errs {
		if err != nil {
			h.t.Fatal(err)
		}
	}
	return k
}

// refuses checks that an operation is refused with a code and a field, and does not change an issue.
func (h house) refuses(t *testing.T, id string, code callwright.Code, field string, do func() error) {
	t.Helper()
	before := h.kept(id)
	wantError(t, do(), code, field)
	if after := h.kept(id); !reflect.DeepEqual(after, before) {
		t.Errorf("what was refused left\n%+v\nfor\n%+v", after, before)
	}
}

// wantLast checks that the feed of an issue ends with the given entries. It ignores the fields that are set when an entry is written. An
// empty Kind means KindIssue.
func (h house) wantLast(t *testing.T, id string, want ...triage.Entry) {
	t.Helper()
	feed := h.feed(id)
	if len(feed) < len(want) {
		t.Fatalf("the feed has %d entries only", len(feed))
	}
	for n, got := range feed[len(feed)-len(want):] {
		if got.Org != "acme" || got.IssueID != id || got.ID == "" {
			t.Errorf("%+v is not an entry of the issue", got)
		}
		got.ID, got.Org, got.IssueID, got.CreatedAt = "", "", "", want[n].CreatedAt
		if want[n].Kind == "" {
			want[n].Kind = triage.KindIssue
		}
		if !reflect.DeepEqual(got, want[n]) {
			t.Errorf("the entry is\n%+v\nwant\n%+v", got, want[n])
		}
	}
}

// deed is an actor's operation on an issue.
type deed func(ctx context.Context, org callwright.OrgID, by triage.Actor, id string) error

// deeds returns all operations that change a part of an issue, by name. It first adds the parts that the operations need. other is the id
// of another issue of "acme".
func (s depot) deeds(id, other string) map[string]deed {
	s.t.Helper()
	ctx := s.t.Context()
	link := s.attached(id, "call-8").ID
	s.attached(id, "call-9")
	flag, err := s.Flag(ctx, "acme", ada, id, triage.FlagDraft{CallID: "call-9", Type: "x"})
	if err != nil {
		s.t.Fatal(err)
	}
	comment, err := s.Comment(ctx, "acme", ada, id, triage.CommentDraft{Detail: "x"})
	if err != nil {
		s.t.Fatal(err)
	}
	relation, _, err := s.Relate(ctx, "acme", ada, id, other, triage.RelatedTo)
	if err != nil {
		s.t.Fatal(err)
	}
	return map[string]deed{
		"comment": func(ctx context.Context, org callwright.OrgID, by triage.Actor, id string) error {
			_, err := s.Comment(ctx, org, by, id, triage.CommentDraft{Detail: "x"})
			return err
		},
		"edit comment": func(ctx context.Context, org callwright.OrgID, by triage.Actor, id string) error {
			_, err := s.EditComment(ctx, org, by, id, comment.ID, "y")
			return err
		},
		"delete comment": func(ctx context.Context, org callwright.OrgID, by triage.Actor, id string) error {
			_, err := s.DeleteComment(ctx, org, by, id, comment.ID)
			return err
		},
		"attach": func(ctx context.Context, org callwright.OrgID, by triage.Actor, id string) error {
			_, _, err := s.Attach(ctx, org, by, id, triage.ResourceDraft{Type: triage.ResourceCall, ResourceID: "call-7"})
			return err
		},
		"detach": func(ctx context.Context, org callwright.OrgID, by triage.Actor, id string) error {
			return s.Detach(ctx, org, by, id, link)
		},
		"flag": func(ctx context.Context, org callwright.OrgID, by triage.Actor, id string) error {
			_, err := s.Flag(ctx, org, by, id, triage.FlagDraft{CallID: "call-9", Type: "x"})
			return err
		},
		"unflag": func(ctx context.Context, org callwright.OrgID, by triage.Actor, id string) error {
			return s.Unflag(ctx, org, by, id, flag.ID)
		},
		"relate": func(ctx context.Context, org callwright.OrgID, by triage.Actor, id string) error {
			_, _, err := s.Relate(ctx, org, by, id, other, triage.Blocks)
			return err
		},
		"unrelate": func(ctx context.Context, org callwright.OrgID, by triage.Actor, id string) error {
			return s.Unrelate(ctx, org, by, id, relation.ID)
		},
		"alert": func(ctx context.Context, org callwright.OrgID, by triage.Actor, id string) error {
			_, err := s.Alert(ctx, org, by, id, triage.AlertTransition{Name: "trunk", To: "firing"})
			return err
		},
		"start session": func(ctx context.Context, org callwright.OrgID, by triage.Actor, id string) error {
			_, err := s.StartSession(ctx, org, by, id, triage.SessionDraft{AgentName: "Ann"})
			return err
		},
	}
}

func TestPartsOfWhatIsNotThere(t *testing.T) {
	t.Parallel()
	s := openDepot(t)
	i, other := s.issue(triage.Draft{}), s.issue(triage.Draft{})
	for name, do := range s.deeds(i.ID, other.ID) {
		for _, at := range []struct {
			org callwright.OrgID
			id  string
		}{{"other", i.ID}, {"acme", "nobody"}, {"", i.ID}} {
			s.refuses(t, i.ID, callwright.CodeNotFound, "", func() error {
				err := do(t.Context(), at.org, ada, at.id)
				if callwright.CodeOf(err) != callwright.CodeNotFound {
					t.Errorf("%s at %q of %q gave %v", name, at.id, at.org, err)
				}
				return err
			})
		}
	}
	lists := map[string]func(org callwright.OrgID, id string) error{
		"resources": func(org callwright.OrgID, id string) error { _, err := s.Resources(t.Context(), org, id); return err },
		"flags":     func(org callwright.OrgID, id string) error { _, err := s.Flags(t.Context(), org, id); return err },
		"relations": func(org callwright.OrgID, id string) error { _, err := s.Relations(t.Context(), org, id); return err },
	}
	for name, list := range lists {
		if err := list("acme", i.ID); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		wantError(t, list("other", i.ID), callwright.CodeNotFound, "")
		wantError(t, list("acme", "nobody"), callwright.CodeNotFound, "")
	}
}

// TestPartsOfAnotherIssue checks that a part of another issue is refused with CodeNotFound.
func TestPartsOfAnotherIssue(t *testing.T) {
	t.Parallel()
	s := openDepot(t)
	i, other, third := s.issue(triage.Draft{}), s.issue(triage.Draft{}), s.issue(triage.Draft{})
	deeds := s.deeds(i.ID, other.ID)
	for _, name := range []string{"edit comment", "delete comment", "detach", "unflag", "unrelate"} {
		s.refuses(t, third.ID, callwright.CodeNotFound, "", func() error {
			return deeds[name](t.Context(), "acme", ada, third.ID)
		})
	}
}

func TestPartsOfAMergedIssue(t *testing.T) {
	t.Parallel()
	s := openDepot(t)
	i, other, target := s.issue(triage.Draft{}), s.issue(triage.Draft{}), s.issue(triage.Draft{})
	deeds := s.deeds(i.ID, other.ID)
	if _, err := s.Merge(t.Context(), "acme", ada, i.ID, target.ID); err != nil {
		t.Fatal(err)
	}
	for name, do := range deeds {
		s.refuses(t, i.ID, callwright.CodeInvalidState, "", func() error {
			err := do(t.Context(), "acme", ada, i.ID)
			if callwright.CodeOf(err) != callwright.CodeInvalidState {
				t.Errorf("%s gave %v", name, err)
			}
			return err
		})
	}
	s.refuses(t, i.ID, callwright.CodeInvalidState, "", func() error { // the unmerged side is refused too
		return deeds["unrelate"](t.Context(), "acme", ada, other.ID)
	})
}

func TestWhoActs(t *testing.T) {
	t.Parallel()
	s := openDepot(t)
	i, other := s.issue(triage.Draft{}), s.issue(triage.Draft{})
	for name, do := range s.deeds(i.ID, other.ID) {
		for field, by := range map[string]triage.Actor{
			"actor.kind":       {Kind: "robot", ID: "r2"},
			"actor.id":         {Kind: triage.ActorUser},
			"actor.label":      {Kind: triage.ActorUser, ID: "ada", Label: strings.Repeat("é", 201)},
			"actor.avatar_url": {Kind: triage.ActorUser, ID: "ada", AvatarURL: strings.Repeat("x", 2049)},
		} {
			s.refuses(t, i.ID, callwright.CodeBadRequest, field, func() error {
				err := do(t.Context(), "acme", by, i.ID)
				if err == nil {
					t.Errorf("%s by %+v is no error", name, by)
				}
				return err
			})
		}
	}
}
