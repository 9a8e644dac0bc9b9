// Package analyst finds root causes of issues with a language model: a triage.Analyst over llm.Model.
//
// An analysis first announces which attached resources it reads. It reads them one by one, with one question to the model each, and
// reports its observations; then it concludes, or asks people once. The model's instructions are the rules of this package and the
// prompt. Evidence is passed as data, never as instructions.
//
// Evidence that the model cites is checked, not believed: citations of lines or facts that it was not shown are
// dropped and counted, and the others are quoted from the evidence itself. The cause and the suggestion of the
// artifact are Markdown in which every link, image and tag is text.
package analyst

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/triage"
)

// The limits of an analysis.
const (
	defaultName   = "Root cause analyst"
	defaultCalls  = 5
	mostCalls     = 20 // one step each; bounds the size of the notes in a question
	defaultTokens = 100_000
)

// Config configures an Analyst.
type Config struct {
	Model     llm.Model `required:"always"`
	Name      string    // of its sessions; empty: "Root cause analyst"
	MaxCalls  int       // resources that it reads, 1 to 20; 0: 5
	MaxTokens int       // tokens after which it asks no more questions; 0: 100,000

	callwright.Runtime
}

// Analyst is a triage.Analyst over a language model.
type Analyst struct{ cfg Config }

var _ triage.Analyst = (*Analyst)(nil)

// New checks the configuration.
func New(c Config) (*Analyst, error) {
	if err := callwright.PrepareConfig(&c); err != nil {
		return nil, err
	}
	if c.MaxCalls < 0 || c.MaxCalls > mostCalls || c.MaxTokens < 0 {
		return nil, fmt.Errorf("analyst: MaxCalls is 0 to %d, and MaxTokens not negative", mostCalls)
	}
	if c.Name == "" {
		c.Name = defaultName
	}
	if c.MaxCalls == 0 {
		c.MaxCalls = defaultCalls
	}
	if c.MaxTokens == 0 {
		c.MaxTokens = defaultTokens
	}
	return &Analyst{cfg: c}, nil
}

// Name returns the agent name of its sessions.
func (a *Analyst) Name() string { return a.cfg.Name }

// state is the state between two steps.
type state struct {
	Plan     []string `json:"plan"`               // ids of the attachments to read
	Read     int      `json:"read"`               // number of them already read
	Notes    []note   `json:"notes,omitempty"`    // observations in them
	Question string   `json:"question,omitempty"` // question to people
	Tokens   int      `json:"tokens"`             // used
}

// Step announces the plan, reads the next resource, or concludes.
func (a *Analyst) Step(ctx context.Context, c triage.Case) (triage.Progress, error) {
	var s state
	if c.State != nil {
		if err := json.Unmarshal(c.State, &s); err != nil {
			return triage.Progress{}, callwright.ErrInternal.Because(fmt.Errorf("analyst: the state of %s: %w", c.Issue.Name(), err))
		}
	}
	var p triage.Progress
	var err error
	switch {
	case c.State == nil:
		p, err = a.plan(ctx, c, &s)
	case s.Tokens >= a.cfg.MaxTokens:
		return stopped(fmt.Sprintf("The analysis has used %d tokens, of %d that it may use.", s.Tokens, a.cfg.MaxTokens)), nil
	case s.Read < len(s.Plan):
		p, err = a.read(ctx, c, &s)
	default:
		p, err = a.finish(ctx, c, &s)
	}
	if err != nil {
		return a.failed(ctx, err)
	}
	p.State, err = json.Marshal(s)
	return p, err
}

// stopped ends an analysis that cannot continue, with the reason.
func stopped(why string) triage.Progress {
	return triage.Progress{Steps: []triage.Step{{Type: triage.TypeError, Detail: why}}, Next: triage.SessionError}
}

// failed maps a failed question to a progress or an error. The answer of the model's service is for the log only.
func (a *Analyst) failed(ctx context.Context, err error) (triage.Progress, error) {
	f, ok := errors.AsType[*llm.Failure](err)
	if !ok {
		return triage.Progress{}, err
	}
	a.cfg.Logger.WarnContext(ctx, "the model of the analyst failed", "model", a.cfg.Model.Name(), "error", err)
	switch f.Class {
	case llm.ClassUnsupported:
		return stopped("The model of this server can't analyze issues."), nil
	case llm.ClassTooLong:
		return stopped("The evidence is too long for the model of this server."), nil
	case llm.ClassPermanent, llm.ClassQuota:
		return stopped("There is no analysis: " + llm.Reason(err) + "."), nil
	case llm.ClassInvalid:
		return triage.Progress{}, unavailable("the model gave no answer that could be used", f)
	default:
		return triage.Progress{}, unavailable("the model failed", f)
	}
}

// unavailable returns a failure that may be gone at the next attempt.
func unavailable(message string, f *llm.Failure) error {
	e := callwright.Error{Code: callwright.CodeUnavailable, Message: message, RetryAfter: f.RetryAfter}
	return e.Because(f)
}

// ask puts a question about an issue, with the evidence as data, and counts the used tokens.
func (a *Analyst) ask(
	ctx context.Context, c triage.Case, s *state, rules string, evidence map[string]any, schema string, into any,
) error {
	if c.Prompt != "" {
		rules += "\n\nWhoever asked for the analysis wants this: " + c.Prompt
	}
	raw, err := json.Marshal(evidence)
	if err != nil {
		return err
	}
	const tries = 3 // tries of a question: attempts of a step use different numbers
	usage, err := llm.Ask(ctx, a.cfg.Model, llm.Question{
		Org: c.Org, Task: llm.TaskAnalyze, Instructions: rules, Evidence: raw, Schema: json.RawMessage(schema),
		Attempt: tries * (c.Attempt - 1),
	}, into)
	s.Tokens += usage.Input + usage.Output
	return err
}
