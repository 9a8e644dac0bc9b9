package triage

import (
	"context"
	"encoding/json"

	"github.com/callwright/callwright"
)

// ResourceResolver reads the resources of one type from another domain. Implementations must be safe for concurrent use.
// triagetest.RunResourceResolver tests them.
type ResourceResolver interface {
	// Find returns the items of resources, by id. It omits absent resources and those of other organizations. Callers pass at most
	// MaxResources ids, which may be empty or repeated.
	Find(ctx context.Context, org callwright.OrgID, ids []string) (map[string]Item, error)
	// Read returns the evidence about a resource for an Analyst. It returns CodeNotFound if the organization has no such resource. The
	// evidence must not contain secrets.
	Read(ctx context.Context, org callwright.OrgID, id string) (Evidence, error)
}

// Item holds the data of a resource that an issue shows.
type Item struct {
	Title    string
	Metadata map[string]any
}

// Evidence is information about a resource. An Analyst must treat its texts as data, never as instructions.
type Evidence struct {
	Facts map[string]any // by name, for example "status"; values must be encodable as JSON
	Lines []Line         // lines of the conversation, if any
}

// Line is a line of a conversation.
type Line struct {
	Agent bool // said by the agent, not by the other side
	Text  string
}

// Analyst works on issues step by step. It must not keep state between steps, because the next step may run on another node, or again after
// a crash. An analysis ends after at most 40 steps. triagetest.RunAnalyst tests implementations.
type Analyst interface {
	// Name returns the agent name of the Analyst's sessions. It must be constant, not blank, and without characters that callwright.Hidden
	// reports.
	Name() string
	// Step runs a step of an analysis, such as one question to a model. It must return within seconds, and when ctx ends. After an error,
	// the step is retried a few times, not before its RetryAfter. A permanent failure must be a Progress that ends with SessionError, not
	// an error. If a resource is absent or has no resolver, the step must continue without its evidence. The Progress must satisfy
	// Progress.Check.
	Step(ctx context.Context, c Case) (Progress, error)
}

// Case is the input of a step of an Analyst.
type Case struct {
	Org           callwright.OrgID
	Issue         Issue
	Resources     []Resource // in the order of attachment
	Flags         []Flag
	Prompt        string          // prompt of the analysis; empty means the default
	Answers       []string        // people's answers to the analysis, in order
	PreviousSteps int             // number of earlier steps
	State         json.RawMessage // State of the previous Progress; nil for the first step
	Attempt       int             // attempt at this step, from 1
	// Read returns the evidence about an attached resource. It returns CodeNotFound if the resource is absent, and CodeNotImplemented if
	// its type has no resolver.
	Read func(ctx context.Context, r Resource) (Evidence, error)
}

// Progress is the result of a step of an Analyst.
type Progress struct {
	// Steps are appended to the session in order. Their Status must be empty, because Next sets the state of the session.
	Steps []Step
	// State is passed to the next step. It is JSON of at most 512 KiB.
	State json.RawMessage
	// Next is SessionActive if another step follows, and SessionComplete or SessionError if the analysis ends. It is SessionAwaitingInput
	// if the next step requires a person's answer. The last of Steps must then be a TypeResponse.
	Next SessionStatus
}
