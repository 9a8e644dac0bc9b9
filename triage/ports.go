package triage

import (
	"context"
	"encoding/json"

	"github.com/callwright/callwright"
)

// ResourceResolver reads the resources of one type, which belong to another domain. It is safe for concurrent use.
// triagetest.RunResourceResolver tests it.
type ResourceResolver interface {
	// Find returns the items of resources, by id. It omits absent resources, and other organizations' ones. At most MaxResources
	// ids are asked together; an id may be empty, or given twice.
	Find(ctx context.Context, org callwright.OrgID, ids []string) (map[string]Item, error)
	// Read returns the evidence about a resource for an Analyst; CodeNotFound when the organization has no such resource. Evidence contains no secrets.
	Read(ctx context.Context, org callwright.OrgID, id string) (Evidence, error)
}

// Item is the part of a resource that an issue shows.
type Item struct {
	Title    string
	Metadata map[string]any
}

// Evidence is information about a resource. Its texts are data, never instructions.
type Evidence struct {
	Facts map[string]any // by name, for example "status"; each has a JSON form
	Lines []Line         // conversation, if any
}

// Line is one line of a conversation.
type Line struct {
	Agent bool // spoken by the agent; else by the other side
	Text  string
}

// Analyst works on issues step by step. It keeps no state between steps: the next step may run on another node, or again after a
// crash. An analysis ends after at most 40 steps. triagetest.RunAnalyst tests it.
type Analyst interface {
	// Name returns the agent name of its sessions. It is constant, not blank, and without characters that callwright.Hidden reports.
	Name() string
	// Step takes one step of an analysis, such as one question to a model; it takes seconds and ends when ctx ends. After an error
	// the step is retried a few times, not before its RetryAfter. A permanent failure is not an error but a Progress that ends with
	// SessionError. A step of a resource that is gone, or without a resolver, continues without its evidence. The Progress passes
	// Progress.Check.
	Step(ctx context.Context, c Case) (Progress, error)
}

// Case is the input of an Analyst.
type Case struct {
	Org           callwright.OrgID
	Issue         Issue
	Resources     []Resource // attached resources, by time of attachment
	Flags         []Flag
	Prompt        string          // prompt of the analysis; empty: the default
	Answers       []string        // people's answers to its questions, in order
	PreviousSteps int             // steps taken before
	State         json.RawMessage // state of the previous step; nil for the first
	Attempt       int             // of this step, from 1
	// Read returns the evidence of an attached resource; CodeNotFound when it is gone, CodeNotImplemented without a resolver of its
	// type.
	Read func(ctx context.Context, r Resource) (Evidence, error)
}

// Progress is the result of a step.
type Progress struct {
	// Steps are appended in order. Their Status is empty: Next ends the session.
	Steps []Step
	// State is for the next step: JSON, at most 512 KiB.
	State json.RawMessage
	// Next is SessionActive before another step, SessionAwaitingInput when the next step follows a person's answer to the last of
	// Steps, a TypeResponse; or SessionComplete or SessionError.
	Next SessionStatus
}
