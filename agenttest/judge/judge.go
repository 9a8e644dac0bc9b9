package judge

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agenttest/assert"
)

// Defaults of a Config, and limits.
const (
	DefaultSamples  = 3
	DefaultMaxBytes = 200_000 // some 50,000 tokens of English

	MaxSamples = 5
)

// Config configures a Judge. The zero value means the defaults.
type Config struct {
	Model     string // the name of a model, for criteria without one; empty: the adapter's
	Samples   int    // votes, for criteria without a number: 1, 3 or 5; 0: DefaultSamples; an even number counts as the next odd one
	Symmetric bool   // take all votes concurrently, for every criterion
	MaxBytes  int    // of a conversation with its evidence; 0: DefaultMaxBytes
	Trial     int    // distinguishes repeated opinions on one conversation: see llm.Question.Trial. Test runs set their own values.
}

// Judge asks a language model. It is safe for concurrent use.
type Judge struct {
	model llm.Model
	cfg   Config
}

var _ assert.Judge = (*Judge)(nil)

// New returns a judge that asks m.
func New(m llm.Model, c Config) *Judge {
	if c.MaxBytes <= 0 {
		c.MaxBytes = DefaultMaxBytes
	}
	c.Samples = odd(c.Samples, DefaultSamples)
	return &Judge{model: m, cfg: c}
}

// odd returns an odd number of votes.
func odd(n, otherwise int) int {
	if n <= 0 {
		return otherwise
	}
	return min(n|1, MaxSamples)
}

// Judge judges a conversation by a criterion.
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

// silent reports whether no words were said.
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

// ballot is the question about one conversation and one criterion.
type ballot struct {
	model     llm.Model
	criterion assert.Criterion
	question  llm.Question
	size      int // bytes of the data
}

// vote takes the votes, in order. Without symmetric it takes one, and the others only if the first one does not pass. The error is
// the error of the first vote without an answer.
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
		panic(p) // for the caller to recover from, as with a single vote
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

// cast takes one vote.
func (b *ballot) cast(ctx context.Context, sample int) (vote, llm.Usage, error) {
	q := b.question
	q.Attempt = sample * llm.Attempts
	w := &witness{Model: b.model}
	var sound *answer // complete except for unverified quotes
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

// witness is a model that records the name of the answering model.
type witness struct {
	llm.Model

	answered string
}

// Answer answers a question.
func (w *witness) Answer(ctx context.Context, q llm.Question) (llm.Answer, error) {
	a, err := w.Model.Answer(ctx, q)
	if err == nil {
		w.answered = a.Model
	}
	return a, err
}
