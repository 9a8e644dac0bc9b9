// Package analysis determines the cause of a failed test run, and suggests changes to the agent.
package analysis

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agenttest/assert"
	"github.com/callwright/callwright/agenttest/engine"
	"github.com/callwright/callwright/agenttest/scenario"
)

// Case is a run that failed or ended with an error, with the sources of the agent's nodes: the input of an analysis.
type Case struct {
	Scenario scenario.Scenario
	Outcome  engine.Outcome
	Nodes    []Node // nodes of the tested version; a model reads at most MaxNodes, the visited nodes first
}

// Node is a node of a pathway, or a whole persona.
type Node struct {
	ID   string
	Name string
	Text string // the node's JSON document, or the persona's prompt
}

// Analysis is the cause of a run's failure, with suggestions.
type Analysis struct {
	Cause       string // human-readable
	Fault       Fault
	Node        string // id of the node at fault; empty if no single node is
	Suggestions []Suggestion
	Names       map[string]string // names of the visited nodes and of the nodes that the analysis mentions, by id
	By          string            // the model's name, or ByRules
	Usage       llm.Usage
}

// ByRules is the value of Analysis.By if no model took part. The cause of a failed run is then the reasoning of the failed required
// assertion with the greatest weight, if there is one.
const ByRules = "rules"

// Fault is the part that must change so that the run passes.
type Fault string

// The Fault of an Analysis.
const (
	OfAgent     Fault = "agent"                  // a node's words or settings, or the edges between nodes
	OfTest      Fault = "test_defect"            // the scenario expects the wrong behavior
	OfStructure Fault = "structure_out_of_scope" // a cause outside the pathway: another system, a missing feature
	OfNobody    Fault = "infrastructure"         // the run ended with an error, for example because a model was unavailable or a budget was exhausted
)

// Suggestion is a change that could fix the agent.
type Suggestion struct {
	Kind        Kind
	Node        string // id; empty if the change concerns no single node
	Name        string // name of the node
	Description string // the change and its reason
	Change      string // the new text, or the change in words
	Confidence  float64
}

// Kind classifies what a suggestion changes.
type Kind string

// The Kind of a Suggestion.
const (
	PromptChange    Kind = "prompt_change"    // the words or the instructions of a node
	NodeConfig      Kind = "node_config"      // a node's settings: variables, tools, a condition
	FlowChange      Kind = "flow_change"      // edges: the next nodes of a node
	ToneImprovement Kind = "tone_improvement" // the agent's way of speaking
)

// These constants limit the input of a model. Longer texts are truncated, and the nodes beyond a limit are omitted.
const (
	MaxNodes     = 60
	maxNode      = 4 << 10  // bytes of Node.Text
	maxNodesText = 64 << 10 // bytes of all texts of nodes together
	maxTurn      = 2 << 10  // bytes of one side's words in a turn
	maxResult    = 1 << 10  // bytes of the reasoning of an assertion
)

// Analyze analyzes a run that is FAILED or ERROR. It uses the rules instead of the model for ERROR, and if m is nil or cannot analyze
// (llm.ClassUnsupported). If the model fails otherwise, the error is its *llm.Failure.
func Analyze(ctx context.Context, m llm.Model, c Case) (Analysis, error) {
	if c.Outcome.Verdict == engine.Error || m == nil {
		return byRules(c), nil
	}
	nodes := c.relevant()
	known := make(map[string]string, len(nodes))
	for _, n := range nodes {
		known[n.ID] = n.Name
	}
	answer, usage, err := llm.AskChecked(ctx, m, c.question(nodes), func(a answer) error { return a.check(known) })
	switch {
	case llm.ClassOf(err) == llm.ClassUnsupported:
		return byRules(c), nil
	case err != nil:
		return Analysis{}, err
	}
	out := Analysis{Cause: answer.Cause, Fault: answer.Fault, Names: c.names(), By: m.Name(), Usage: usage}
	if answer.Node != nil {
		out.Node = *answer.Node
		out.Names[out.Node] = known[out.Node]
	}
	for _, s := range answer.Suggestions {
		made := Suggestion{Kind: s.Kind, Description: s.Description, Change: s.Change, Confidence: s.Confidence}
		if s.Node != nil {
			made.Node, made.Name = *s.Node, known[*s.Node]
			out.Names[made.Node] = made.Name
		}
		out.Suggestions = append(out.Suggestions, made)
	}
	slices.SortStableFunc(out.Suggestions, func(a, b Suggestion) int {
		switch {
		case a.Confidence > b.Confidence:
			return -1
		case a.Confidence < b.Confidence:
			return 1
		default:
			return 0
		}
	})
	return out, nil
}

// byRules returns the analysis by rules, without a model.
func byRules(c Case) Analysis {
	out := Analysis{Fault: OfAgent, Node: c.Outcome.Blame, Names: c.names(), By: ByRules}
	if c.Outcome.Verdict == engine.Error {
		out.Fault, out.Node, out.Cause = OfNobody, "", "The run says nothing about the agent: "+c.Outcome.Error
		return out
	}
	r, ok := heaviest(c.Outcome.Results)
	switch {
	case !ok:
		out.Cause = "The overall score is too low, although no required assertion has failed."
	case r.Name == "":
		out.Cause = fmt.Sprintf("%s has failed: %s", r.Type, r.Reasoning)
	default:
		out.Cause = fmt.Sprintf("%q (%s) has failed: %s", r.Name, r.Type, r.Reasoning)
	}
	if out.Node == "" && len(c.Outcome.Evidence.Visits) > 0 {
		out.Cause += " " + noPlace
	}
	out.Cause = callwright.Clip(out.Cause, maxCause)
	return out
}

// noPlace is appended to the cause if the run visited nodes, but the failure blames none of them.
const noPlace = "Nothing tells at which node: the failure has no single place."

// heaviest returns the failed required assertion with the greatest weight. ok is false if no required assertion failed.
func heaviest(results []assert.Result) (best assert.Result, ok bool) {
	for _, r := range results {
		if r.Outcome == assert.Failed && r.Required && (!ok || r.Weight > best.Weight) {
			best, ok = r, true
		}
	}
	return best, ok
}

// names returns the names of the nodes that the run visited, by id.
func (c Case) names() map[string]string {
	names := map[string]string{}
	for _, v := range c.Outcome.Evidence.Visits {
		names[v.Node] = c.Outcome.Evidence.Graph[v.Node].Name
	}
	return names
}

// relevant returns the nodes that a model reads: first the visited nodes, then their successors, then others. It truncates long texts and
// omits the nodes beyond the limits.
func (c Case) relevant() []Node {
	rank := map[string]int{}
	for _, v := range c.Outcome.Evidence.Visits {
		rank[v.Node] = -2
	}
	for id := range rank {
		for _, next := range c.Outcome.Evidence.Graph[id].Next {
			if rank[next] == 0 {
				rank[next] = -1
			}
		}
	}
	nodes := slices.Clone(c.Nodes)
	slices.SortStableFunc(nodes, func(a, b Node) int { return rank[a.ID] - rank[b.ID] })
	size := 0
	for i := range nodes {
		nodes[i].Text = callwright.Clip(nodes[i].Text, maxNode)
		if size += len(nodes[i].Text); size > maxNodesText || i == MaxNodes {
			return nodes[:i]
		}
	}
	return nodes
}

// check returns an error if the answer names an unknown node, which the JSON schema cannot detect.
func (a answer) check(known map[string]string) error {
	ids := []*string{a.Node}
	for _, s := range a.Suggestions {
		ids = append(ids, s.Node)
	}
	for _, id := range ids {
		if id == nil {
			continue
		}
		if _, ok := known[*id]; !ok {
			return errors.New("a node must be null or one of the ids in nodes")
		}
	}
	return nil
}
