package pathway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/agents/request"
)

// createFor stores a pathway of an organization.
func (o *office) createFor(t *testing.T, org callwright.OrgID, d graph.Document) pathway.Pathway {
	t.Helper()
	p, err := o.Create(t.Context(), org, pathway.Draft{Name: "Theirs", Document: d})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// wantLater checks that err is CodeTooManyRequests, and that a client may retry after the given duration.
func wantLater(t *testing.T, what string, err error, after time.Duration) {
	t.Helper()
	wantCode(t, what, err, callwright.CodeTooManyRequests, "")
	if got, _ := callwright.RetryAfter(err); got != after {
		t.Errorf("%s is to be tried again after %s, not %s", what, got, after)
	}
}

// TestTurnsOfAnOrganization checks that an organization can run at most MaxTurns concurrent turns.
func TestTurnsOfAnOrganization(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	asked, answer := make(chan struct{}, pathway.MaxTurns), make(chan struct{})
	o.requests.Answer = func(context.Context, request.Request) (request.Response, error) {
		asked <- struct{}{}
		<-answer
		return request.Response{Status: 200, Body: []byte("{}")}, nil
	}
	r := pathway.ChatRequest{Pathway: o.create(t, hooked()).ID}
	late := o.chat(t, r).Chat
	var turns sync.WaitGroup
	for range pathway.MaxTurns {
		chat := o.chat(t, r).Chat
		turns.Go(func() {
			if _, err := o.Say(t.Context(), "a", chat.ID, "Go."); err != nil {
				t.Error(err)
			}
		})
	}
	for range pathway.MaxTurns {
		<-asked
	}
	_, err := o.Say(t.Context(), "a", late.ID, "Go.")
	wantLater(t, "one more turn", err, time.Second)
	_, err = o.StartChat(t.Context(), "a", r)
	wantLater(t, "one more chat", err, time.Second)
	if _, err := o.StartChat(t.Context(), "b", pathway.ChatRequest{Pathway: o.createFor(t, "b", hooked()).ID}); err != nil {
		t.Errorf("another organization got %v", err)
	}
	close(answer)
	turns.Wait()
	o.say(t, late, "Go.")
	o.chat(t, r)
}

func TestChatsOfAnOrganization(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	r := pathway.ChatRequest{Pathway: o.create(t, days("?")).ID}
	for i := range pathway.MaxChats - 1 {
		c := pathway.Chat{ID: fmt.Sprint("c", i), Org: "a", Pathway: r.Pathway, State: json.RawMessage("{}")}
		if err := o.chats.InsertChat(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	last := o.chat(t, r).Chat
	_, err := o.StartChat(t.Context(), "a", r)
	wantLater(t, "one more", err, time.Minute)
	if _, err := o.StartChat(t.Context(), "b", pathway.ChatRequest{Pathway: o.createFor(t, "b", days("?")).ID}); err != nil {
		t.Errorf("another organization got %v", err)
	}
	if got := o.say(t, last, "Tuesday."); !got.Chat.Completed {
		t.Errorf("got %+v", got.Chat)
	}
	o.chat(t, r)
}

func TestPathwaysOfAnOrganization(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	last := o.createFor(t, "a", graph.Document{})
	for i := range pathway.MaxPathways - 1 {
		if err := o.store.InsertPathway(t.Context(), pathway.Pathway{ID: fmt.Sprint("p", i), Org: "a"}); err != nil {
			t.Fatal(err)
		}
	}
	_, err := o.Create(t.Context(), "a", pathway.Draft{Name: "One more"})
	wantCode(t, "one more", err, callwright.CodeInvalidState, "")
	o.createFor(t, "b", graph.Document{})
	seen := map[string]bool{}
	for l := (pathway.Listing{Limit: pathway.MaxPathways}); ; {
		page, err := o.List(t.Context(), "a", l)
		if err != nil || len(page.Items) != pathway.MaxPage {
			t.Fatalf("a page has %d, %v", len(page.Items), err)
		}
		for _, p := range page.Items {
			seen[p.ID] = true
		}
		if l.After = page.Next; l.After.IsZero() {
			break
		}
	}
	if len(seen) != pathway.MaxPathways {
		t.Errorf("the pages have %d pathways", len(seen))
	}
	if err := o.Delete(t.Context(), "a", last.ID); err != nil {
		t.Fatal(err)
	}
	o.createFor(t, "a", graph.Document{})
}

func TestVersionsOfAPathway(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	p := o.createFor(t, "a", days("?"))
	p.Latest = pathway.MaxVersions - 1
	if err := o.store.UpdatePathway(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	if v := o.storeVersion(t, p.ID, days("?")); v.Number != pathway.MaxVersions {
		t.Errorf("the last is %d", v.Number)
	}
	_, err := o.StoreVersion(t.Context(), "a", p.ID, "V", days("?"))
	wantCode(t, "one more", err, callwright.CodeInvalidState, "")
	_, err = o.Fork(t.Context(), "a", p.ID, 0, "V", nil)
	wantCode(t, "one more fork", err, callwright.CodeInvalidState, "")
	if got := o.get(t, p.ID); got.Latest != pathway.MaxVersions {
		t.Errorf("its latest is %d", got.Latest)
	}
}
