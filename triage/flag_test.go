package triage_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/triage"
)

func TestFlag(t *testing.T) {
	t.Parallel()
	s := openDepot(t)
	ctx, i := t.Context(), s.issue(triage.Draft{})
	r := s.attached(i.ID, "call-0")
	f, err := s.Flag(ctx, "acme", bob, i.ID, triage.FlagDraft{
		CallID: "call-0", Type: "wrong_information", Note: "Sunday is closed.", NodeID: "n1", NodeName: "Opening hours",
		MessageIndex: new(0), MessageText: "We are open on Sunday.",
	})
	want := triage.Flag{
		ID: f.ID, Org: "acme", IssueID: i.ID, CallID: "call-0", Type: "wrong_information", Note: "Sunday is closed.",
		NodeID: "n1", NodeName: "Opening hours", MessageIndex: new(0), MessageText: "We are open on Sunday.",
		CreatedBy: "bob", CreatedAt: start,
	}
	if err != nil || f.ID == "" || !reflect.DeepEqual(f, want) {
		t.Fatalf("flagged %+v, %v", f, err)
	}
	told := triage.Entry{
		Type: triage.TypeFlagAdded, Actor: bob, Detail: "Sunday is closed.", Resources: []triage.Resource{r},
		Metadata: map[string]any{
			"flag_id": f.ID, "call_id": "call-0", "type": "wrong_information", "node_id": "n1", "node_name": "Opening hours",
			"message_index": 0, "message_text": "We are open on Sunday.",
		},
	}
	s.wantLast(t, i.ID, told)
	bare, err := s.Flag(ctx, "acme", ada, i.ID, triage.FlagDraft{CallID: "call-0", Type: "rude"})
	if err != nil {
		t.Fatal(err)
	}
	s.wantLast(t, i.ID, triage.Entry{
		Type: triage.TypeFlagAdded, Actor: ada, Resources: []triage.Resource{r},
		Metadata: map[string]any{"flag_id": bare.ID, "call_id": "call-0", "type": "rude"},
	})
	if all, err := s.Flags(ctx, "acme", i.ID); err != nil || !reflect.DeepEqual(all, []triage.Flag{f, bare}) || s.get(i.ID).Flags != 2 {
		t.Errorf("there are %+v, %v", all, err)
	}

	if err := s.Unflag(ctx, "acme", ada, i.ID, f.ID); err != nil {
		t.Fatal(err)
	}
	told.Type, told.Actor = triage.TypeFlagRemoved, ada
	s.wantLast(t, i.ID, told)
	if all, err := s.Flags(ctx, "acme", i.ID); err != nil || !reflect.DeepEqual(all, []triage.Flag{bare}) || s.get(i.ID).Flags != 1 {
		t.Errorf("there are %+v, %v", all, err)
	}
	s.refuses(t, i.ID, callwright.CodeNotFound, "", func() error { return s.Unflag(ctx, "acme", ada, i.ID, f.ID) })
}

func TestFlagOnlyOnAttachedCalls(t *testing.T) {
	t.Parallel()
	s := openDepot(t)
	ctx, i, other := t.Context(), s.issue(triage.Draft{}), s.issue(triage.Draft{})
	s.attached(other.ID, "call-0")
	gone := s.attached(i.ID, "call-1")
	if err := s.Detach(ctx, "acme", ada, i.ID, gone.ID); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Attach(ctx, "acme", ada, i.ID, triage.ResourceDraft{Type: triage.ResourceRun, ResourceID: "run-0"}); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"call-0", "call-1", "call-x", "run-0", "nothing"} {
		s.refuses(t, i.ID, callwright.CodeCallNotAttached, "call_id", func() error {
			_, err := s.Flag(ctx, "acme", ada, i.ID, triage.FlagDraft{CallID: id, Type: "x"})
			if !errors.Is(err, triage.ErrCallNotAttached) || !errors.Is(err, callwright.ErrCallNotAttached) {
				t.Errorf("%s gave %v", id, err)
			}
			return err
		})
	}
}

func TestFlagLimits(t *testing.T) {
	t.Parallel()
	s := openDepot(t)
	ctx, i := t.Context(), s.issue(triage.Draft{})
	s.attached(i.ID, "call-0")
	text := func(n int) string { return strings.Repeat("é", n) }
	full := triage.FlagDraft{
		CallID: "call-0", Type: text(200), Note: text(4000), NodeID: text(128), NodeName: text(200), MessageText: text(4000),
	}
	if _, err := s.Flag(ctx, "acme", ada, i.ID, full); err != nil {
		t.Fatalf("the longest texts gave %v", err)
	}
	for field, change := range map[string]func(*triage.FlagDraft){
		"call_id":       func(d *triage.FlagDraft) { d.CallID = "" },
		"type":          func(d *triage.FlagDraft) { d.Type = text(201) },
		"note":          func(d *triage.FlagDraft) { d.Note = text(4001) },
		"node_id":       func(d *triage.FlagDraft) { d.NodeID = text(129) },
		"node_name":     func(d *triage.FlagDraft) { d.NodeName = text(201) },
		"message_text":  func(d *triage.FlagDraft) { d.MessageText = text(4001) },
		"message_index": func(d *triage.FlagDraft) { d.MessageIndex = new(-1) },
	} {
		d := full
		change(&d)
		s.refuses(t, i.ID, callwright.CodeBadRequest, field, func() error {
			_, err := s.Flag(ctx, "acme", ada, i.ID, d)
			return err
		})
	}
	for n := 1; n < triage.MaxFlags; n++ {
		if _, err := s.Flag(ctx, "acme", ada, i.ID, triage.FlagDraft{CallID: "call-0", Type: fmt.Sprint(n)}); err != nil {
			t.Fatal(n, err)
		}
	}
	s.refuses(t, i.ID, callwright.CodeInvalidState, "", func() error {
		_, err := s.Flag(ctx, "acme", ada, i.ID, triage.FlagDraft{CallID: "call-0", Type: "x"})
		return err
	})
}
