package triage

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/callwright/callwright"
)

// Limits of analyses.
const (
	maxAnalysisSteps = 40
	analysesAtOnce   = 10                     // running analyses per organization; each may occupy a worker that other work needs
	analysisLater    = 10 * time.Second       // RetryAfter when analysesAtOnce is reached
	maxAnalysisState = 512 << 10              // size of the Analyst's state between steps, in bytes
	maxAnswers       = 20                     // answers of people in an analysis
	analysisAttempts = 3                      // per step; a wait for a busy model does not count
	analysisPatience = 20 * time.Second       // timeout of an attempt, shorter than the timeout of a task
	analysisWatched  = 500 * time.Millisecond // interval of checks whether the session of a running step has changed
)

// usualPrompt is the prompt of an analysis that is started without one.
const usualPrompt = "Why did this happen, and what keeps it from happening again?"

// Analyzes reports whether an Analyst is configured.
func (s *Service) Analyzes() bool { return s.cfg.Analyst != nil }

// Analyze starts a session in which the Analyst looks for the cause of an issue. The analysis adds its steps to the feed. An empty prompt
// means the default one; a prompt has at most MaxPrompt characters. Without an Analyst, Analyze returns CodeNotImplemented. If 10 analyses
// of the organization are running, it returns CodeTooManyRequests. Analyses that wait for people do not count, and concurrent starts may
// exceed the limit slightly. It returns CodeInvalidState if the issue was merged or has MaxOpenSessions open sessions.
func (s *Service) Analyze(ctx context.Context, org callwright.OrgID, by Actor, id, prompt string) (Session, error) {
	if !s.Analyzes() {
		return Session{}, callwright.Errorf(callwright.CodeNotImplemented, "this server cannot analyze issues: no analyst is configured")
	}
	prompt = strings.TrimSpace(prompt)
	if err := checkText("prompt", prompt, MaxPrompt); err != nil {
		return Session{}, err
	}
	var sess Session
	_, _, err := s.edit(ctx, org, by, id, func(ctx context.Context, c *change) (err error) {
		if err := s.roomToAnalyze(ctx, org); err != nil {
			return err
		}
		sess, err = s.openSession(ctx, c, Session{
			AgentName: s.cfg.Analyst.Name(), Analysis: &Analysis{Prompt: prompt, Since: s.cfg.Clock.Now()},
		}, "")
		if err != nil {
			return err
		}
		if err := s.advance(ctx, c, &sess, by, Step{Type: TypePrompt, Detail: cmp.Or(prompt, usualPrompt)}); err != nil {
			return err
		}
		return s.queueAnalysis(ctx, sess)
	})
	if err != nil {
		return Session{}, err
	}
	return sess, nil
}

// answerAnalysis adds a person's answer to an analysis and queues its next step, in the transaction of ctx. The caller advances the session
// afterwards. answerAnalysis returns CodeInvalidState if the analysis has maxAnswers answers. It returns CodeTooManyRequests if the
// analysis awaits input and too many others are running.
func (s *Service) answerAnalysis(ctx context.Context, sess *Session, text string) error {
	a := *sess.Analysis
	if len(a.Answers) >= maxAnswers {
		return callwright.Errorf(callwright.CodeInvalidState, "an analysis accepts at most %d answers: start another analysis", maxAnswers)
	}
	a.Answers = append(slices.Clip(a.Answers), text)
	if sess.Status == SessionAwaitingInput {
		if err := s.roomToAnalyze(ctx, sess.Org); err != nil {
			return err
		}
		a.Since = a.Since.Add(s.cfg.Clock.Now().Sub(sess.UpdatedAt))
	}
	sess.Analysis = &a
	return s.queueAnalysis(ctx, *sess)
}

// roomToAnalyze returns CodeTooManyRequests if analysesAtOnce analyses of the organization are running.
func (s *Service) roomToAnalyze(ctx context.Context, org callwright.OrgID) error {
	count, err := s.cfg.Store.CountAnalyses(ctx, org)
	if err != nil || count < analysesAtOnce {
		return err
	}
	full := callwright.Errorf(callwright.CodeTooManyRequests, "at most 10 analyses of an organization may run concurrently, and %d are running", count)
	full.RetryAfter = analysisLater
	return full
}

// queueAnalysis queues the next step of an analysis. Each step has a separate task, because the task of the previous step is still running
// when the next step is queued.
func (s *Service) queueAnalysis(ctx context.Context, sess Session) error {
	step := sess.Analysis.Step
	return taskAnalyze.Enqueue(ctx, s.cfg.Work, callwright.Task{
		Key: fmt.Sprintf("%s/%d", sess.ID, step), Org: sess.Org, Unique: true,
	}, analyzeArgs{Issue: sess.IssueID, Session: sess.ID, Step: step})
}

// analyzeArgs holds the arguments of the task that runs a step of an analysis.
type analyzeArgs struct {
	Issue   string `json:"issue"`
	Session string `json:"session"`
	Step    int    `json:"step"`
}

// UnmarshalKey parses the key of a task that was stored by an older release, whose tasks had no arguments.
func (a *analyzeArgs) UnmarshalKey(key string) error {
	_, err := fmt.Sscanf(strings.ReplaceAll(key, "/", " "), "%s %s %d", &a.Issue, &a.Session, &a.Step)
	return err
}
