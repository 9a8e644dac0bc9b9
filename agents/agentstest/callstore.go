package agentstest

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/conversation"
)

// RunCallStore tests a call.Store. newStore gives an empty one.
func RunCallStore(t *testing.T, newStore func(t *testing.T) call.Store) {
	t.Helper()
	tests := map[string]func(*testing.T, call.Store){
		"keeps every field":                   keepsCall,
		"hides other organizations' calls":    hidesCalls,
		"refuses an id twice":                 refusesCallTwice,
		"updates by compare-and-set":          updatesCall,
		"keeps the heartbeat from going back": keepsHeartbeat,
		"filters":                             filtersCalls,
		"pages without gaps":                  pagesCalls,
		"keeps a transcript":                  keepsTranscript,
		"asks for a stop":                     asksForStop,
		"finds the calls of dead nodes":       findsSilent,
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newStore(t))
		})
	}
}

func aCall(id string, org callwright.OrgID) call.Call {
	return call.Call{
		ID: id, Org: org, From: "+15550000001", To: "+15550000002", Queue: call.QueueQueued, CreatedAt: at, Version: 1,
	}
}

func insertCalls(t *testing.T, s call.Store, calls ...call.Call) {
	t.Helper()
	for _, c := range calls {
		if err := s.Insert(t.Context(), c); err != nil {
			t.Fatalf("insert %s: %v", c.ID, err)
		}
	}
}

func getCall(t *testing.T, s call.Store, org callwright.OrgID, id string) call.Call {
	t.Helper()
	c, err := s.Get(t.Context(), org, id)
	if err != nil {
		t.Fatalf("get %s: %v", id, err)
	}
	return c
}

func keepsCall(t *testing.T, s call.Store) {
	started, ended, moved, warmth := at.Add(time.Second), at.Add(time.Minute), at.Add(50*time.Second), 0.5
	want := aCall("c1", "a")
	want.Inbound = true
	want.Agent = call.Agent{
		Task: "Ask.", Voice: "rms", Language: "en", Model: "base", Temperature: &warmth, FirstSentence: "Hi \u2603",
		WaitForGreeting: true, Record: true, MaxDuration: time.Hour, TransferTo: "+15550000003", Webhook: "https://x.example/",
	}
	want.RequestData = map[string]any{"name": "Ada", "list": []any{"x", 1.5, nil, true}, "deep": map[string]any{"k": "v"}}
	want.Metadata = map[string]any{"ticket": "T-1"}
	want.Queue, want.Status = call.QueueComplete, call.StatusCompleted
	want.StartedAt, want.EndedAt = &started, &ended
	want.Ending = &call.Ending{Cause: call.CauseTransferred, SIPCode: 200, Reason: "moved", ByPeer: true}
	want.ErrorMessage, want.AnsweredBy = "none", call.AnsweredByUnknown
	want.TransferredTo, want.TransferredAt, want.ModelUsed = "+15550000003", &moved, "scripted"
	want.Carriage = call.LegInfo{SIPCallID: "x@y", Peer: "192.0.2.1:5061", Codec: "PCMU", SRTPSuite: "S", TLS: "TLS 1.3"}
	want.Stats = call.Stats{Sent: 1 << 40, Received: 2, Lost: 3, Late: 4, Jitter: time.Millisecond, RoundTrip: 5}
	want.Recorded, want.Node, want.Heartbeat = true, "n1", at.Add(59*time.Second)
	insertCalls(t, s, want)
	if got := getCall(t, s, "a", "c1"); !reflect.DeepEqual(got, want) {
		t.Fatalf("got  %+v\nwant %+v", got, want)
	}
}

func hidesCalls(t *testing.T, s call.Store) {
	c := aCall("c1", "a")
	insertCalls(t, s, c)
	foreign := c
	foreign.Org = "b"
	_, getErr := s.Get(t.Context(), "b", "c1")
	_, readErr := s.Transcript(t.Context(), "b", "c1")
	for name, err := range map[string]error{
		"get": getErr, "transcript": readErr, "update": s.Update(t.Context(), foreign),
		"append": s.Append(t.Context(), "b", "c1", call.Entry{Seq: 1}), "stop": s.RequestStop(t.Context(), "b", "c1"),
	} {
		if !errors.Is(err, callwright.ErrNotFound) {
			t.Errorf("%s gave %v, want not found", name, err)
		}
	}
	if page, total, err := s.List(t.Context(), "b", call.Filter{}); err != nil || total != 0 || len(page.Items) != 0 {
		t.Errorf("list gave %d calls of %d, %v", len(page.Items), total, err)
	}
}

func refusesCallTwice(t *testing.T, s call.Store) {
	insertCalls(t, s, aCall("c1", "a"))
	for _, org := range []callwright.OrgID{"a", "b"} {
		if err := s.Insert(t.Context(), aCall("c1", org)); !errors.Is(err, callwright.ErrConflict) {
			t.Errorf("got %v, want a conflict", err)
		}
	}
}

func updatesCall(t *testing.T, s call.Store) {
	insertCalls(t, s, aCall("c1", "a"))
	const writers = 8
	winners := make(chan string, writers)
	var wait sync.WaitGroup
	for i := range writers {
		wait.Go(func() {
			c := aCall("c1", "a")
			c.Queue, c.Node = call.QueueAllocated, fmt.Sprint("n", i)
			switch err := s.Update(t.Context(), c); {
			case err == nil:
				winners <- c.Node
			case !errors.Is(err, callwright.ErrConflict):
				t.Errorf("update: %v", err)
			}
		})
	}
	wait.Wait()
	close(winners)
	got := getCall(t, s, "a", "c1")
	if len(winners) != 1 || <-winners != got.Node || got.Version != 2 {
		t.Fatalf("%d writers won; stored is %+v", len(winners), got)
	}
}

func keepsHeartbeat(t *testing.T, s call.Store) {
	c := aCall("c1", "a")
	insertCalls(t, s, c)
	c.Queue, c.Node, c.Heartbeat = call.QueueAllocated, "n1", at
	if err := s.Update(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if got := getCall(t, s, "a", "c1"); !got.Heartbeat.Equal(at) {
		t.Errorf("the heartbeat of the node that took the call is %s", got.Heartbeat)
	}
	c.Version++
	if _, err := s.Beat(t.Context(), "n1", at.Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	c.Queue = call.QueueStarted
	if err := s.Update(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if got := getCall(t, s, "a", "c1"); !got.Heartbeat.Equal(at.Add(time.Minute)) || got.Queue != call.QueueStarted {
		t.Errorf("heartbeat is %s in %s", got.Heartbeat, got.Queue)
	}
}

func filtersCalls(t *testing.T, s call.Store) {
	first, second, third := aCall("c1", "a"), aCall("c2", "a"), aCall("c3", "a")
	first.Inbound, first.Queue = true, call.QueueComplete
	second.CreatedAt, second.From = at.Add(time.Second), "+15550000007"
	third.CreatedAt, third.To, third.Queue = at.Add(2*time.Second), "+15550000008", call.QueueCallError
	insertCalls(t, s, first, second, third)
	yes, no := true, false
	for name, test := range map[string]struct {
		filter call.Filter
		want   []string
	}{
		"all":          {call.Filter{}, []string{"c3", "c2", "c1"}},
		"oldest first": {call.Filter{OldestFirst: true}, []string{"c1", "c2", "c3"}},
		"from":         {call.Filter{From: "+15550000007"}, []string{"c2"}},
		"to":           {call.Filter{To: "+15550000008"}, []string{"c3"}},
		"inbound":      {call.Filter{Inbound: &yes}, []string{"c1"}},
		"outbound":     {call.Filter{Inbound: &no}, []string{"c3", "c2"}},
		"completed":    {call.Filter{Completed: &yes}, []string{"c3", "c1"}},
		"under way":    {call.Filter{Completed: &no}, []string{"c2"}},
		"since":        {call.Filter{Since: at.Add(time.Second)}, []string{"c3", "c2"}},
		"before":       {call.Filter{Before: at.Add(time.Second)}, []string{"c1"}},
	} {
		page, total, err := s.List(t.Context(), "a", test.filter)
		if got := ids(page.Items); err != nil || !slices.Equal(got, test.want) || total != len(test.want) {
			t.Errorf("%s: got %v of %d, %v; want %v", name, got, total, err, test.want)
		}
	}
}

func ids(calls []call.Call) []string {
	out := make([]string, 0, len(calls))
	for _, c := range calls {
		out = append(out, c.ID)
	}
	return out
}

// pagesCalls walks in both orders over calls of which most share one time.
func pagesCalls(t *testing.T, s call.Store) {
	const count = 25
	for i := range count {
		c := aCall(fmt.Sprintf("c%02d", i), "a")
		c.CreatedAt = at.Add(time.Duration(i/10) * time.Second)
		insertCalls(t, s, c)
	}
	for _, oldest := range []bool{false, true} {
		f := call.Filter{Limit: 4, OldestFirst: oldest}
		var seen []string
		for range count {
			page, total, err := s.List(t.Context(), "a", f)
			if err != nil || total != count {
				t.Fatalf("page: %v, total %d", err, total)
			}
			seen = append(seen, ids(page.Items)...)
			if page.Next.IsZero() {
				break
			}
			f.After = page.Next
		}
		if !oldest {
			slices.Reverse(seen)
		}
		if len(seen) != count || !slices.IsSorted(seen) {
			t.Errorf("oldest first %t: saw %v", oldest, seen)
		}
	}
}

func keepsTranscript(t *testing.T, s call.Store) {
	insertCalls(t, s, aCall("c1", "a"))
	want := []call.Entry{
		{Seq: 1, Speaker: call.SpeakerAssistant, Text: "Hello.", Start: 20 * time.Millisecond, End: time.Second, CreatedAt: at},
		{
			Seq: 2, Speaker: call.SpeakerUser, Text: "Söme \U0001F600 text", Start: 2 * time.Second, End: 3 * time.Second,
			Interrupted: true, CreatedAt: at.Add(time.Second),
			Latency: conversation.Latency{EndOfTurn: 1, Recognized: 2, FirstStep: 3, FirstAudio: 4, Playing: 5},
		},
	}
	for _, seq := range []int{1, 0, 1, 0} { // out of order, and twice
		if err := s.Append(t.Context(), "a", "c1", want[seq]); err != nil {
			t.Fatal(err)
		}
	}
	got, err := s.Transcript(t.Context(), "a", "c1")
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("got  %+v, %v\nwant %+v", got, err, want)
	}
}

func asksForStop(t *testing.T, s call.Store) {
	running, other, over := aCall("c1", "a"), aCall("c2", "a"), aCall("c3", "a")
	running.Queue, running.Node = call.QueueStarted, "n1"
	other.Queue, other.Node = call.QueueStarted, "n2"
	over.Queue = call.QueueComplete
	insertCalls(t, s, running, other, over)
	for _, id := range []string{"c1", "c2", "c3"} {
		if err := s.RequestStop(t.Context(), "a", id); err != nil {
			t.Fatalf("stop %s: %v", id, err)
		}
	}
	stops, err := s.Beat(t.Context(), "n1", at)
	if err != nil || !slices.Equal(stops, []string{"c1"}) {
		t.Errorf("the node is told to stop %v, %v; want c1", stops, err)
	}
	if getCall(t, s, "a", "c3").StopRequested {
		t.Error("a call that has ended was changed")
	}
	if err := s.Update(t.Context(), running); err != nil {
		t.Errorf("asking for a stop or a heartbeat changed the version: %v", err)
	}
	if !getCall(t, s, "a", "c1").StopRequested {
		t.Error("an update forgot the request")
	}
}

func findsSilent(t *testing.T, s call.Store) {
	silent, alive, waiting := aCall("c1", "a"), aCall("c2", "b"), aCall("c3", "a")
	silent.Queue, silent.Node, silent.Heartbeat = call.QueueStarted, "n1", at
	alive.Queue, alive.Node, alive.Heartbeat = call.QueueAllocated, "n2", at
	insertCalls(t, s, silent, alive, waiting)
	if _, err := s.Beat(t.Context(), "n2", at.Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	got, err := s.Silent(t.Context(), at.Add(time.Second), 10)
	if err != nil || !slices.Equal(ids(got), []string{"c1"}) {
		t.Errorf("got %v, %v; want c1", ids(got), err)
	}
	if got, err := s.Silent(t.Context(), at.Add(time.Hour), 1); err != nil || len(got) != 1 {
		t.Errorf("limit 1 gave %d, %v", len(got), err)
	}
}
