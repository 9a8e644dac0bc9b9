package source

// Known returns how many sources are remembered.
func Known(l *Limiter) int { return len(l.known) }

// Behind returns how many callers and numbers behind sources are remembered.
func Behind(l *Limiter) int { return len(l.behind) }

// Proofs returns how many callers behind sources are remembered by their credentials.
func Proofs(l *Limiter) int { return len(l.proofs) }
