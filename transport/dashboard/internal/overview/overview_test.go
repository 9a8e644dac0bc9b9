package overview_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/agentstore"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/transport/dashboard"
)

// signedIn is an Authenticator that identifies every request as the same user, with the given entitlements.
type signedIn struct{ rights []callwright.Entitlement }

func (s signedIn) Authenticate(*http.Request) (callwright.Principal, error) {
	return callwright.Principal{Org: "acme", KeyID: "key-1", Entitlements: s.rights}, nil
}

func get(t *testing.T, c dashboard.Config) (int, string) {
	t.Helper()
	c.Authenticator = signedIn{[]callwright.Entitlement{callwright.EntitlementOperator}}
	d, err := dashboard.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return ask(t, d)
}

// ask requests the overview and returns the status and the page.
func ask(t *testing.T, h http.Handler) (int, string) {
	t.Helper()
	answer := httptest.NewRecorder()
	h.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil))
	return answer.Code, answer.Body.String()
}

func TestWithoutDomains(t *testing.T) {
	t.Parallel()
	status, text := get(t, dashboard.Config{Runs: []dashboard.Part{
		{Name: "calls", By: "no <script> of speech", Missing: true, Hint: "--tts"}, {By: "not <b> of voices"}, {Name: "model", By: "scripted"},
	}})
	if status != http.StatusOK || strings.Contains(text, "<script>") || strings.Contains(text, "<section") || strings.Contains(text, "<dt></dt>") {
		t.Errorf("got %d\n%s", status, text)
	}
	for _, want := range []string{"missing", "no &lt;script&gt; of speech", "(--tts)", "scripted", `aria-current="page">Overview`} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %q in\n%s", want, text)
		}
	}
}

// TestRunsAreForOperators checks that only operators see the parts of the server and its flags.
func TestRunsAreForOperators(t *testing.T) {
	t.Parallel()
	for _, rights := range [][]callwright.Entitlement{nil, {callwright.EntitlementSIP}} {
		d, err := dashboard.New(dashboard.Config{
			Authenticator: signedIn{rights}, Runs: []dashboard.Part{{Name: "model", By: "scripted", Hint: "--llm-base-url"}},
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, text := ask(t, d); strings.Contains(text, "--llm") || strings.Contains(text, "scripted") || strings.Contains(text, "runs on") {
			t.Errorf("with the rights %v the page tells\n%s", rights, text)
		}
	}
}

// clock is a clock that is stopped at the time in its field.
type clock struct{ at time.Time }

func (c *clock) Now() time.Time { return c.at }

func TestCalls(t *testing.T) {
	t.Parallel()
	now := &clock{time.Date(2026, 3, 2, 15, 30, 0, 0, time.UTC)}
	memory := memstore.New()
	store := agentstore.Calls{Store: memory}
	service, err := call.New(call.Config{
		Store: store, Leases: memstore.Leases{Store: memory}, Atomic: memory, Work: memstore.NewWork(memory, nil),
		Line: agentstest.NewLine(agentstest.PhoneConfig{}), Recognizer: &agentstest.Recognizer{}, Synthesizer: &agentstest.Synthesizer{},
		NewBrain: func(context.Context, call.Call) (conversation.Brain, error) { return nil, callwright.ErrUnavailable }, Runtime: callwright.Runtime{Clock: now},
	})
	if err != nil {
		t.Fatal(err)
	}
	d, err := dashboard.New(dashboard.Config{Authenticator: signedIn{}, Calls: service, Runtime: callwright.Runtime{Clock: now}})
	if err != nil {
		t.Fatal(err)
	}
	show := func() string {
		_, text := ask(t, d)
		return text
	}
	insert := func(id string, org callwright.OrgID, ago time.Duration, change func(*call.Call)) {
		c := call.Call{ID: id, Org: org, From: "<script>", To: "+14155550100", CreatedAt: now.at.Add(-ago), Queue: call.QueueComplete}
		change(&c)
		if err := store.Insert(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	if text := show(); !strings.Contains(text, "No call runs now") || !strings.Contains(text, `href="/calls/new"`) || strings.Contains(text, "of those") {
		t.Errorf("without calls:\n%s", text)
	}
	insert("c1", "acme", time.Hour, func(c *call.Call) { c.AnsweredBy = call.AnsweredByHuman })
	insert("c2", "acme", 2*time.Hour, func(c *call.Call) { c.AnsweredBy = call.AnsweredByNobody })
	insert("c3", "acme", time.Minute, func(c *call.Call) { c.Queue, c.StartedAt = call.QueueStarted, &now.at })
	insert("old", "acme", 25*time.Hour, func(c *call.Call) { c.Queue = call.QueueAllocated })
	insert("foreign", "other", time.Minute, func(c *call.Call) { c.Queue = call.QueueStarted })
	text := show()
	for _, want := range []string{
		"<dt>Calls</dt><dd>3</dd>", "1, 50.0% of those that have ended", `href="/calls/c3"`, "talking", `href="/calls/old"`, "dialing", "&lt;script&gt;",
		"Calls per hour", "Answer rate per hour", "13:00 UTC · answered: 0% · not answered: 100%", "14:00 UTC · answered: 100% · not answered: 0%",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %q in\n%s", want, text)
		}
	}
	for _, not := range []string{"/calls/c1", "foreign", "<script>", "No call runs", "completed=false"} {
		if strings.Contains(text, not) {
			t.Errorf("there is %q in\n%s", not, text)
		}
	}
	for i := range 11 {
		insert(fmt.Sprint("more", i), "acme", time.Minute, func(c *call.Call) { c.Queue = call.QueueQueued })
	}
	if text := show(); !strings.Contains(text, `href="/calls?completed=false"`) || strings.Count(text, `href="/calls/more`) > 10 {
		t.Errorf("with many calls:\n%s", text)
	}
}
