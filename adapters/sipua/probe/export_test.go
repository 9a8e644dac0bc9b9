package probe

// MaxMessage exports maxMessage for tests.
const MaxMessage = maxMessage

// IdleLife exports idleLife for tests.
const IdleLife = idleLife

// SetMaxIdle sets the maximum number of idle connections.
func (p *Prober) SetMaxIdle(n int) { p.idle.most = n }

// Idle returns the number of idle connections.
func (p *Prober) Idle() int {
	p.idle.mu.Lock()
	defer p.idle.mu.Unlock()
	return p.idle.count
}

// Read parses the first message of a stream and returns the values that are extracted from it. ok is false if there is no complete
// response.
func Read(stream []byte) (length int, userAgent string, methods, codecs []string, ok bool) {
	length, err := frame(stream)
	if err != nil || length == 0 {
		return 0, "", nil, nil, false
	}
	r, ok := parse(string(stream[:length]))
	_, _ = r.answers("token"), retryAfter(r)
	return length, r.userAgent(), r.methods(), r.codecs(), ok
}
