package talk

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/internal/engine/session"
)

// link is a connection of a Talk.
type link struct {
	talk     *Talk
	conn     session.Conn
	protocol Protocol
	cancel   context.CancelFunc
	wake     chan struct{} // receives a token when there is a message to send
	late     *time.Timer

	mu    sync.Mutex
	queue []session.Message
}

// newLink starts the goroutines of a connection. The caller must hold t.mu.
func newLink(t *Talk, conn session.Conn, protocol Protocol) *link {
	l := &link{talk: t, conn: conn, protocol: protocol, wake: make(chan struct{}, 1)}
	ctx, cancel := context.WithCancel(t.ctx)
	l.cancel = cancel
	l.late = time.AfterFunc(time.Hour, func() { t.tooLate(l) })
	l.late.Stop()
	t.wait.Go(func() { l.read(ctx) })
	t.wait.Go(func() { l.write(ctx) })
	return l
}

// close ends the connection without waiting.
func (l *link) close() {
	l.cancel()
	l.late.Stop()
	_ = l.conn.Close()
}

// failed reports the loss of the connection to the Talk, unless the Talk has closed it.
func (l *link) failed(err error) {
	l.talk.mu.Lock()
	defer l.talk.mu.Unlock()
	if l.talk.link == l {
		l.talk.interrupted(callwright.Errorf(callwright.CodeUnavailable, "the connection to the speech service has ended: %w", err))
	}
}

// read receives messages until the connection ends.
func (l *link) read(ctx context.Context) {
	for {
		m, err := l.conn.Read(ctx)
		if err == nil {
			err = l.receive(m)
		}
		if err != nil {
			l.failed(err)
			return
		}
	}
}

// receive handles a message.
func (l *link) receive(m session.Message) error {
	l.talk.mu.Lock()
	defer l.talk.mu.Unlock()
	if l.talk.link != l {
		return nil
	}
	e, err := l.protocol.Receive(m)
	if err == nil {
		l.talk.handle(e)
	}
	return err
}

// send queues messages.
func (l *link) send(messages []session.Message) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.queue) < maxQueue {
		l.queue = append(l.queue, messages...)
	}
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// next returns the next queued message.
func (l *link) next() (session.Message, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.queue) == 0 {
		return session.Message{}, false
	}
	m := l.queue[0]
	l.queue = slices.Delete(l.queue, 0, 1)
	return m, true
}

// write sends the queued messages until the connection ends.
func (l *link) write(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-l.wake:
		}
		for m, ok := l.next(); ok; m, ok = l.next() {
			limited, cancel := context.WithTimeout(ctx, l.talk.cfg.Patience)
			err := l.conn.Write(limited, m)
			cancel()
			if err != nil {
				l.failed(err)
				return
			}
		}
	}
}
