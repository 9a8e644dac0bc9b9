package e2e_test

import (
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"

	"github.com/callwright/callwright/internal/await"
	"github.com/callwright/callwright/internal/e2e/server"
	"github.com/callwright/callwright/transport/oas/triageoas"
)

// TestFeedOverTwoNodes follows a feed over two servers on one database while both write to it. Each stream must contain every entry once,
// in the order of the feed. After one server stops, its stream must continue at the other.
func TestFeedOverTwoNodes(t *testing.T) {
	t.Parallel()
	config := nodes(t, authority(t))
	one, two := server.StartTwo(t, config)
	issue := one.OpenIssue(t, "Two see it")
	streams := []*server.Stream{one.Stream(t, issue, ""), two.Stream(t, issue, "")}
	const writers, each = 4, 25
	var writing sync.WaitGroup
	for w := range writers {
		writing.Go(func() {
			for n := range each {
				[]*server.Server{one, two}[w%2].Comment(t, issue, fmt.Sprintf("%d of %d", n, w))
			}
		})
	}
	writing.Wait()
	entries := two.Activity(t, issue)
	if len(entries) != 1+writers*each {
		t.Fatalf("the feed has %d entries", len(entries))
	}
	for n, stream := range streams {
		for _, e := range entries[1:] {
			if got := <-stream.Entries; got.ID != e.ID {
				t.Fatalf("stream %d told %q, want %q", n, got.Detail, e.Detail)
			}
		}
	}

	last := streams[0].Close()
	for n := range 3 {
		two.Comment(t, issue, fmt.Sprint("meanwhile ", n))
	}
	back := one.Stream(t, issue, last)
	for n := range 3 {
		if got := <-back.Entries; got.Detail != fmt.Sprint("meanwhile ", n) {
			t.Errorf("who came back was told %q", got.Detail)
		}
	}
	one.Stop(t)
	if _, more := <-back.Entries; more {
		t.Error("a stream of a stopped server goes on")
	}
	two.Comment(t, issue, "one is gone")
	again := two.Stream(t, issue, back.Close())
	if got := <-again.Entries; got.Detail != "one is gone" {
		t.Errorf("who went to the other server was told %q", got.Detail)
	}
}

// TestEditorsOverTwoNodes has two people edit an issue concurrently over two servers. In each round, one of them must receive a conflict.
// Reports of failed calls and relations in both directions also conflict, and no request may hang.
func TestEditorsOverTwoNodes(t *testing.T) {
	t.Parallel()
	config := nodes(t, authority(t))
	one, two := server.StartTwo(t, config)
	issue, other := one.OpenIssue(t, "Edited"), one.OpenIssue(t, "Other")
	const rounds = 10
	for round := range rounds {
		answers, errs := make([]*triageoas.TriageIssueReply, 2), make([]error, 2)
		var editing sync.WaitGroup
		for n, s := range []*server.Server{one, two} {
			editing.Go(func() {
				answers[n], errs[n] = s.API.UpdateIssue(t.Context(), &triageoas.TriageIssueUpdate{
					Version: triageoas.NewOptInt(1 + round), Title: triageoas.NewOptString(fmt.Sprint(round, " by ", n)),
				}, triageoas.UpdateIssueParams{ID: issue})
			})
			editing.Go(func() {
				from, to := issue, other
				if n == 1 {
					from, to = other, issue
				}
				_, err := s.API.RelateIssue(t.Context(), &triageoas.TriageRelationCreate{
					RelatedIssueID: to, RelationType: triageoas.TriageRelationTypeRelatedTo,
				}, triageoas.RelateIssueParams{ID: from})
				if err != nil {
					t.Errorf("relating: %v", err)
				}
			})
		}
		editing.Wait()
		won := slices.IndexFunc(errs, func(err error) bool { return err == nil })
		if won < 0 || status(errs[1-won]) != http.StatusConflict {
			t.Fatalf("round %d: %v", round, errs)
		}
		if got := answers[won].Data.Title; got != fmt.Sprint(round, " by ", won) {
			t.Errorf("the winner was told %q", got)
		}
	}
	if issues := two.Issues(t); issues[0].RelationCount != 1 || issues[1].RelationCount != 1 {
		t.Errorf("the issues are %+v", issues)
	}
}

// TestAnalysisIsCancelledElsewhere checks that one server can cancel an analysis while the other server waits for the model.
func TestAnalysisIsCancelledElsewhere(t *testing.T) {
	t.Parallel()
	asked, left := make(chan bool, 10), make(chan bool, 10)
	model := analyst(t, func(r *http.Request, _, _ string) string {
		asked <- true
		<-r.Context().Done()
		left <- true
		return ""
	})
	config := nodes(t, authority(t))
	config.Flags = append(config.Flags, model...)
	one, two := server.StartTwo(t, config)
	servers := []*server.Server{one, two}
	servers[0].AttachOutbound(t, ours.String(), "sip:127.0.0.1:9;transport=tls")
	call := servers[0].Call(t, appointment())
	servers[0].Ended(t, call)
	for n, s := range servers { // cancels over each server, so at least once over the other one
		issue := s.OpenIssue(t, fmt.Sprint("Issue ", n))
		attach(t, s, issue, call)
		session := analyze(t, s, issue, "")
		<-asked
		if _, err := s.API.AddIssueAgentEntry(t.Context(), &triageoas.TriageAgentEntryCreate{
			Type: triageoas.TriageAgentEntryCreateTypeSessionStopped, SessionStatus: triageoas.NewOptTriageSessionStatus(triageoas.TriageSessionStatusCancelled),
		}, triageoas.AddIssueAgentEntryParams{ID: issue, SessionID: session}); err != nil {
			t.Fatal(err)
		}
		await.That(t, "the question to be given up", func() bool { return len(left) == n+1 })
		entries := s.Activity(t, issue)
		if last := entries[len(entries)-1]; last.Type != "session_stopped" || last.AgentSession.Status != "cancelled" || last.Actor.Kind != "user" {
			t.Errorf("the feed is %q", told(entries))
		}
	}
}
