package riverwork

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// riverLogger returns the logger for River. It passes only warnings and errors to c.Logger, because River also logs each task, and writes
// one more line every five seconds.
func (c Config) riverLogger() *slog.Logger {
	return slog.New(quiet{c.Logger.Handler(), &repeats{last: map[string]said{}}})
}

// quiet is a log handler that drops records below the level of warnings. It passes each message at most once per quietFor, because River
// logs ten times a second while its database is unavailable.
type quiet struct {
	slog.Handler
	repeats *repeats
}

const (
	quietFor       = time.Minute
	mostRemembered = 100 // different messages; River has about 60
)

// repeats records when each message was last logged. Handlers derived with other attributes share it.
type repeats struct {
	mu   sync.Mutex
	last map[string]said
}

// said holds the time at which a message was last logged, and the number of times that it was omitted since then.
type said struct {
	at      time.Time
	leftOut int
}

// WithAttrs returns a quiet handler that adds attributes and shares q.repeats.
func (q quiet) WithAttrs(attributes []slog.Attr) slog.Handler {
	return quiet{q.Handler.WithAttrs(attributes), q.repeats}
}

// WithGroup returns a quiet handler that adds a group and shares q.repeats.
func (q quiet) WithGroup(name string) slog.Handler {
	return quiet{q.Handler.WithGroup(name), q.repeats}
}

// Enabled reports whether records of a level are logged: warnings and errors, if the underlying handler is enabled for them.
func (q quiet) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && q.Handler.Enabled(ctx, level)
}

// Handle logs a record, unless its message was logged less than quietFor ago. It adds the number of omitted records as the attribute
// left_out.
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

// note reports whether a record should be logged. It returns the number of records with the same message that were omitted since the last
// logged one.
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
