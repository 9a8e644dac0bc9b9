package riverwork

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// riverLogger is the logger of River, of which only warnings and errors concern people: River logs every task and a line
// every five seconds.
func (c Config) riverLogger() *slog.Logger {
	return slog.New(quiet{c.Logger.Handler(), &repeats{last: map[string]said{}}})
}

// quiet is a log handler that drops records below warnings and repeats a message at most once in quietFor: River logs ten times a
// second that its database is away.
type quiet struct {
	slog.Handler
	repeats *repeats
}

const (
	quietFor       = time.Minute
	mostRemembered = 100 // messages; River has some 60 of them
)

// repeats remembers when messages were logged. Handlers with other attributes share it.
type repeats struct {
	mu   sync.Mutex
	last map[string]said
}

// said holds the time at which a message was logged, and the number of equal messages that were left out since.
type said struct {
	at      time.Time
	leftOut int
}

// WithAttrs returns a quiet handler with attributes.
func (q quiet) WithAttrs(attributes []slog.Attr) slog.Handler {
	return quiet{q.Handler.WithAttrs(attributes), q.repeats}
}

// WithGroup returns a quiet handler with a group.
func (q quiet) WithGroup(name string) slog.Handler {
	return quiet{q.Handler.WithGroup(name), q.repeats}
}

// Enabled reports whether a level is logged.
func (q quiet) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && q.Handler.Enabled(ctx, level)
}

// Handle logs a record, unless its message was logged less than quietFor ago.
func (q quiet) Handle(ctx context.Context, r slog.Record) error {
	leftOut, log := q.repeats.note(r)
	if !log {
		return nil
	}
	if leftOut > 0 {
		r.AddAttrs(slog.Int("left_out", leftOut))
	}
	return q.Handler.Handle(ctx, r)
}

// note decides whether a record is logged, and returns the number of equal records that were left out before.
func (s *repeats) note(r slog.Record) (leftOut int, log bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before, known := s.last[r.Message]
	if known && r.Time.Sub(before.at) < quietFor {
		before.leftOut++
		s.last[r.Message] = before
		return 0, false
	}
	if len(s.last) >= mostRemembered {
		clear(s.last)
	}
	s.last[r.Message] = said{at: r.Time}
	return before.leftOut, true
}
