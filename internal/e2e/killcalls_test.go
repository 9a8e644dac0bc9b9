package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/callwright/callwright/internal/await"
	"github.com/callwright/callwright/internal/e2e/baresip"
	"github.com/callwright/callwright/transport/oas/callsoas"
)

// refused is a number whose trunk points to a port where nothing listens.
const refused = "+14155550101"

// order is a request for a call, with its first answer.
type order struct {
	request
	marker string
	id     string // id of the call; empty if the request got no answer
	first  answer
}

// caller is a writer that requests calls, half of them with an idempotency key, and stops some of them.
type caller struct {
	office string
	random *rand.Rand
	orders []*order
}

// atATime is the number of calls that caller.tell requests each time.
const atATime = 6

// tell first repeats orders with an idempotency key: all without an answer, and some others. It then requests new calls to a server that
// does not answer, and stops some of them.
func (c *caller) tell(ctx context.Context, g *target) bool {
	for _, o := range c.orders {
		again := o.key != "" && (o.id == "" || c.random.IntN(4) == 0)
		if again && !c.place(ctx, g, o) {
			return false
		}
	}
	for range atATime {
		o, ok := c.order(ctx, g, refused)
		if !ok {
			return false
		}
		if c.random.IntN(3) == 0 && !c.stop(ctx, g, o) {
			return false
		}
	}
	return true
}

// order requests a new call. It reports whether the server answered.
func (c *caller) order(ctx context.Context, g *target, from string) (*order, bool) {
	o := &order{marker: fmt.Sprintf("c%03dx", len(c.orders))}
	o.request = requestOf("createCall", fmt.Sprintf(
		`{"phone_number":%q,"from":%q,"task":%q,"first_sentence":%q,"metadata":{"of":%q},"webhook":%q,"webhook_events":["queue","call"],"max_duration":2}`,
		theirs, from, task, greeting, o.marker, c.office))
	if c.random.IntN(2) == 0 {
		o.key = o.marker
	}
	c.orders = append(c.orders, o)
	return o, c.place(ctx, g, o)
}

// place sends an order for the first time or again, and checks that the answer equals the first one. It reports whether the server
// answered.
func (c *caller) place(ctx context.Context, g *target, o *order) bool {
	a, ok := g.write(ctx, o.request)
	if !ok {
		return false
	}
	if o.id != "" && a != o.first {
		g.t.Errorf("the order %s is answered with %+v; the first answer was %+v", o.marker, a, o.first)
	}
	var placed struct {
		ID string `json:"call_id"`
	}
	if err := json.Unmarshal([]byte(a.body), &placed); err != nil || placed.ID == "" {
		g.t.Errorf("the order %s is answered with %+v", o.marker, a)
	}
	o.id, o.first = placed.ID, a
	return true
}

func (c *caller) stop(ctx context.Context, g *target, o *order) bool {
	_, ok := g.write(ctx, request{op: "stopCall", target: "/v1/calls/" + o.id + "/stop"}, http.StatusConflict) // 409: the call has ended
	return ok
}

// clearCalls makes the phone hang up the calls of a killed server, which the phone would otherwise continue.
func clearCalls(t *testing.T, phone *baresip.Phone) {
	t.Helper()
	for closed := len(phone.Events("CALL_CLOSED")); closed < len(phone.Events("CALL_ESTABLISHED")); closed++ {
		phone.Hangup(t)
		phone.Await(t, "CALL_CLOSED", closed+1)
	}
}

// ring requests a call to the phone. If wait is set, it waits until the call is answered or has ended.
func (c *caller) ring(t *testing.T, g *target, wait bool) *order {
	t.Helper()
	o, ok := c.order(t.Context(), g, ours.String())
	if !ok {
		t.Fatal("a call was not ordered")
	}
	if wait {
		g.server.Until(t, o.id, "to be answered", func(r *callsoas.CallRecord) bool { return !r.StartedAt.Null || r.Completed })
	}
	return o
}

// last places a call, stops it while it runs, and checks its record.
func (c *caller) last(t *testing.T, g *target) {
	t.Helper()
	o := c.ring(t, g, true)
	g.server.StopCall(t, o.id)
	if r := g.server.Ended(t, o.id); r.Status != callsoas.CallStatusCompleted {
		t.Errorf("the last call ended as %s, %q", r.Status, r.ErrorMessage.Value)
	}
}

// check waits until every call has ended and the office has received its end. Each acknowledged order must have exactly one record and one
// reported end. Every other order may have at most one of each.
func (c *caller) check(t *testing.T, g *target, office *office, before int) {
	t.Helper()
	list, ok := g.items(t.Context(), "/v1/calls?limit=1000", "")
	if !ok {
		t.Fatal("there is no list of calls")
	}
	found := map[string][]string{}
	for _, item := range list {
		id, _ := item.(map[string]any)["call_id"].(string)
		var r *callsoas.CallRecord
		within(t, "the call "+id+" to end", func() bool {
			r = g.server.Record(t, id)
			return r.Completed
		})
		var marker string
		_ = json.Unmarshal(r.Metadata["of"], &marker) // marker stays empty for a call of the preparation
		found[marker] = append(found[marker], id)
		checkEnd(t, r)
		if marker != "" {
			office.toldOnce(t, id, "ended: "+string(r.Status))
		}
	}
	if len(found[""]) != before {
		t.Errorf("%d calls were not ordered by this test", len(found[""])-before)
	}
	for _, o := range c.orders {
		ids := found[o.marker]
		delete(found, o.marker)
		if len(ids) > 1 || o.id != "" && !slices.Equal(ids, []string{o.id}) {
			t.Errorf("the order %s, answered with the call %q, has the records %q", o.marker, o.id, ids)
		}
	}
	if delete(found, ""); len(found) > 0 {
		t.Errorf("nobody ordered %v", found)
	}
	t.Logf("%d calls were ordered, there are %d", len(c.orders), len(list)-before)
}

// within waits until a condition holds, long enough for a server to take over the work of a killed server.
func within(t *testing.T, what string, holds func() bool) {
	t.Helper()
	if !await.Within(t.Context(), takeover, holds) {
		t.Fatalf("waiting for %s: it did not come about in %v", what, takeover)
	}
}

// checkEnd checks that the statuses and the end time of an ended call match.
func checkEnd(t *testing.T, r *callsoas.CallRecord) {
	t.Helper()
	switch lost := strings.Contains(r.ErrorMessage.Value, "the server that ran the call stopped"); {
	case r.EndAt.Null:
		t.Errorf("the call %s has ended at no time", r.CallID)
	case r.Status == callsoas.CallStatusCanceled && r.QueueStatus == callsoas.QueueStatusComplete:
	case r.Status == callsoas.CallStatusCompleted && r.QueueStatus == callsoas.QueueStatusComplete:
	case (r.Status == callsoas.CallStatusFailed || r.Status == callsoas.CallStatusBusy) && r.QueueStatus == callsoas.QueueStatusCallError:
	case r.Status == callsoas.CallStatusFailed && r.QueueStatus == callsoas.QueueStatusCompleteError && lost:
	default:
		t.Errorf("the call %s ended as %s, %s, %q at %v", r.CallID, r.Status, r.QueueStatus, r.ErrorMessage.Value, r.EndAt)
	}
}

// toldOnce waits until the office has accepted the record and the end of a call. It checks that there is one end, and that every message
// has one webhook id, even if it was sent several times.
func (o *office) toldOnce(t *testing.T, call, end string) {
	t.Helper()
	within(t, "the webhook to have the record of "+call, func() bool {
		o.mu.Lock()
		defer o.mu.Unlock()
		return o.records[call] > 0 && slices.ContainsFunc(o.ends(call), func(m string) bool { return strings.HasPrefix(m, end) })
	})
	o.mu.Lock()
	defer o.mu.Unlock()
	if ends := o.ends(call); len(ends) != 1 {
		t.Errorf("the webhook was told the ends %q of %s", ends, call)
	}
	for message, ids := range o.ids[call] {
		if len(ids) != 1 {
			t.Errorf("the webhook was told %q of %s under %d ids", message, call, len(ids))
		}
	}
}

// ends returns the messages about the end of a call. The caller must hold the lock.
func (o *office) ends(call string) (all []string) {
	for message := range o.events[call] {
		if strings.HasPrefix(message, "ended: ") {
			all = append(all, message)
		}
	}
	return all
}

// probing lists the operations of a probeWriter, with the request body, the member of the answer that contains the id, and the path of the
// outcome.
var probing = []struct{ op, body, member, outcome string }{
	{"startSipDiscovery", `{"host":"127.0.0.1"}`, "discovery_id", "/v1/sip/discover/status?discovery_id="},
	{"startSipTestCall", `{"phone_number":"` + refused + `"}`, "call_id", "/v1/sip/test-call/status?call_id="},
}

// probeWriter is a writer that starts discoveries and test calls, one at a time. begun contains the paths of their outcomes.
type probeWriter struct{ begun []string }

// tell starts a discovery and a test call, each after the previous work has ended. The server may refuse because of its rate limit, or
// because unanswered work is still running.
func (p *probeWriter) tell(ctx context.Context, g *target) bool {
	for _, probe := range probing {
		if !p.wait(ctx, g) {
			return false
		}
		a, ok := g.write(ctx, requestOf(probe.op, probe.body), http.StatusConflict, http.StatusTooManyRequests)
		if !ok {
			return false
		}
		if !a.good() {
			continue
		}
		var begun struct {
			Data map[string]any `json:"data"`
		}
		if err := json.Unmarshal([]byte(a.body), &begun); err != nil {
			g.t.Error(err)
			return false
		}
		p.begun = append(p.begun, probe.outcome+fmt.Sprint(begun.Data[probe.member]))
	}
	return true
}

// wait waits until the latest discovery and test call have ended. It returns false if the server was killed. The work of a killed server
// may end late. If the work does not end in time, wait fails the test.
func (p *probeWriter) wait(ctx context.Context, g *target) bool {
	for _, path := range p.begun[max(0, len(p.begun)-2):] {
		lost := false
		ended := await.Within(ctx, await.Limit, func() bool {
			a, ok := g.read(ctx, path)
			lost = !ok
			return lost || a.good() && !strings.Contains(a.body, `"status":"running"`) && !strings.Contains(a.body, `"result":"pending"`)
		})
		if lost || ctx.Err() != nil {
			return false
		}
		if !ended {
			g.t.Errorf("%s does not end", path)
			return false
		}
	}
	return true
}

// check waits until the latest discovery and test call have ended, and then checks that all begun ones have ended.
func (p *probeWriter) check(t *testing.T, g *target) {
	t.Helper()
	p.wait(t.Context(), g)
	for _, path := range p.begun {
		if a, ok := g.read(t.Context(), path); !ok || !a.good() || strings.Contains(a.body, `"status":"running"`) || strings.Contains(a.body, `"result":"pending"`) {
			t.Errorf("%s is answered with %+v", path, a)
		}
	}
}
