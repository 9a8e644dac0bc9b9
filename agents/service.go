package agents

import (
	"context"

	"github.com/callwright/callwright/speech/tts"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/llm"
)

// Config configures a Service.
type Config struct {
	Numbers   NumberStore       `required:"always"`
	WebAgents WebAgents         `required:"always"`
	Atomic    callwright.Atomic `required:"always"`

	// The references of agents are checked with these.
	Voices    tts.VoiceChecker             // nil: every voice is accepted
	Languages conversation.LanguageChecker // nil: every language is accepted
	Model     llm.Model                    // checks the model names of agents and reports unfollowed instructions; nil: every name is accepted
	Webhooks  callwright.URLs              // nil: an agent with a webhook is CodeUnavailable
	Requests  callwright.URLs              // of tools and dynamic data; nil: an agent with these is CodeUnavailable
	Pathways  Pathways                     // nil: an agent with a pathway is CodeUnavailable
	Personas  Personas                     // nil: an agent with a persona is CodeUnavailable

	Numbering callwright.Numbering // the default countries of organizations; nil: no defaults

	callwright.Runtime
}

// Service manages agents: web agents, and the agents of inbound numbers. It implements the rules of an agent, and selects the agent
// of a call.
type Service struct{ cfg Config }

// New checks the configuration.
func New(c Config) (*Service, error) {
	if err := callwright.PrepareConfig(&c); err != nil {
		return nil, err
	}
	return &Service{cfg: c}, nil
}

// again runs a function in a transaction, and retries after conflicts.
func (s *Service) again(ctx context.Context, do func(ctx context.Context) error) error {
	return callwright.Retry(ctx, func(ctx context.Context) error { return s.cfg.Atomic.Do(ctx, do) })
}
