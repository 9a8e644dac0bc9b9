package call

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/llm"
)

// analyzeAttempts is the number of attempts after which the record remains without an analysis. analyzePatience bounds each attempt, and is
// shorter than the time limit of a task. Within analyzeLife after the end of the call, an error with a RetryAfter does not count as an
// attempt.
const (
	analyzeAttempts = 3
	analyzePatience = 20 * time.Second
	analyzeLife     = 10 * time.Minute
)

// wantsAnalysis reports whether the call was answered and its plan requires a disposition or a summary.
func (c Call) wantsAnalysis() bool {
	return c.StartedAt != nil && (len(c.Plan.Dispositions) > 0 || c.Plan.SummaryPrompt != "")
}

// report queues the work that follows the end of a call, in the transaction of ctx: the analysis if the call still requires it, or else the
// notification of the webhook, if any.
func (s *Service) report(ctx context.Context, c Call) error {
	if c.wantsAnalysis() && c.Analysis == (Analysis{}) {
		return s.cfg.Work.Enqueue(ctx, callwright.Task{Kind: taskAnalyze, Key: c.ID, Org: c.Org, Unique: true})
	}
	if c.Agent.Webhook == "" {
		return nil
	}
	return s.cfg.Work.Enqueue(ctx, callwright.Task{Kind: taskWebhook, Key: c.ID, Org: c.Org, Unique: true})
}

// analyze runs the task call.analyze: a model analyzes an ended call. The webhook is notified afterwards, even if the analysis has failed.
func (s *Service) analyze(ctx context.Context, task callwright.Task, attempt int) error {
	c, lines, err := s.Get(ctx, task.Org, task.Key)
	if errors.Is(err, callwright.ErrNotFound) || err == nil && (!c.Queue.Ended() || c.Analysis != Analysis{}) {
		return nil // the call was deleted, or is analyzed already
	}
	if err != nil {
		return err
	}
	model := llm.NewCounter(s.cfg.Model)
	c.Analysis, err = s.analysis(ctx, model, c, lines)
	if err != nil {
		if f, ok := errors.AsType[*llm.Failure](err); ok && f.RetryAfter > 0 && s.cfg.Clock.Now().Sub(*c.EndedAt) < analyzeLife {
			return &callwright.Error{Code: callwright.CodeUnavailable, Message: f.Error(), RetryAfter: min(f.RetryAfter, analyzeLife)}
		}
		if ctx.Err() != nil || !retryIsUseless(err) && attempt < analyzeAttempts {
			return err
		}
		s.cfg.Logger.WarnContext(ctx, "cannot analyze a call", "call_id", c.ID, "error", err)
		c.Analysis = Analysis{Error: analysisFailure(err)}
	}
	c.Models = addModels(c.Models, s.used(model.Uses()))
	return s.cfg.Atomic.Do(ctx, func(ctx context.Context) error {
		if err := s.cfg.Store.Update(ctx, c); err != nil {
			return err
		}
		return s.report(ctx, c)
	})
}

// retryIsUseless reports whether the model would fail at the same request again.
func retryIsUseless(err error) bool {
	switch llm.ClassOf(err) {
	case llm.ClassUnsupported, llm.ClassPermanent, llm.ClassTooLong:
		return true
	default:
		return false
	}
}

// analysisFailure returns a human-readable reason for a missing analysis.
func analysisFailure(err error) string {
	switch llm.ClassOf(err) {
	case llm.ClassUnsupported:
		return "the model of this server can't analyze calls"
	case llm.ClassTooLong:
		return "the call is too long for the model"
	case llm.ClassInvalid:
		return "the model gave no usable answer"
	default:
		return "the analysis failed: " + llm.Reason(err)
	}
}

// maxSummary bounds a stored summary in characters. A longer summary is truncated.
const maxSummary = 20_000

// analysis asks the model for the summary and the disposition of a call. It returns a *llm.Failure if the model fails or a required summary
// is empty. For an empty transcript, it returns an Analysis with an Error.
func (s *Service) analysis(ctx context.Context, model llm.Model, c Call, lines []Entry) (Analysis, error) {
	if len(lines) == 0 {
		return Analysis{Error: "nothing was said"}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, analyzePatience)
	defer cancel()
	var answer struct{ Summary, Disposition string }
	if _, err := llm.Ask(ctx, model, c.question(lines), &answer); err != nil {
		return Analysis{}, err
	}
	summary := strings.TrimSpace(writable(answer.Summary))
	if summary == "" && c.Plan.SummaryPrompt != "" {
		return Analysis{}, &llm.Failure{Class: llm.ClassInvalid, Message: "the summary is empty"}
	}
	if callwright.Longer(summary, maxSummary) {
		summary = string([]rune(summary)[:maxSummary])
	}
	return Analysis{Summary: summary, Disposition: answer.Disposition}, nil
}

// question returns the question to the model. Its schema admits only the plan's dispositions. The transcript is passed as data, because
// only the call's owner may give instructions.
func (c Call) question(lines []Entry) llm.Question {
	var rules strings.Builder
	rules.WriteString("A telephone call has ended. The messages are what was said on it.\n")
	properties, required := map[string]any{}, []string{}
	if c.Plan.SummaryPrompt != "" {
		rules.WriteString("Write a summary of it, as follows: " + c.Plan.SummaryPrompt + "\n")
		properties["summary"] = map[string]any{"type": "string"}
		required = append(required, "summary")
	}
	if len(c.Plan.Dispositions) > 0 {
		rules.WriteString("Choose the one disposition that fits best how it came out.\n")
		properties["disposition"] = map[string]any{"type": "string", "enum": c.Plan.Dispositions}
		required = append(required, "disposition")
	}
	schema, _ := json.Marshal(map[string]any{ //nolint:errchkjson // texts and lists of them always have a form
		"type": "object", "properties": properties, "required": required, "additionalProperties": false,
	})
	evidence, _ := json.Marshal(map[string]any{ //nolint:errchkjson // so have texts and numbers
		"answered_by": c.AnsweredBy, "status": c.Status, "ended_by": c.endedBy(), "seconds": int(c.Length().Seconds()),
		"transferred_to": c.TransferredTo, "transferred_by": c.TransferredBy,
	})
	return llm.Question{
		Org: c.Org, Task: llm.TaskAnalyze, Instructions: rules.String(), Messages: messages(lines), Evidence: evidence,
		Schema: schema, Language: c.Agent.Language, Model: c.Agent.Model, Fallback: c.Agent.Fallback,
	}
}

// endedBy describes the side that ended a call, for the model. It is empty if the call has no hang-up reason.
func (c Call) endedBy() string {
	switch {
	case c.Ending == nil:
		return ""
	case c.Ending.ByPeer:
		return "the other side"
	default:
		return fmt.Sprintf("the agent (%s)", c.Ending.Cause)
	}
}

// messages converts a transcript to the messages of a model.
func messages(lines []Entry) []llm.Message {
	out := make([]llm.Message, len(lines))
	for i, l := range lines {
		out[i] = llm.Message{Role: llm.RoleAgent, Text: l.Words()}
		switch l.Speaker {
		case SpeakerUser:
			out[i].Role = llm.RoleCaller
		case SpeakerAction:
			out[i].Text = "(" + l.Text + ")"
		case SpeakerAssistant:
		}
	}
	return out
}
