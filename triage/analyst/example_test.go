package analyst_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/triagestore"
	"github.com/callwright/callwright/adapters/scripted"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/triage"
	"github.com/callwright/callwright/triage/analyst"
	"github.com/callwright/callwright/triage/triagetest"
)

// A program analyzes an issue with a scripted model that has two rules, and reads the feed meanwhile.
func Example() {
	ann, err := analyst.New(analyst.Config{Name: "Ann", Model: scripted.New(
		scripted.Rule{Task: llm.TaskAnalyze, About: "lines in all", Answer: `{"observation":"Nobody is transferred.","lines":[1],"facts":[]}`},
		scripted.Rule{Task: llm.TaskAnalyze, About: "Nobody is transferred", Answer: `{"outcome":"root_cause",
			"root_cause":"The agent has no transfer number.","suggestion":"Set one.","confidence":"medium",
			"evidence":[{"resource_id":"c1","line":1,"fact":null}],"summary":"There is nobody to transfer to.","question":""}`},
	)})
	if err != nil {
		fmt.Println(err)
		return
	}
	calls := new(triagetest.Resolver) // instead of a store of calls
	calls.Add("acme", "c1", triage.Item{Title: "Call to +15551234567"}, triage.Evidence{
		Lines: []triage.Line{{Text: "A human, please."}, {Agent: true, Text: "I can't do that."}},
	})
	memory := memstore.New()
	work := memstore.NewWork(memory, nil)
	issues, err := triage.New(triage.Config{
		Store: triagestore.Store{Store: memory}, Atomic: memory, Work: work, Analyst: ann,
		Resolvers: map[triage.ResourceType]triage.ResourceResolver{triage.ResourceCall: calls},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer issues.Close()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() { _ = work.Run(ctx) }()

	ada := triage.Actor{Kind: triage.ActorUser, ID: "ada", Label: "Ada"}
	issue, err := issues.Create(ctx, "acme", ada, triage.Draft{Title: "Callers are not transferred"})
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, _, err = issues.Attach(ctx, "acme", ada, issue.ID, triage.ResourceDraft{Type: triage.ResourceCall, ResourceID: "c1"}); err != nil {
		fmt.Println(err)
		return
	}
	feed, err := issues.Watch(ctx, "acme", issue.ID, "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer feed.Close()
	session, err := issues.Analyze(ctx, "acme", ada, issue.ID, "")
	if err != nil {
		fmt.Println(err)
		return
	}
	for !session.Status.Ended() {
		entries, err := feed.Next(ctx)
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, e := range entries {
			fmt.Println(strings.TrimSpace(fmt.Sprintf("%s: %s", e.Type, e.Detail)))
			session.Status = e.Session.Status
		}
	}
	// Output:
	// session_started:
	// prompt: Why did this happen, and what keeps it from happening again?
	// action: Reading 1 of 1 attached:
	// - call "Call to +15551234567"
	// action: Read call "Call to +15551234567".
	// thought: Nobody is transferred.
	// - line 1, agent: "I can't do that."
	// artifact: Root cause, confidence medium.
	// response: There is nobody to transfer to.
	// session_stopped:
}
