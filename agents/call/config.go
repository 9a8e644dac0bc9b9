package call

import (
	"context"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/request"
	"github.com/callwright/callwright/delivery"
	"github.com/callwright/callwright/node"
	"github.com/callwright/callwright/speech/tts"
)

// Config configures a Service.
type Config struct {
	Store       Store                   `required:"always"`
	Leases      node.Leases             `required:"always"` // on the database of all nodes
	Atomic      callwright.Atomic       `required:"always"`
	Work        callwright.Work         `required:"always"`
	Line        Line                    `required:"always"`
	Recognizer  conversation.Recognizer `required:"always"`
	Synthesizer tts.Synthesizer         `required:"without Voices"`
	Voices      tts.Speakers            // speaks with the voices of organizations; nil: Synthesizer speaks for all
	Agents      Agents                  `required:"without NewBrain"` // nil: inbound calls have an agent without settings, placing a call is CodeUnavailable
	Model       llm.Model               `required:"without NewBrain"`

	// NewBrain makes the brain of an answered call, whose Variables hold the answers of its dynamic data. A nil Brain without an
	// error selects the pathway or task of the call's agent. An error ends the call with CauseInternal. A nil NewBrain selects the
	// agent for every call.
	NewBrain func(ctx context.Context, c Call) (conversation.Brain, error)
	// Observe receives the events of this node's calls: see Observation. nil: not called.
	Observe func(o Observation)

	Routes     Routes             // nil: placing a call is CodeUnavailable
	Recordings Recordings         // nil: placing a call with a recording is CodeUnavailable, and incoming calls are not recorded
	Notifier   Notifier           // nil: placing a call with a webhook is CodeUnavailable, and incoming calls send no notices
	Pathways   agents.Pathways    // nil: a pathway is CodeUnavailable
	Requests   request.Client     // nil: tools and dynamic data fail
	Knowledge  pathway.Knowledge  // nil: no knowledge bases
	AMD        func(rate int) AMD // makes the detection for a call at a sample rate; nil: no detection
	Failures   Failures           // nil: failed calls are not reported
	Deliveries *delivery.Log      // lists messages that webhooks have not accepted; nil: no list

	Numbering    callwright.Numbering // the default countries of organizations; nil: no defaults
	Ready        func() error         // its error refuses calls, for example without a speech engine; nil: calls are never refused
	Node         string               // this process's name, unique among all nodes and new at every start; empty: one of IDs
	MaxCalls     int                  // live calls on this node; 0: no bound but the line's
	DrainTimeout time.Duration        // time for running calls after Run's context has ended; 0: they are ended immediately

	callwright.Runtime
}

// setDefaults sets the defaults of optional fields.
func (c *Config) setDefaults() {
	if c.Agents == nil {
		c.Agents = noAgents{}
	}
	if c.Model == nil {
		c.Model = noModel{}
	}
	if c.Routes == nil {
		c.Routes = noRoutes{}
	}
	if c.Recordings == nil {
		c.Recordings = noRecordings{}
	}
	if c.Notifier == nil {
		c.Notifier = noNotifier{}
	}
	if c.Requests == nil {
		c.Requests = noRequests{}
	}
	if c.Ready == nil {
		c.Ready = func() error { return nil }
	}
	if c.Node == "" {
		c.Node = c.IDs.New()
	}
}

// Service places and answers calls.
type Service struct {
	cfg      Config
	live     *node.Holder[callwright.OrgID] // the calls that run here
	observed *observations
}

// storePatience bounds one access of a live call or its node to the store.
const storePatience = 5 * time.Second

// The kinds of durable work.
const (
	taskPlace   = "call.place"
	taskAnalyze = "call.analyze"
	taskWebhook = "call.webhook"
	taskFailed  = "call.failed"
	taskSweep   = "call.sweep"
)
