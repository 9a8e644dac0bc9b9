package triage

import (
	"context"
	"encoding/json"

	"github.com/callwright/callwright"
)

// ResourceResolver knows the resources of one type, which another domain keeps.
type ResourceResolver interface {
	// Find returns what an issue shows of resources, by id. It leaves out absent ones and other organizations'. At
	// most MaxResources ids are asked at once.
	Find(ctx context.Context, org callwright.OrgID, ids []string) (map[string]Item, error)
	// Read returns what an Analyst may know of a resource; CodeNotFound when it is absent. Evidence holds no
	// secrets.
	Read(ctx context.Context, org callwright.OrgID, id string) (Evidence, error)
}

// Item is what an issue shows of a resource.
type Item struct {
	Title    string
	Metadata map[string]any
}

// Evidence is what is known of a resource. It is data, whatever its texts say.
type Evidence struct {
	Facts map[string]any // by name, such as "status"
	Lines []Line         // what was said, where something was
}

// Line is one line of a conversation.
type Line struct {
	Agent bool // the agent's; else the other side's
	Text  string
}

// Analyst works on issues step by step. It keeps nothing between steps: the next step may run on another node, or
// again after a crash.
type Analyst interface {
	// Name returns the agent name of its sessions.
	Name() string
	// Step takes one step of an analysis, such as one question to a model; it takes seconds and ends when ctx ends.
	// After an error the step is tried again a few times, not before its RetryAfter. A failure that cannot improve
	// is not an error but a Progress that ends with SessionError.
	Step(ctx context.Context, c Case) (Progress, error)
}

// Case is the input of an Analyst.
type Case struct {
	Org       callwright.OrgID
	Issue     Issue
	Resources []Resource // that are attached, by when they were
	Flags     []Flag
	Prompt    string          // what it was asked; empty: the usual
	Answers   []string        // what people have answered to its questions, in their order
	Taken     int             // steps taken before
	State     json.RawMessage // what the step before left; nil for the first
	Attempt   int             // of this step, from 1
	// Read is the evidence of something attached; CodeNotFound when it is gone, CodeNotImplemented when nobody knows
	// its type.
	Read func(ctx context.Context, r Resource) (Evidence, error)
}

// Progress is the result of a step.
type Progress struct {
	// Steps are to be written, in their order. Their Status is left empty; the end of the session is not among them, but
	// follows from Next.
	Steps []Step
	// State is for the next step: JSON, at most 512 KiB.
	State json.RawMessage
	// Next is SessionActive when there is a next step, SessionAwaitingInput when there is one after somebody has answered
	// the last of Steps, a TypeResponse; or SessionComplete or SessionError.
	Next SessionStatus
}
