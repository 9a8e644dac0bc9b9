package llm

import (
	"context"
	"errors"
	"iter"
	"sync"
	"time"

	"github.com/callwright/callwright"
)

// FallbackConfig configures a Fallback. Zero fields mean the defaults.
type FallbackConfig struct {
	First  Model `required:"always"`
	Second Model `required:"always"`

	Patience time.Duration // longest wait for the first part of a reply of First; 0 means DefaultPatience
	Failures int           // failures of First's service in a row after which it is not asked for Pause; 0 means DefaultFailures
	Pause    time.Duration // 0 means DefaultPause

	callwright.Runtime
}

// These constants are the defaults of a FallbackConfig.
const (
	DefaultPatience = 4 * time.Second
	DefaultFailures = 3
	DefaultPause    = 30 * time.Second
)

// Fallback is a Model that asks a second Model if the first one fails, or does not begin its reply in time. A reply that has begun is never
// repeated. After several failures of the first Model's service in a row, Fallback does not ask it for a while. A question of TaskJudge is never asked a
// second Model, because a judge must not change unnoticed.
type Fallback struct {
	cfg     FallbackConfig
	breaker *breaker
}

// breaker counts the failures of a Model, and determines whether it is asked: it is a circuit breaker. Several Fallbacks with the same first
// Model share it.
type breaker struct {
	mu       sync.Mutex
	failures int       // in a row
	cause    Class     // of the last failure
	until    time.Time // time before which the Model is not asked
}

var (
	_ Model      = (*Fallback)(nil)
	_ Hinter     = (*Fallback)(nil)
	_ Repeatable = (*Fallback)(nil)
	_ Limited    = (*Fallback)(nil)
)

// NewFallback returns a Fallback. It returns an error if a required field is missing.
func NewFallback(c FallbackConfig) (*Fallback, error) {
	if err := callwright.PrepareConfig(&c); err != nil {
		return nil, err
	}
	return &Fallback{cfg: c.withDefaults(), breaker: new(breaker)}, nil
}

func (c FallbackConfig) withDefaults() FallbackConfig {
	if c.Patience <= 0 {
		c.Patience = DefaultPatience
	}
	if c.Failures <= 0 {
		c.Failures = DefaultFailures
	}
	if c.Pause <= 0 {
		c.Pause = DefaultPause
	}
	return c
}

// Name returns the name of the first Model.
func (f *Fallback) Name() string { return f.cfg.First.Name() }

// Repeats reports whether both Models repeat their answers.
func (f *Fallback) Repeats() bool { return Repeats(f.cfg.First) && Repeats(f.cfg.Second) }

// Hints returns the hints of the first Model, or nil if it is no Hinter.
func (f *Fallback) Hints(r ReplyRequest, options []Option) []string {
	if h, ok := f.cfg.First.(Hinter); ok {
		return h.Hints(r, options)
	}
	return nil
}

// Unfollowed returns the result of the first Model.
func (f *Fallback) Unfollowed(asked, instructions string) string {
	return Unfollowed(f.cfg.First, asked, instructions)
}

// Unanswered returns the result of the first Model.
func (f *Fallback) Unanswered(asked string, task Task) string {
	return Unanswered(f.cfg.First, asked, task)
}

// Unchosen returns the result of the first Model.
func (f *Fallback) Unchosen(asked string, o Option, fields []Field) string {
	return Unchosen(f.cfg.First, asked, o, fields)
}

// Reply streams the reply of the first Model. If that fails or exceeds the patience before the first part, Reply streams the reply of the
// second Model, whose parts contain its name and the class of the failure.
func (f *Fallback) Reply(ctx context.Context, r ReplyRequest) iter.Seq2[ReplyPart, error] {
	return func(yield func(ReplyPart, error) bool) {
		cause, rests := f.rests()
		if !rests {
			begun, err := f.first(ctx, r, yield)
			if err == nil {
				return
			}
			if begun || ctx.Err() != nil {
				yield(ReplyPart{}, err)
				return
			}
			cause = ClassOf(err)
		}
		for part, err := range f.cfg.Second.Reply(ctx, r) {
			if err == nil {
				part.Model, part.Cause = f.cfg.Second.Name(), cause
			}
			if !yield(part, err) {
				return
			}
		}
	}
}

// errPatience is the cause of the failure of a Model that did not begin its reply in time.
var errPatience = errors.New("no reply within the patience")

// late is the failure of a Model that did not begin its reply in time.
func late() error {
	return &Failure{Class: ClassTransient, Message: reasons[ClassTransient], Cause: errPatience}
}

// first streams the reply of the first Model, without its failure, which it returns. It reports whether the reply has begun.
func (f *Fallback) first(ctx context.Context, r ReplyRequest, yield func(ReplyPart, error) bool) (begun bool, err error) {
	limited, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	patience := time.AfterFunc(f.cfg.Patience, func() { cancel(errPatience) })
	defer patience.Stop()
	for part, err := range f.cfg.First.Reply(limited, r) {
		if err == nil && !begun && !patience.Stop() { // too late: the context has ended
			err = late()
		}
		if err != nil {
			f.count(ctx, err)
			return begun, err
		}
		begun = true
		if !yield(part, nil) {
			return true, nil
		}
	}
	f.count(ctx, nil)
	return true, nil
}

// Answer returns the answer of the first Model. If that fails, and the question is no TaskJudge, it returns the answer of the second Model,
// with its name and the class of the failure. A caller waits for the answers to TaskRoute and TaskExtract, so they must arrive within the
// patience.
func (f *Fallback) Answer(ctx context.Context, q Question) (Answer, error) {
	if q.Task == TaskJudge {
		return f.cfg.First.Answer(ctx, q)
	}
	cause, rests := f.rests()
	if !rests {
		a, err := f.firstAnswer(ctx, q)
		f.count(ctx, err)
		if err == nil || ctx.Err() != nil {
			return a, err
		}
		cause = ClassOf(err)
	}
	a, err := f.cfg.Second.Answer(ctx, q)
	if err == nil {
		a.Model, a.Cause = f.cfg.Second.Name(), cause
	}
	return a, err
}

// firstAnswer returns the answer of the first Model.
func (f *Fallback) firstAnswer(ctx context.Context, q Question) (Answer, error) {
	if q.Task != TaskRoute && q.Task != TaskExtract {
		return f.cfg.First.Answer(ctx, q)
	}
	limited, cancel := context.WithTimeoutCause(ctx, f.cfg.Patience, errPatience)
	defer cancel()
	a, err := f.cfg.First.Answer(limited, q)
	if err != nil && ctx.Err() == nil && limited.Err() != nil {
		err = late()
	}
	return a, err
}

// rests reports whether the first Model is not asked at present, and returns the class of its last failure.
func (f *Fallback) rests() (cause Class, rests bool) {
	b := f.breaker
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.cause, f.cfg.Clock.Now().Before(b.until)
}

// count counts the failures of the first Model in a row. Only those of its service count, so that requests that it cannot answer do not keep
// others from it. Failures after the end of ctx do not count.
func (f *Fallback) count(ctx context.Context, err error) {
	b := f.breaker
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case err == nil:
		b.failures = 0
		return
	case ctx.Err() != nil:
		return
	case IsOutage(err), ClassOf(err) == ClassQuota:
		b.failures++
		b.cause = ClassOf(err)
	}
	rests := b.failures >= f.cfg.Failures
	if rests {
		b.until = f.cfg.Clock.Now().Add(f.cfg.Pause)
	}
	f.cfg.Logger.WarnContext(ctx, "model failed, asking the second one", "model", f.cfg.First.Name(), "second", f.cfg.Second.Name(),
		"class", ClassOf(err), "rests", rests, "error", err)
}
