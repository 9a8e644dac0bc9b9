package testcall_test

import (
	"context"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/ladder"
	"github.com/callwright/callwright/sip/testcall"
)

// trunks is a testcall.Trunks in which every organization has an outbound trunk for the number in the constant ours and an inbound trunk
// for the number in the constant inboundOnly.
type trunks struct{}

const (
	ours        = callwright.PhoneNumber("+15550000001")
	inboundOnly = callwright.PhoneNumber("+15550000002")
)

func (trunks) Get(_ context.Context, _ callwright.OrgID, number string) (sip.Record, error) {
	n, err := callwright.ParsePhoneNumber(number)
	if err != nil {
		return sip.Record{}, callwright.InField("phone_number", err)
	}
	switch n {
	case ours:
		return sip.Record{Outbound: &sip.Trunk{Number: n}}, nil
	case inboundOnly:
		return sip.Record{Inbound: &sip.Trunk{Number: n}}, nil
	}
	return sip.Record{}, nil
}

// line places scripted calls and records their placements.
type line struct {
	place func(ctx context.Context, p testcall.Placement, observe func(ladder.Event)) (testcall.Leg, error)
	mu    sync.Mutex
	asked []testcall.Placement
}

func (l *line) Place(
	ctx context.Context, p testcall.Placement, observe func(ladder.Event),
) (testcall.Leg, error) {
	l.mu.Lock()
	l.asked = append(l.asked, p)
	l.mu.Unlock()
	return l.place(ctx, p, observe)
}

// leg is an answered call that plays audio in real time.
type leg struct {
	rate     int
	writeErr error
	done     chan struct{}
	once     sync.Once

	mu      sync.Mutex
	until   time.Time // when the playout of the written audio ends
	written int
	hungup  int
}

func newLeg() *leg { return &leg{rate: 8000, done: make(chan struct{})} }

func (*leg) Info() testcall.Carriage {
	return testcall.Carriage{Codec: "PCMU", SRTPSuite: "AES_CM_128_HMAC_SHA1_80", TLS: "TLS 1.3", Peer: "203.0.113.7:5061"}
}

func (l *leg) Rate() int { return l.rate }

func (l *leg) Write(ctx context.Context, samples []int16) error {
	if l.writeErr != nil {
		return l.writeErr
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.written += len(samples)
	l.until = time.Now().Add(time.Duration(len(samples)) * time.Second / time.Duration(l.rate))
	return ctx.Err()
}

func (l *leg) Queued() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return max(0, int(time.Until(l.until).Seconds()*float64(l.rate)))
}

func (l *leg) Read(ctx context.Context) ([]int16, error) {
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-l.done:
		return nil, io.EOF
	case <-time.After(20 * time.Millisecond):
		return make([]int16, l.rate/50), nil
	}
}

func (l *leg) Hangup(context.Context) error {
	l.mu.Lock()
	l.hungup++
	l.mu.Unlock()
	l.finish()
	return nil
}

func (l *leg) Done() <-chan struct{} { return l.done }

func (l *leg) finish() { l.once.Do(func() { close(l.done) }) }

// prompts is a Prompt that calls a function of the test.
type prompts func(ctx context.Context, rate int) ([]int16, error)

func (p prompts) Prompt(ctx context.Context, rate int) ([]int16, error) { return p(ctx, rate) }

// store is a testcall.Store that counts updates and returns the errors that a test sets.
type store struct {
	testcall.Store
	insert  error
	fail    func(update int64) error // receives the number of the Update and returns its error; nil means that no Update fails
	written bool                     // an Update that returns an error still writes
	updates atomic.Int64
}

func (s *store) Insert(
	ctx context.Context, c testcall.Call, limit int, since time.Time,
) (bool, time.Time, error) {
	if s.insert != nil {
		return false, time.Time{}, s.insert
	}
	return s.Store.Insert(ctx, c, limit, since)
}

func (s *store) Update(ctx context.Context, c testcall.Call) error {
	n := s.updates.Add(1)
	if s.fail == nil || s.fail(n) == nil {
		return s.Store.Update(ctx, c)
	}
	if s.written {
		_ = s.Store.Update(ctx, c)
	}
	return s.fail(n)
}

// work stores the handlers of the periodic work, so that the test can run them.
type work struct {
	callwright.Work
	every map[string]callwright.Handler
}

func (w *work) Every(_ callwright.Queue, kind string, _ time.Duration, h callwright.Handler) {
	w.every[kind] = h
}
