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

// The limits of an analysis.
const (
	maxAnalysisSteps = 40
	analysesAtOnce   = 10                     // of an organization that run: each may hold a worker that others' work waits for
	analysisLater    = 10 * time.Second       // for the next one, when so many run
	maxAnalysisState = 512 << 10              // bytes of what a step leaves for the next
	maxAnswers       = 20                     // of people, that an Analyst is given
	analysisAttempts = 3                      // of a step; waiting for a model that is busy is none
	analysisPatience = 20 * time.Second       // of an attempt: less than a step of work may take
	analysisWatched  = 500 * time.Millisecond // how often it is seen whether a running step is still wanted
)

// usualPrompt is what an Analyst is asked when it is not said.
const usualPrompt = "Why did this happen, and what keeps it from happening again?"

// Analyze has the Analyst look into an issue, in a session of its own whose steps follow in the feed. prompt is what it is
// asked, at most MaxPrompt bytes; empty: the usual. CodeNotImplemented where there is no Analyst, CodeTooManyRequests when 10
// analyses of the organization run, not counting those that wait for people. Where several begin at once, some more may.
func (s *Service) Analyze(ctx context.Context, org callwright.OrgID, by Actor, id, prompt string) (Session, error) {
	if s.cfg.Analyst == nil {
		return Session{}, callwright.Errorf(callwright.CodeNotImplemented, "nobody analyzes issues here")
	}
	prompt = strings.TrimSpace(prompt)
	if err := checkBytes("prompt", prompt, MaxPrompt); err != nil {
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

// answerAnalysis gives an analysis what a person has said in its session, and has it go on, in the transaction of ctx. It is
// called before the session advances; CodeInvalidState when it was given too much, CodeTooManyRequests when too many run.
func (s *Service) answerAnalysis(ctx context.Context, sess *Session, text string) error {
	a := *sess.Analysis
	if len(a.Answers) >= maxAnswers {
		return callwright.Errorf(callwright.CodeInvalidState, "an analysis takes no more than %d answers", maxAnswers)
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

// roomToAnalyze is nil when an organization may have another analysis run.
func (s *Service) roomToAnalyze(ctx context.Context, org callwright.OrgID) error {
	count, err := s.cfg.Store.CountAnalyses(ctx, org)
	if err != nil || count < analysesAtOnce {
		return err
	}
	full := callwright.Errorf(callwright.CodeTooManyRequests, "%d issues are being analyzed already", count)
	full.RetryAfter = analysisLater
	return full
}

// queueAnalysis queues the next step of an analysis. Each has a task of its own, since that of the step before still runs
// when this one is queued.
func (s *Service) queueAnalysis(ctx context.Context, sess Session) error {
	step := sess.Analysis.Step
	return taskAnalyze.Enqueue(ctx, s.cfg.Work, callwright.Task{
		Key: fmt.Sprintf("%s/%d", sess.ID, step), Org: sess.Org, Unique: true,
	}, analyzeArgs{Issue: sess.IssueID, Session: sess.ID, Step: step})
}

// analyzeArgs are the arguments of the task that takes a step of an analysis.
type analyzeArgs struct {
	Issue   string `json:"issue"`
	Session string `json:"session"`
	Step    int    `json:"step"`
}
