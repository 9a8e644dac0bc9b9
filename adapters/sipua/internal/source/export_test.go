package source

// Known returns the number of remembered sources.
func Known(l *Limiter) int { return len(l.known) }

// Behind returns the number of remembered callers and numbers behind sources.
func Behind(l *Limiter) int { return len(l.behind) }

// Proofs returns the number of callers behind sources that are remembered by their credentials.
func Proofs(l *Limiter) int { return len(l.proofs) }
