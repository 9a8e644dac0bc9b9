package judge

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agenttest/assert"
)

// These constants are the defaults and limits of a Config.
const (
	DefaultSamples  = 3
	DefaultMaxBytes = 200_000 // about 50,000 tokens of English text

	MaxSamples = 5
)

// Config configures a Judge. Zero fields mean the defaults.
type Config struct {
	Model     string // model name for criteria that set none; empty means the adapter's default
	Samples   int    // votes for criteria that set no number; 0 means DefaultSamples; rounded up to an odd number, at most MaxSamples
	Symmetric bool   // request all votes concurrently, for every criterion
	MaxBytes  int    // maximum size of a conversation with its evidence; 0 means DefaultMaxBytes
	Trial     int    // distinguishes repeated opinions on a conversation, see llm.Question.Trial; test runs set it themselves
}

// Judge implements assert.Judge with a language model. It is safe for concurrent use.
type Judge struct {
	model llm.Model
	cfg   Config
}

var _ assert.Judge = (*Judge)(nil)

// New returns a judge that uses the model m.
func New(m llm.Model, c Config) *Judge {
	if c.MaxBytes <= 0 {
		c.MaxBytes = DefaultMaxBytes
	}
	c.Samples = odd(c.Samples, DefaultSamples)
	return &Judge{model: m, cfg: c}
}

// odd returns a valid number of votes: if n is positive, n rounded up to an odd number, at most MaxSamples; else the argument otherwise.
func odd(n, otherwise int) int {
	if n <= 0 {
		return otherwise
	}
	return min(n|1, MaxSamples)
}

// Judge judges a conversation by a criterion: see assert.Judge. If e is nil or contains no words, or if the conversation and its evidence
// exceed MaxBytes, the opinion is CannotJudge, and the model is not called. An unknown c.Output causes an llm.Failure of ClassPermanent.
func (j *Judge) Judge(ctx context.Context, e *assert.Evidence, c assert.Criterion) (assert.Opinion, error) {
	if silent(e) {
		return undecided("Nothing was said that could be judged."), nil
	}
	switch c.Output {
	case assert.OutputBoolean, assert.OutputScore, assert.OutputCategorical, assert.OutputTone:
	default:
		return assert.Opinion{}, &llm.Failure{Class: llm.ClassPermanent, Message: fmt.Sprintf("a judge cannot answer with the output %q", c.Output)}
	}
	b := j.ballot(e, c)
	if b.size > j.cfg.MaxBytes {
		return undecided(fmt.Sprintf("The conversation and its evidence have %d bytes, and the judge reads at most %d.", b.size, j.cfg.MaxBytes)), nil
	}
	votes, usage, err := b.vote(ctx, odd(c.Samples, j.cfg.Samples), c.Symmetric || j.cfg.Symmetric)
	if err != nil {
		return assert.Opinion{Usage: usage}, err
	}
	o := decide(votes)
	o.Usage = usage
	return o, nil
}

func undecided(reason string) assert.Opinion {
	return assert.Opinion{Verdict: assert.CannotJudge, Reasoning: reason}
}

// silent reports whether e is nil or contains no visible words.
func silent(e *assert.Evidence) bool {
	if e == nil {
		return true
	}
	for i := range e.Turns {
		if strings.TrimSpace(llm.Clean(e.Turns[i].Text)) != "" {
			return false
		}
	}
	return true
}

// ballot is a question about one conversation by one criterion, on which the model votes.
type ballot struct {
	model     llm.Model
	criterion assert.Criterion
	question  llm.Question
	size      int // size of the data in bytes
}

// vote requests n votes and returns them in order. Unless symmetric is set, it requests the first vote alone, and the others only if the
// first vote is neither a pass nor an error. If several votes cause errors, it returns the first one's error.
func (b *ballot) vote(ctx context.Context, n int, symmetric bool) ([]vote, llm.Usage, error) {
	votes, usages, errs := make([]vote, n), make([]llm.Usage, n), make([]error, n)
	cast := 0
	if !symmetric || n == 1 {
		cast = 1
		if votes[0], usages[0], errs[0] = b.cast(ctx, 0); errs[0] != nil || votes[0].Verdict == assert.JudgePass {
			return votes[:1], usages[0], errs[0]
		}
	}
	var all sync.WaitGroup
	panics := make(chan any, n)
	for i := cast; i < n; i++ {
		all.Go(func() {
			defer func() {
				if p := recover(); p != nil {
					panics <- p
				}
			}()
			votes[i], usages[i], errs[i] = b.cast(ctx, i)
		})
	}
	all.Wait()
	select {
	case p := <-panics:
		panic(p) // the caller can recover from it, as with a single vote
	default:
	}
	var usage llm.Usage
	for _, u := range usages {
		usage = usage.Add(u)
	}
	for _, err := range errs {
		if err != nil {
			return nil, usage, err
		}
	}
	return votes, usage, nil
}

// cast requests one vote. An answer with a wrong quote is requested again once. If the model then returns no valid answer, the answer with
// the wrong quote counts, unless ctx has ended.
func (b *ballot) cast(ctx context.Context, sample int) (vote, llm.Usage, error) {
	q := b.question
	q.Attempt = sample * llm.Attempts
	w := &witness{Model: b.model}
	var sound *answer // an answer that is complete except for unverified quotes
	a, usage, err := llm.AskChecked(ctx, w, q, func(a answer) error {
		if err := a.check(b.criterion.Output); err != nil {
			return err
		}
		problem := b.misquoted(&a)
		if problem != nil && sound == nil {
			sound = &a
			return problem
		}
		return nil
	})
	if err != nil && sound != nil && ctx.Err() == nil {
		a, err = *sound, nil
	}
	if err != nil {
		return vote{}, usage, err
	}
	v := b.read(&a)
	v.Model = w.answered
	return v, usage, nil
}

// witness is a model that records the name of the model that answered.
type witness struct {
	llm.Model

	answered string
}

// Answer returns the answer to a question, and records the name of the model.
func (w *witness) Answer(ctx context.Context, q llm.Question) (llm.Answer, error) {
	a, err := w.Model.Answer(ctx, q)
	if err == nil {
		w.answered = a.Model
	}
	return a, err
}
