package callwright

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// Outage logs a continuing failure of a repeated operation, for example of a loop that polls the database. It writes one line when the
// failure begins and one when it ends, with its duration and the number of failed attempts. The zero Outage is ready to use.
type Outage struct {
	mu     sync.Mutex
	since  time.Time
	failed int
}

// Note records an attempt; a nil err means success. text names the failing operation. args are further attributes for the lines about
// failed attempts. Note logs the first failed attempt at the error level, and the others at the debug level.
func (o *Outage) Note(ctx context.Context, log *slog.Logger, text string, err error, args ...any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case err != nil && o.failed == 0:
		o.since, o.failed = time.Now(), 1
		log.ErrorContext(ctx, text, append(args, "error", err)...)
	case err != nil:
		o.failed++
		log.DebugContext(ctx, text, append(args, "error", err)...)
	case o.failed > 0:
		log.InfoContext(ctx, "over: "+text, "lasted", time.Since(o.since).Round(time.Second), "failed", o.failed)
		o.failed = 0
	}
}
