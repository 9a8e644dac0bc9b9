package call

import (
	"context"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/llm/price"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/request"
	"github.com/callwright/callwright/delivery"
	"github.com/callwright/callwright/node"
	"github.com/callwright/callwright/speech/tts"
)

// Config configures a Service. The struct tags name the required fields.
type Config struct {
	Store       Store                   `required:"always"`
	Leases      node.Leases             `required:"always"` // in the database that all nodes share
	Atomic      callwright.Atomic       `required:"always"`
	Work        callwright.Work         `required:"always"`
	Line        Line                    `required:"always"`
	Recognizer  conversation.Recognizer `required:"always"`
	Synthesizer tts.Synthesizer         `required:"without Voices"`
	Voices      tts.Speakers            // speaks with the voices of organizations; if nil, Synthesizer speaks for all
	Agents      Agents                  `required:"without NewBrain"` // if nil, inbound agents have no settings, and Create fails
	Model       llm.Model               `required:"without NewBrain"`
	// Prices returns the cost of tokens of the model with a Model.Name, or false if it is unknown, such as price.Table.Cost. If nil, all
	// costs are unknown.
	Prices func(model string, u llm.Usage) (cost price.Money, known bool)

	// NewBrain returns the brain of an answered call. The call's Variables contain the answers of its dynamic data. If NewBrain returns nil
	// without an error, or is nil, the pathway or task of the call's agent leads the conversation. An error ends the call: an *llm.Failure
	// with CauseModelRefused or CauseModelFailed, another error with a code with CauseServiceFailed, and any other error with
	// CauseInternal.
	NewBrain func(ctx context.Context, c Call) (conversation.Brain, error)
	// RemoteBrain returns the brain of an answered call whose agent names a service: see agents.Agent.Brain. The brain passes the log of each
	// turn to observe. An error ends the call as one of NewBrain does. If RemoteBrain is nil, such calls fail.
	RemoteBrain func(c Call, observe func(pathway.Log)) (conversation.Brain, error)
	// Observe receives the events of this node's calls: see Observation. It may be nil.
	Observe func(o Observation)

	// Activity returns the detector of a call's speech. It may be nil: see conversation.Config.
	Activity func(rate int) conversation.Activity
	// AMD returns the detector for a call with a sample rate and a language (BCP 47, or empty); nil means no detection.
	AMD func(rate int, language string) AMD

	Routes     Routes            // if nil, Create returns CodeUnavailable
	Recordings Recordings        // if nil, Create returns CodeUnavailable for a call with a recording, and incoming calls are unrecorded
	Notifier   Notifier          // if nil, Create returns CodeUnavailable for a call with a webhook, and incoming calls send no notices
	Pathways   agents.Pathways   // if nil, calls with a pathway fail
	Requests   request.Client    // if nil, tools and dynamic data fail
	Knowledge  pathway.Knowledge // nil means no knowledge bases
	Failures   Failures          // receives failed calls; may be nil
	Deliveries *delivery.Log     // lists messages that webhooks have not accepted; may be nil

	Numbering    callwright.Numbering // default countries of organizations; nil means no defaults
	Ready        func() error         // refuses calls by its error, for example without a speech engine; nil refuses none
	Node         string               // name of this process, unique among all nodes and new at every start; empty means an id from IDs
	MaxCalls     int                  // maximum of live calls on this node; 0 means only the line's limit
	DrainTimeout time.Duration        // time for running calls to finish after Run's context has ended; 0 means none

	callwright.Runtime
}

// setDefaults replaces missing optional ports by null implementations, and an empty Node by a new id.
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

// Service places and answers calls, and stores their records.
type Service struct {
	cfg      Config
	live     *node.Holder[callwright.OrgID] // calls that run on this node
	observed *observations
}

// storePatience bounds each store operation of a live call or of this node.
const storePatience = 5 * time.Second

// The kinds of durable tasks.
const (
	taskPlace   = "call.place"
	taskAnalyze = "call.analyze"
	taskWebhook = "call.webhook"
	taskFailed  = "call.failed"
	taskSweep   = "call.sweep"
)
