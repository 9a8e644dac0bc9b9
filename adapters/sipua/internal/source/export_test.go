package source

// Known returns how many sources are remembered.
func Known(l *Limiter) int { return len(l.known) }
