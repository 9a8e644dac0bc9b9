package source

// Known returns the number of stored sources.
func Known(l *Limiter) int { return len(l.known) }

// Behind returns the number of stored callers and numbers behind trusted sources.
func Behind(l *Limiter) int { return len(l.behind) }

// Proofs returns the number of callers behind trusted sources whose credentials are recorded.
func Proofs(l *Limiter) int { return len(l.proofs) }
