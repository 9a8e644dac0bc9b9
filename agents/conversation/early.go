package conversation

import (
	"context"
	"errors"
	"sync"
)

// ErrWithdrawn means that the caller has continued to speak, so that an early turn is not answered.
var ErrWithdrawn = errors.New("conversation: the turn is withdrawn, because the caller continues")

// EarlyBrain is an optional interface of a Brain that can answer a turn before the turn is certain: see Turn.Early.
type EarlyBrain interface {
	Brain
	// AnswersEarly reports whether the next turn may be early. It must not be called during a turn.
	AnswersEarly() bool
}

// Early is the fate of a turn that is not certain yet. The zero value is undecided. It is safe for concurrent use.
type Early struct {
	once    sync.Once
	mu      sync.Mutex
	decided chan struct{}
	err     error
}

// Decide makes the turn certain, or withdraws it. Only the first decision counts.
func (e *Early) Decide(certain bool) {
	e.once.Do(func() {
		if !certain {
			e.err = ErrWithdrawn
		}
		close(e.channel())
	})
}

// isCertain reports whether the turn is certain now.
func (e *Early) isCertain() bool {
	select {
	case <-e.channel():
		return e.err == nil
	default:
		return false
	}
}

// wait waits for the decision.
func (e *Early) wait(ctx context.Context) error {
	select {
	case <-e.channel():
		return e.err
	default:
	}
	select {
	case <-e.channel():
		return e.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// channel returns the channel that is closed by the decision.
func (e *Early) channel() chan struct{} {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.decided == nil {
		e.decided = make(chan struct{})
	}
	return e.decided
}

// Commit waits until the turn is certain, and then returns nil. It returns ErrWithdrawn if the caller has continued, and the error of ctx if
// ctx ends first. A turn that is not early is certain.
func (t Turn) Commit(ctx context.Context) error {
	if t.Early == nil {
		return nil
	}
	return t.Early.wait(ctx)
}

// Withdraw withdraws the turn unless it is certain, and reports whether the turn is withdrawn. It does not wait. A brain calls it when its
// answer ends or is stopped, and restores its former state if the turn is withdrawn. A turn that is not early is certain.
func (t Turn) Withdraw() bool {
	if t.Early == nil {
		return false
	}
	t.Early.Decide(false)
	return t.Early.err != nil
}
