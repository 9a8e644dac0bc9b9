package tornado_test

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agenttest/tornado"
	"github.com/callwright/callwright/node"
)

// mortal is a process that dies after a number of accesses to the database. Later accesses do not return until the test ends. The process
// dies either before or after the access takes effect.
type mortal struct {
	tornado.Store

	atomic callwright.Atomic
	leases node.Leases
	grave  <-chan struct{} // closed when the test ends

	mu   sync.Mutex
	left int // remaining half accesses: one before and one after each effect
}

var errDead = errors.New("the process is dead")

type within struct{}

// step uses up half an access, and reports whether the process is still alive.
func (m *mortal) step() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.left > 0 {
		m.left--
	}
	return m.left > 0
}

// access calls f. If the process dies before or after the call, access blocks until the test ends. In a transaction it returns errDead
// instead, so that the transaction is rolled back.
func (m *mortal) access(ctx context.Context, f func() error) error {
	for range 2 {
		if !m.step() {
			if ctx.Value(within{}) == nil {
				<-m.grave
			}
			return errDead
		}
		if f != nil {
			if err := f(); err != nil {
				return err
			}
			f = nil
		}
	}
	return nil
}

func (m *mortal) Do(ctx context.Context, f func(ctx context.Context) error) error {
	return m.access(ctx, func() error {
		return m.atomic.Do(ctx, func(ctx context.Context) error { return f(context.WithValue(ctx, within{}, true)) })
	})
}

func (m *mortal) Session(ctx context.Context, org callwright.OrgID, id string) (s tornado.Session, err error) {
	err = m.access(ctx, func() error { s, err = m.Store.Session(ctx, org, id); return err })
	return s, err
}

func (m *mortal) UpdateSession(ctx context.Context, s tornado.Session) error {
	return m.access(ctx, func() error { return m.Store.UpdateSession(ctx, s) })
}

func (m *mortal) WaitingSessions(ctx context.Context, limit int) (s []tornado.Session, err error) {
	err = m.access(ctx, func() error { s, err = m.Store.WaitingSessions(ctx, limit); return err })
	return s, err
}

func (m *mortal) AbandonedSessions(ctx context.Context, alive []string, limit int) (s []tornado.Session, err error) {
	err = m.access(ctx, func() error { s, err = m.Store.AbandonedSessions(ctx, alive, limit); return err })
	return s, err
}

func (m *mortal) CancelledSessions(ctx context.Context, node string) (ids []string, err error) {
	err = m.access(ctx, func() error { ids, err = m.Store.CancelledSessions(ctx, node); return err })
	return ids, err
}

func (m *mortal) AppendStep(ctx context.Context, org callwright.OrgID, session, node string, n int, step tornado.Step) error {
	return m.access(ctx, func() error { return m.Store.AppendStep(ctx, org, session, node, n, step) })
}

func (m *mortal) Steps(ctx context.Context, org callwright.OrgID, session string) (steps []tornado.Step, err error) {
	err = m.access(ctx, func() error { steps, err = m.Store.Steps(ctx, org, session); return err })
	return steps, err
}

func (m *mortal) DeleteSteps(ctx context.Context, org callwright.OrgID, session string) error {
	return m.access(ctx, func() error { return m.Store.DeleteSteps(ctx, org, session) })
}

// mortalLeases are the leases of a mortal process. A dead process cannot renew them, so that they expire.
type mortalLeases struct {
	node.Leases

	m *mortal
}

func (l mortalLeases) Claim(
	ctx context.Context, kind, node string, keys []string, now, until time.Time,
) (leases []node.Lease, err error) {
	err = l.m.access(ctx, func() error { leases, err = l.Leases.Claim(ctx, kind, node, keys, now, until); return err })
	return leases, err
}

func (l mortalLeases) Renew(ctx context.Context, kind, node string, now, until time.Time) (leases []node.Lease, err error) {
	err = l.m.access(ctx, func() error { leases, err = l.Leases.Renew(ctx, kind, node, now, until); return err })
	return leases, err
}
