package agents

import (
	"context"

	"github.com/callwright/callwright/speech/tts"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/llm"
)

// Config configures a Service. Numbers, WebAgents and Atomic are required.
type Config struct {
	Numbers   NumberStore       `required:"always"`
	WebAgents WebAgents         `required:"always"`
	Atomic    callwright.Atomic `required:"always"`

	// These ports check the references of agents.
	Voices    tts.VoiceChecker             // nil accepts every voice
	Languages conversation.LanguageChecker // nil accepts every language
	Model     llm.Model                    // checks the model names of agents and reports unfollowed instructions; nil accepts every name
	Webhooks  callwright.URLs              // checks webhooks; if nil, an agent with a webhook causes CodeUnavailable
	Requests  callwright.URLs              // checks the URLs of tools and dynamic data; if nil, an agent with these causes CodeUnavailable
	Brains    callwright.URLs              // checks the URLs of brains; if nil, an agent with a brain causes CodeUnavailable
	Pathways  Pathways                     // if nil, an agent with a pathway causes CodeUnavailable
	Personas  Personas                     // if nil, an agent with a persona causes CodeUnavailable

	Numbering callwright.Numbering // default countries of organizations; nil means no defaults

	callwright.Runtime
}

// Service manages agents: web agents, and the agents of inbound numbers. It implements the rules of an agent, and selects the agent
// of a call.
type Service struct{ cfg Config }

// New returns a Service. It returns an error if the configuration lacks a required port.
func New(c Config) (*Service, error) {
	if err := callwright.PrepareConfig(&c); err != nil {
		return nil, err
	}
	return &Service{cfg: c}, nil
}

// again runs the function do in a transaction, and retries after conflicts.
func (s *Service) again(ctx context.Context, do func(ctx context.Context) error) error {
	return callwright.Retry(ctx, func(ctx context.Context) error { return s.cfg.Atomic.Do(ctx, do) })
}
