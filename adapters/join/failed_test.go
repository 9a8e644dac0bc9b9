package join_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright/adapters/join"
	"github.com/callwright/callwright/adapters/memstore/triagestore"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/triage"
)

// desk is a house that reports its failed calls as issues.
type desk struct {
	*house
	issues *triage.Service
	failed join.FailedCalls
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	d := &desk{house: newHouse(t)}
	d.issues = must(triage.New(triage.Config{
		Store: triagestore.Store{Store: d.store}, Atomic: d.store, Work: d.work,
		Resolvers: map[triage.ResourceType]triage.ResourceResolver{triage.ResourceCall: d.calls, triage.ResourcePathway: d.pathways},
	}))
	d.failed = join.FailedCalls{Issues: d.issues}
	d.serve(func(c *call.Config) { c.Failures, c.DrainTimeout = d.failed, time.Second })
	return d
}

// open starts the services of the house. shut stops them and waits for their end.
func (d *desk) open() (shut func()) {
	running, stopRunning := context.WithCancel(d.t.Context())
	working, stopWorking := context.WithCancel(context.WithoutCancel(d.t.Context()))
	var serving, workers sync.WaitGroup
	serving.Go(func() { _ = d.service.Run(running) })
	workers.Go(func() { _ = d.work.Run(working) })
	synctest.Wait()
	return func() {
		stopRunning()
		serving.Wait()
		stopWorking()
		workers.Wait()
		d.line.Close()
		d.issues.Close()
	}
}

// all returns all issues with their descriptions, oldest first.
func (d *desk) all() []triage.Issue {
	d.t.Helper()
	page, err := d.issues.List(d.t.Context(), org, triage.Query{Filter: triage.Filter{Sort: triage.SortCreated, Ascending: true}})
	if err != nil {
		d.t.Fatal(err)
	}
	for i, one := range page.Items { // List omits descriptions
		if page.Items[i], err = d.issues.Get(d.t.Context(), org, one.ID); err != nil {
			d.t.Fatal(err)
		}
	}
	return page.Items
}

// attached returns the ids of the calls that are attached to an issue, and checks that all of them are available.
func (d *desk) attached(id string) (ids []string) {
	d.t.Helper()
	all, err := d.issues.Resources(d.t.Context(), org, id)
	if err != nil {
		d.t.Fatal(err)
	}
	for _, r := range all {
		if r.Type != triage.ResourceCall || r.Status != triage.Available {
			d.t.Errorf("attached %+v", r)
		}
		ids = append(ids, r.ResourceID)
	}
	return ids
}

// TestFailedCalls checks that calls that fail for the same reason are attached to one issue, that another reason creates another issue, and
// that a busy callee creates none.
func TestFailedCalls(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		defer d.open()()
		var ids []string
		for i, callee := range []agentstest.Callee{
			agentstest.Refuse(call.CauseUnreachable, 0), agentstest.Refuse(call.CauseBusy, 486),
			agentstest.Refuse(call.CauseUnreachable, 0), agentstest.Refuse(call.CauseRejected, 503),
		} {
			d.line.Script(callee)
			c, err := d.service.Create(t.Context(), org, call.Request{
				To: fmt.Sprintf("+1555000010%d", i), Agent: agents.Agent{Task: "Talk."},
			})
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, c.ID)
			time.Sleep(time.Minute)
			synctest.Wait()
		}
		issues := d.all()
		if len(issues) != 2 {
			t.Fatalf("issues %+v", issues)
		}
		first, second := issues[0], issues[1]
		if first.Title != "Calls fail: the trunk's server could not be reached" || first.Severity != triage.SeverityHigh ||
			first.Category != "call" || first.Source != triage.SourceAutomated || first.Author != triage.System() ||
			first.Status != triage.StatusBacklog {
			t.Errorf("issue %+v", first)
		}
		const happened = "Call to +15550000100 failed on 1 January 2000 00:00 UTC: the trunk's server could not be reached.\nIts id is "
		if !strings.HasPrefix(first.Description, happened+ids[0]+".\n") {
			t.Errorf("it says %q", first.Description)
		}
		if second.Title != "Calls fail: the call was declined (SIP 503)" {
			t.Errorf("issue %+v", second)
		}
		for i, want := range [][]string{{ids[0], ids[2]}, {ids[3]}} {
			if got := d.attached(issues[i].ID); fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("attached %v, want %v", got, want)
			}
		}
	})
}

// failure stores a failed call of the house, adjusted by change, and returns it.
func (d *desk) failure(id string, change func(*call.Call)) call.Call {
	c := call.Call{
		ID: id, Org: org, From: "+15550000001", To: "+15550000002", Queue: call.QueueCallError, Status: call.StatusFailed,
		CreatedAt: began, EndedAt: new(began.Add(time.Second)), ErrorMessage: "the call was declined",
		Ending: &call.HangupReason{Cause: call.CauseRejected, SIPCode: 603},
	}
	change(&c)
	d.seed(c)
	return c
}

// tell reports a failed call, and fails the test on an error.
func (d *desk) tell(c call.Call) {
	d.t.Helper()
	if err := d.failed.CallFailed(d.t.Context(), c); err != nil {
		d.t.Fatal(err)
	}
}

// TestFailedCallAgain checks that reporting a call twice changes nothing, and that a further failed call creates another issue after the
// first issue is done.
func TestFailedCallAgain(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	c := d.failure("one", func(*call.Call) {})
	d.tell(c)
	before := d.all()
	d.tell(c)
	if after := d.all(); len(after) != 1 || after[0].Revision != before[0].Revision {
		t.Fatalf("issues %+v, before %+v", after, before)
	}
	done := triage.StatusDone
	if _, err := d.issues.Update(t.Context(), org, triage.System(), before[0].ID, triage.Change{Status: &done}); err != nil {
		t.Fatal(err)
	}
	d.tell(d.failure("two", func(*call.Call) {}))
	if issues := d.all(); len(issues) != 2 || fmt.Sprint(d.attached(issues[1].ID)) != "[two]" {
		t.Errorf("issues %+v", issues)
	}
}

// TestPeopleWhoDecline checks that a call that a person declines causes an issue of low severity, and a call that a server refuses an issue
// of high severity.
func TestPeopleWhoDecline(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.tell(d.failure("declined", func(*call.Call) {}))
	d.tell(d.failure("refused", func(c *call.Call) { c.Ending.SIPCode = 404 }))
	issues := d.all()
	if len(issues) != 2 || issues[0].Severity != triage.SeverityLow || issues[1].Severity != triage.SeverityHigh {
		t.Errorf("issues %+v", issues)
	}
}
