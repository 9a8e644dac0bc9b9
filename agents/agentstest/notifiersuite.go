package agentstest

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/pathway"
)

// Delivery is a message that a webhook received.
type Delivery struct {
	Org  callwright.OrgID // organization whose signature is valid; empty means none of the harness's organizations
	ID   string           // the message's id, equal at every attempt
	Body []byte
}

// Webhook is a receiver of deliveries in a NotifierHarness.
type Webhook struct {
	URL string
	// Answer sets the webhook's response to later deliveries. With nil, the webhook accepts them. With ErrRefused, it refuses them
	// permanently. With an error of CodeUnavailable, it refuses them temporarily, and requests a retry after the error's RetryAfter, if
	// that is set.
	Answer func(err error)
	// Deliveries returns the received messages in order, including refused messages.
	Deliveries func() []Delivery
}

// ErrRefused makes a Webhook refuse deliveries permanently.
var ErrRefused = callwright.Errorf(callwright.CodeForbidden, "refused for good")

// NotifierHarness is the harness of RunNotifier.
type NotifierHarness struct {
	Orgs [2]callwright.OrgID // two organizations with different signing secrets
	// New returns a notifier and a webhook that it can reach.
	New func(t *testing.T) (call.Notifier, Webhook)
}

// RunNotifier tests a call.Notifier: its messages, their signatures and ids, and its errors.
func RunNotifier(t *testing.T, h NotifierHarness) {
	t.Helper()
	for name, test := range map[string]func(*testing.T, call.Notifier, Webhook){
		"sends the record of a call":       h.sendsRecord,
		"sends what happens on a call":     h.sendsEvent,
		"signs for the organization":       h.signs,
		"repeats a message under its id":   h.repeats,
		"wants to repeat what failed":      h.reportsFailure,
		"passes on when to come again":     h.passesRetryAfter,
		"gives up what is refused":         h.givesUp,
		"gives up what nobody can be sent": h.unreachableURL,
		"tells nothing of an address":      h.hidesURL,
		"ends with its context":            h.endsWithContext,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n, w := h.New(t)
			test(t, n, w)
		})
	}
}

// endedCall returns an ended call of an organization, with its transcript and logs.
func endedCall(org callwright.OrgID) (call.Call, []call.Entry, []pathway.Log) {
	started, ended := at.Add(time.Second), at.Add(time.Minute)
	c := call.Call{
		ID: "c1", Org: org, From: "+15550000001", To: "+15550000002", Agent: fullAgent(), Queue: call.QueueComplete,
		Status: call.StatusCompleted, CreatedAt: at, StartedAt: &started, EndedAt: &ended, AnsweredBy: call.AnsweredByHuman,
		Ending: &call.HangupReason{Cause: call.CauseRemoteHangup, ByPeer: true}, Version: 4,
	}
	lines := []call.Entry{{Seq: 1, Speaker: call.SpeakerAssistant, Text: "a line that was said", CreatedAt: started}}
	return c, lines, []pathway.Log{{Turn: 1, Said: "a line that was said"}}
}

func aNotice(seq int) call.Notice {
	return call.Notice{
		Seq: seq, Category: call.EventsCall, Level: call.EventInfo, Message: "something has happened", CreatedAt: at,
	}
}

// notify sends the record of an ended call of org.
func (h NotifierHarness) notify(ctx context.Context, n call.Notifier, org callwright.OrgID, url string) error {
	c, lines, logs := endedCall(org)
	return n.Notify(ctx, org, url, c, lines, logs)
}

// both sends a record and an event, and calls check with the outcome of each.
func (h NotifierHarness) both(ctx context.Context, n call.Notifier, url string, check func(what string, err error)) {
	org := h.Orgs[0]
	check("the record", h.notify(ctx, n, org, url))
	c, _, _ := endedCall(org)
	check("an event", n.NotifyEvent(ctx, org, url, c, aNotice(2)))
}

func (h NotifierHarness) sendsRecord(t *testing.T, n call.Notifier, w Webhook) {
	if err := h.notify(t.Context(), n, h.Orgs[0], w.URL); err != nil {
		t.Fatal(err)
	}
	got := w.Deliveries()
	if len(got) != 1 {
		t.Fatalf("%d deliveries", len(got))
	}
	for _, part := range []string{"c1", "+15550000002", "a line that was said"} {
		if !bytes.Contains(got[0].Body, []byte(part)) {
			t.Errorf("%q is not in %s", part, got[0].Body)
		}
	}
}

func (h NotifierHarness) sendsEvent(t *testing.T, n call.Notifier, w Webhook) {
	c, _, _ := endedCall(h.Orgs[0])
	c.Queue, c.Status, c.EndedAt, c.Ending = call.QueueStarted, "", nil, nil
	if err := n.NotifyEvent(t.Context(), h.Orgs[0], w.URL, c, aNotice(2)); err != nil {
		t.Fatal(err)
	}
	got := w.Deliveries()
	if len(got) != 1 || !bytes.Contains(got[0].Body, []byte("c1")) || !bytes.Contains(got[0].Body, []byte("something has happened")) {
		t.Errorf("got %q", got)
	}
}

func (h NotifierHarness) signs(t *testing.T, n call.Notifier, w Webhook) {
	for i, org := range h.Orgs {
		if err := h.notify(t.Context(), n, org, w.URL); err != nil {
			t.Fatal(err)
		}
		if got := w.Deliveries(); len(got) != i+1 || got[i].Org != org {
			t.Errorf("what was sent for %q is signed for %q", org, got[i].Org)
		}
	}
}

// repeats checks that a message that is sent twice has the same id both times, and that different messages have different ids.
func (h NotifierHarness) repeats(t *testing.T, n call.Notifier, w Webhook) {
	org := h.Orgs[0]
	c, _, _ := endedCall(org)
	for range 2 {
		for _, err := range []error{
			h.notify(t.Context(), n, org, w.URL), n.NotifyEvent(t.Context(), org, w.URL, c, aNotice(2)),
			n.NotifyEvent(t.Context(), org, w.URL, c, aNotice(3)),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	got := w.Deliveries()
	ids := map[string]bool{}
	for i := range 3 {
		ids[got[i].ID] = true
		if got[i].ID != got[i+3].ID || got[i].ID == "" || !bytes.Equal(got[i].Body, got[i+3].Body) {
			t.Errorf("message %d came as %q and as %q", i, got[i].ID, got[i+3].ID)
		}
	}
	if len(ids) != 3 {
		t.Errorf("three messages have the ids %v", ids)
	}
}

func (h NotifierHarness) reportsFailure(t *testing.T, n call.Notifier, w Webhook) {
	w.Answer(callwright.ErrUnavailable)
	h.both(t.Context(), n, w.URL, func(what string, err error) {
		if err == nil {
			t.Errorf("%s that failed gave no error", what)
		}
	})
	w.Answer(nil)
	h.both(t.Context(), n, w.URL, func(what string, err error) {
		if err != nil {
			t.Errorf("%s gave %v the second time", what, err)
		}
	})
}

func (h NotifierHarness) passesRetryAfter(t *testing.T, n call.Notifier, w Webhook) {
	w.Answer(&callwright.Error{Code: callwright.CodeUnavailable, Message: "later", RetryAfter: 7 * time.Second})
	h.both(t.Context(), n, w.URL, func(what string, err error) {
		if wait, _ := callwright.RetryAfter(err); wait != 7*time.Second {
			t.Errorf("%s is to come again after %s: %v", what, wait, err)
		}
	})
}

func (h NotifierHarness) givesUp(t *testing.T, n call.Notifier, w Webhook) {
	w.Answer(ErrRefused)
	h.both(t.Context(), n, w.URL+"?token=hunter2", wantRefusal(t))
	if got := w.Deliveries(); len(got) != 2 {
		t.Errorf("%d deliveries", len(got))
	}
}

// unreachableURL checks that messages to a forbidden URL fail permanently. A change of the rules can make a stored URL forbidden.
func (h NotifierHarness) unreachableURL(t *testing.T, n call.Notifier, w Webhook) {
	h.both(t.Context(), n, "ftp://example.com/hunter2", wantRefusal(t))
	if got := w.Deliveries(); len(got) != 0 {
		t.Errorf("%d deliveries", len(got))
	}
}

// wantRefusal returns a check that an error is permanent, and that its message contains a reason and no secret.
func wantRefusal(t *testing.T) func(what string, err error) {
	return func(what string, err error) {
		if _, again := callwright.RetryAfter(err); !errors.Is(err, callwright.ErrForbidden) || again || callwright.MessageOf(err) == "" {
			t.Errorf("%s that is refused for good gave %v", what, err)
		}
		for e := err; e != nil; e = errors.Unwrap(e) {
			if strings.Contains(e.Error(), "hunter2") {
				t.Errorf("%s that is refused tells the address: %v", what, e)
			}
		}
	}
}

// hidesURL checks that the error for a receiver that is down does not reveal the URL, because the URL contains secrets.
func (h NotifierHarness) hidesURL(t *testing.T, n call.Notifier, w Webhook) {
	w.Answer(callwright.ErrUnavailable)
	h.both(t.Context(), n, w.URL+"/hunter2-path?token=hunter2-query", func(what string, err error) {
		if err == nil {
			t.Errorf("%s that failed gave no error", what)
		}
		for e := err; e != nil; e = errors.Unwrap(e) {
			if strings.Contains(e.Error(), "hunter2") {
				t.Errorf("%s that failed tells the address: %v", what, e)
			}
		}
	})
}

func (h NotifierHarness) endsWithContext(t *testing.T, n call.Notifier, w Webhook) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("over"))
	h.both(ctx, n, w.URL, func(what string, err error) {
		if err == nil {
			t.Errorf("%s gave no error although its context had ended", what)
		}
	})
	if got := w.Deliveries(); len(got) != 0 {
		t.Errorf("%d deliveries", len(got))
	}
}
