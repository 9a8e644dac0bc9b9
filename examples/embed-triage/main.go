// Command embed-triage lets its own analyst analyze an issue, and follows the issue's feed meanwhile.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/triagestore"
	"github.com/callwright/callwright/triage"
)

const org = callwright.OrgID("acme")

// reader is an analyst that finds the same cause for every issue. It needs two steps, which may run on different nodes.
type reader struct{}

func (reader) Name() string { return "Log reader" }

func (reader) Step(_ context.Context, c triage.Case) (triage.Progress, error) {
	if c.PreviousSteps == 0 {
		look := triage.Step{Type: triage.TypeAction, Detail: "reading the log about: " + c.Prompt}
		return triage.Progress{Steps: []triage.Step{look}, Next: triage.SessionActive}, nil
	}
	cause := triage.Step{Type: triage.TypeArtifact, Artifact: &triage.Artifact{
		Type: "root_cause", Title: "The disk is full", Payload: json.RawMessage(`{"suggestion":"delete old recordings"}`),
	}}
	return triage.Progress{Steps: []triage.Step{cause}, Next: triage.SessionComplete}, nil
}

func main() {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	store := memstore.New()
	work := memstore.NewWork(store, nil)
	issues, err := triage.New(triage.Config{Store: triagestore.Store{Store: store}, Atomic: store, Work: work, Analyst: reader{}})
	check(err)
	go func() { _ = work.Run(ctx) }()

	ada := triage.Actor{Kind: triage.ActorUser, ID: "ada", Label: "Ada Park"}
	issue, err := issues.Create(ctx, org, ada, triage.Draft{Title: "Recordings are missing", Severity: triage.SeverityHigh})
	check(err)
	feed, err := issues.Watch(ctx, org, issue.ID, "")
	check(err)
	defer feed.Close()
	_, err = issues.Analyze(ctx, org, ada, issue.ID, "why since Monday?")
	check(err)
	for stopped := false; !stopped; {
		entries, err := feed.Next(ctx)
		check(err)
		for _, e := range entries {
			fmt.Printf("%s: %s %q\n", e.Actor.Label, e.Type, told(e))
			stopped = stopped || e.Type == triage.TypeSessionStopped
		}
	}
	_, err = issues.Get(ctx, "another organization", issue.ID)
	fmt.Println("elsewhere:", err, errors.Is(err, callwright.ErrNotFound))
}

// told returns the title of an entry's artifact, or else the entry's detail.
func told(e triage.Entry) string {
	if e.Artifact != nil {
		return e.Artifact.Title
	}
	return e.Detail
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
