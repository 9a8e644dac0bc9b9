package sipua

import "sync"

// mailbox runs what is posted to it one after another, in the order of posting. It has a goroutine only while there is
// something to run.
type mailbox struct {
	mu    sync.Mutex
	queue []func()
	busy  bool
}

// post never waits. What it is given must not panic.
func (m *mailbox) post(f func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.queue = append(m.queue, f)
	if !m.busy {
		m.busy = true
		go m.run()
	}
}

func (m *mailbox) run() {
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
