// Package analyst implements triage.Analyst with a language model, an llm.Model. It searches for the root causes of issues.
//
// An analysis first announces which attached resources it will read. It reads them one by one, with one question to the model for each, and
// reports its observations. Then it concludes, or first asks people one question. The model's instructions are the rules of this package
// and the prompt. Evidence is passed as data, never as instructions.
//
// The package verifies the model's citations of evidence. It omits and counts citations of lines or facts that the model was not shown, and
// quotes the others from the evidence itself. The cause and the suggestion in the artifact are Markdown whose links, images and tags are
// escaped.
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

// Defaults and limits of an analysis.
const (
	defaultName   = "Root cause analyst"
	defaultCalls  = 5
	mostCalls     = 20 // one step each; limits the size of the notes in a question
	defaultTokens = 100_000
)

// Config holds the dependencies and limits of an Analyst.
type Config struct {
	Model     llm.Model `required:"always"`
	Name      string    // agent name of the sessions; empty means "Root cause analyst"
	MaxCalls  int       // maximum number of resources to read, 1 to 20; 0 means 5
	MaxTokens int       // an analysis asks no more questions after this many tokens; 0 means 100,000

	callwright.Runtime
}

// Analyst is a triage.Analyst that asks a language model. It is safe for concurrent use if the model is.
type Analyst struct{ cfg Config }

var _ triage.Analyst = (*Analyst)(nil)

// New returns an Analyst with the configuration c and the defaults of its zero members. It returns an error if c is invalid.
func New(c Config) (*Analyst, error) {
	if err := callwright.PrepareConfig(&c); err != nil {
		return nil, err
	}
	if c.MaxCalls < 0 || c.MaxCalls > mostCalls || c.MaxTokens < 0 {
		return nil, fmt.Errorf("analyst: MaxCalls must be from 0 to %d, and MaxTokens must not be negative", mostCalls)
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

// Name returns the agent name of the sessions: Config.Name or its default.
func (a *Analyst) Name() string { return a.cfg.Name }

// state is the progress of an analysis, which triage stores between two steps.
type state struct {
	Plan     []string `json:"plan"`               // ids of the attachments to read
	Read     int      `json:"read"`               // number of attachments of Plan already read or skipped
	Notes    []note   `json:"notes,omitempty"`    // observations in the read attachments
	Question string   `json:"question,omitempty"` // the question that people were asked, or empty
	Tokens   int      `json:"tokens"`             // number of tokens used so far
}

// Step executes one step of an analysis: it announces the plan, reads the next resource, or concludes. After Config.MaxTokens, it ends the
// analysis instead. It returns CodeInternal if c.State is not the state of an Analyst.
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

// stopped returns the progress that ends an analysis with an error and its reason.
func stopped(why string) triage.Progress {
	return triage.Progress{Steps: []triage.Step{{Type: triage.TypeError, Detail: why}}, Next: triage.SessionError}
}

// failed converts a model's failure into a progress that ends the analysis, if the failure is permanent, or else into CodeUnavailable. It
// returns other errors unchanged. Only the log contains the response of the model's service.
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
		return stopped("The analysis failed: " + llm.Reason(err) + "."), nil
	case llm.ClassInvalid:
		return triage.Progress{}, unavailable("the model gave no usable answer", f)
	default:
		return triage.Progress{}, unavailable("the model failed", f)
	}
}

// unavailable returns CodeUnavailable with the RetryAfter of a model's failure, so that the step is retried.
func unavailable(message string, f *llm.Failure) error {
	e := callwright.Error{Code: callwright.CodeUnavailable, Message: message, RetryAfter: f.RetryAfter}
	return e.Because(f)
}

// ask asks the model a question, with the evidence as data, and stores the decoded answer in the variable to which the pointer into refers.
// It adds the used tokens to s, even if it returns an error.
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
	const tries = 3 // of llm.Ask; attempts of a step use different numbers, so that no answer is reused
	usage, err := llm.Ask(ctx, a.cfg.Model, llm.Question{
		Org: c.Org, Task: llm.TaskAnalyze, Instructions: rules, Evidence: raw, Schema: json.RawMessage(schema),
		Attempt: tries * (c.Attempt - 1),
	}, into)
	s.Tokens += usage.Input + usage.Output
	return err
}
