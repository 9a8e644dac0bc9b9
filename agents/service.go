package agents

import (
	"context"

	"github.com/callwright/callwright/speech/tts"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/llm"
)

// Config is what a Service needs.
type Config struct {
	Numbers   NumberStore       `required:"always"`
	WebAgents WebAgents         `required:"always"`
	Atomic    callwright.Atomic `required:"always"`

	// What agents are checked against.
	Voices    tts.VoiceChecker             // nil: every voice is taken
	Languages conversation.LanguageChecker // nil: every language is taken
	Model     llm.Model                    // whose names agents may ask for, and which says what it does not follow; nil: every name is taken
	Webhooks  callwright.URLs              // nil: an agent with a webhook is CodeUnavailable
	Requests  callwright.URLs              // of tools and dynamic data; nil: an agent with such is CodeUnavailable
	Pathways  Pathways                     // nil: an agent with a pathway is CodeUnavailable
	Personas  Personas                     // nil: an agent with a persona is CodeUnavailable

	Numbering callwright.Numbering // the default countries of organizations; nil: none has one

	callwright.Runtime
}

// Service keeps agents: web agents, and those that answer at inbound numbers. It knows the rules of an agent, and says
// which one a call has.
type Service struct{ cfg Config }

// New checks the configuration.
func New(c Config) (*Service, error) {
	if err := callwright.PrepareConfig(&c); err != nil {
		return nil, err
	}
	return &Service{cfg: c}, nil
}

// again does something in a transaction, and once more while others are quicker.
func (s *Service) again(ctx context.Context, do func(ctx context.Context) error) error {
	return callwright.Retry(ctx, func(ctx context.Context) error { return s.cfg.Atomic.Do(ctx, do) })
}
