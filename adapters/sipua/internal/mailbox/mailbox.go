// Package mailbox runs functions one after another. A mailbox occupies no goroutine while its queue is empty.
package mailbox

import "sync"

// Mailbox runs posted functions one after another, in the order of posting. The zero value is ready to use.
type Mailbox struct {
	mu    sync.Mutex
	queue []func()
	busy  bool
}

// Post queues a function and returns immediately. The function must not panic.
func (m *Mailbox) Post(f func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.queue = append(m.queue, f)
	if !m.busy {
		m.busy = true
		go m.run()
	}
}

func (m *Mailbox) run() {
	for {
		m.mu.Lock()
		if len(m.queue) == 0 {
			m.busy, m.queue = false, nil
			m.mu.Unlock()
			return
		}
		f := m.queue[0]
		m.queue = m.queue[1:]
		m.mu.Unlock()
		f()
	}
}
