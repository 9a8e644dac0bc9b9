package main

import (
	"context"
	"fmt"
	"time"

	oas "github.com/callwright/callwright/transport/oas/agenttestoas"
)

// testAgain generates a scenario from a call, runs it against the call's pathway, and prints the verdict and score. It returns an error if
// the test fails.
func testAgain(ctx context.Context, api *oas.Client, call, pathway string) error {
	draft, err := api.GenerateTestScenario(ctx, &oas.TestScenarioFromCall{CallID: call, PathwayID: oas.NewOptNilString(pathway)})
	if err != nil {
		return err
	}
	body, err := draft.Data.MarshalJSON()
	if err != nil {
		return err
	}
	var scenario oas.TestScenarioCreate
	if err := scenario.UnmarshalJSON(body); err != nil {
		return err
	}
	created, err := api.CreateTestScenario(ctx, &scenario)
	if err != nil {
		return err
	}
	begun, err := api.StartTestRun(ctx, oas.OptTestRunStart{}, oas.StartTestRunParams{ID: created.Data.ID})
	if err != nil {
		return err
	}
	run, err := ended(ctx, api, begun.Data.RunID)
	if err != nil {
		return err
	}
	fmt.Printf("The same words against the same pathway, as a test: %s, score %.2f\n", run.Status, run.OverallScore.Value)
	for _, r := range run.AssertionResults {
		fmt.Printf("  %-6s  %s\n", r.Status, r.Name)
	}
	fmt.Println()
	if run.Status != oas.TestRunStatusPASSED {
		return fmt.Errorf("the test ended as %s: %s", run.Status, run.ErrorMessage.Value)
	}
	return nil
}

// ended polls a test run until it has ended, and returns it.
func ended(ctx context.Context, api *oas.Client, id string) (oas.TestRun, error) {
	for {
		read, err := api.GetTestRun(ctx, oas.GetTestRunParams{ID: id})
		if err != nil {
			return oas.TestRun{}, err
		}
		if s := read.Data.Status; s != oas.TestRunStatusPENDING && s != oas.TestRunStatusRUNNING {
			return read.Data, nil
		}
		if err := pause(ctx, 50*time.Millisecond); err != nil {
			return oas.TestRun{}, err
		}
	}
}
