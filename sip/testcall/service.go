package testcall

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/node"
	"github.com/callwright/callwright/sip"
)

// Trunks returns the trunks of numbers; sip.Service implements it.
type Trunks interface {
	// Get returns the record of a number, or the empty record if the number is not attached. If number is not a phone number, Get returns
	// CodeBadRequest with the field "phone_number".
	Get(ctx context.Context, org callwright.OrgID, number string) (sip.Record, error)
}

// Config configures a Service.
type Config struct {
	Store  Store           `required:"always"`
	Trunks Trunks          `required:"always"`
	Line   Line            `required:"always"`
	Work   callwright.Work `required:"always"`

	Prompt Prompt // default: Chime

	callwright.Runtime
}

// Service places test calls. Each call runs on the node on which Start was called.
type Service struct {
	cfg     Config
	mu      sync.Mutex
	closed  bool
	running map[string]context.CancelCauseFunc // by call id
	idle    chan struct{}                      // closed when the service is closed and no call runs
}

// An organization can start MaxCalls test calls within Window.
const (
	MaxCalls = 10
	Window   = 15 * time.Minute
)

// The time limits of a test call.
const (
	ring      = 30 * time.Second
	longest   = time.Minute               // from the start to our BYE
	deadAfter = longest + 2*node.LeaseTTL // a call that is older and not finished has lost its node
	kept      = 24 * time.Hour            // from a call's start until a sweep deletes it
)

// The periodic work that finishes lost calls and deletes old ones.
const (
	taskSweep  = "testcall.sweep"
	sweepEvery = 30 * time.Second
	sweepBatch = 100
)

// New returns a Service. It registers the periodic work that finishes the calls of dead nodes and deletes old calls. It returns an error if
// a required field of c is missing.
func New(c Config) (*Service, error) {
	if err := callwright.PrepareConfig(&c); err != nil {
		return nil, err
	}
	if c.Prompt == nil {
		c.Prompt = Chime{}
	}
	s := &Service{cfg: c, running: map[string]context.CancelCauseFunc{}, idle: make(chan struct{})}
	c.Work.Every(callwright.QueueCalls, taskSweep, sweepEvery, s.sweep)
	return s, nil
}

// Start starts a test call to the outbound endpoint of a number, and returns before the call is placed. It returns CodeBadRequest for a
// number without an outbound trunk, CodeTooManyRequests after MaxCalls within Window, and CodeUnavailable if the service is closed.
func (s *Service) Start(ctx context.Context, org callwright.OrgID, number string) (Call, error) {
	record, err := s.cfg.Trunks.Get(ctx, org, number)
	if err != nil {
		return Call{}, err
	}
	if record.Outbound == nil {
		return Call{}, callwright.Invalid("phone_number", "must be attached for outbound calls")
	}
	now := s.cfg.Clock.Now()
	c := Call{
		ID: "tc_" + strings.ReplaceAll(s.cfg.IDs.New(), "-", ""), Org: org, Number: record.Outbound.Number,
		Status: Initiated, Result: Pending, Timeline: []Event{{Name: "initiated", At: now}}, StartedAt: now, Version: 1,
	}
	running, err := s.enter(c.ID)
	if err != nil {
		return Call{}, err
	}
	added, oldest, err := s.cfg.Store.Insert(ctx, c, MaxCalls, now.Add(-Window))
	if err == nil && !added {
		err = &callwright.Error{
			Code: callwright.CodeTooManyRequests, RetryAfter: max(time.Second, oldest.Add(Window).Sub(now)),
			Message: fmt.Sprintf("an organization may make at most %d test calls in %.0f minutes: try again later", MaxCalls, Window.Minutes()),
		}
	}
	if err != nil {
		s.leave(c.ID)
		return Call{}, err
	}
	go func() {
		defer s.leave(c.ID)
		s.run(running, c)
	}()
	return c, nil
}

// enter returns the context of a new call. Close cancels the context, and leave releases it. enter returns CodeUnavailable if the service
// is closed.
func (s *Service) enter(id string) (context.Context, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, callwright.Errorf(callwright.CodeUnavailable, "%s", errStopping.Error())
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	s.running[id] = cancel
	return ctx, nil
}

func (s *Service) leave(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running[id](nil)
	delete(s.running, id)
	if s.closed && len(s.running) == 0 {
		close(s.idle)
	}
}

// Get returns a test call. It first finishes the call if the call's node has died. It returns CodeNotFound if the organization has no such
// call.
func (s *Service) Get(ctx context.Context, org callwright.OrgID, id string) (Call, error) {
	c, err := s.cfg.Store.Get(ctx, org, id)
	if err != nil || c.EndedAt != nil || s.cfg.Clock.Now().Sub(c.StartedAt) < deadAfter {
		return c, err
	}
	if err := s.finishLost(ctx, &c); err != nil {
		return Call{}, err
	}
	return s.cfg.Store.Get(ctx, org, id)
}

// sweep finishes the calls of dead nodes, up to sweepBatch per run, and deletes old calls.
func (s *Service) sweep(ctx context.Context, _ callwright.Task, _ int) error {
	now := s.cfg.Clock.Now()
	lost, err := s.cfg.Store.Unfinished(ctx, now.Add(-deadAfter), sweepBatch)
	if err != nil {
		return err
	}
	for _, c := range lost {
		if err := s.finishLost(ctx, &c); err != nil {
			return err
		}
	}
	return s.cfg.Store.DeleteOld(ctx, now.Add(-kept))
}

// finishLost finishes a call of a dead node. It returns no error if another node has finished or deleted the call.
func (s *Service) finishLost(ctx context.Context, c *Call) error {
	c.finish(Failed, "the server that placed this call has stopped", s.cfg.Clock.Now())
	err := s.cfg.Store.Update(ctx, *c)
	if errors.Is(err, callwright.ErrConflict) || errors.Is(err, callwright.ErrNotFound) {
		return nil
	}
	return err
}

// Close ends the running calls of this node, and waits until their ends are stored. It returns the error of ctx if ctx ends first.
// Afterwards, Start returns CodeUnavailable.
func (s *Service) Close(ctx context.Context) error {
	s.mu.Lock()
	if !s.closed {
		s.closed = true
		if len(s.running) == 0 {
			close(s.idle)
		}
		for _, cancel := range s.running {
			cancel(errStopping)
		}
	}
	s.mu.Unlock()
	select {
	case <-s.idle:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
