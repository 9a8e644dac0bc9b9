package riverwork

import (
	"context"
	"log/slog"
)

// riverLogger is for River's own words, of which only warnings and errors concern people: it tells of every task and of
// every five seconds.
func (c Config) riverLogger() *slog.Logger { return slog.New(quiet{c.Logger.Handler()}) }

// quiet is a log's handler without what is less than a warning.
type quiet struct{ slog.Handler }

// WithAttrs returns a quiet handler with attributes.
func (q quiet) WithAttrs(attributes []slog.Attr) slog.Handler {
	return quiet{q.Handler.WithAttrs(attributes)}
}

// WithGroup returns a quiet handler with a group.
func (q quiet) WithGroup(name string) slog.Handler { return quiet{q.Handler.WithGroup(name)} }

// Enabled reports whether a level is logged.
func (q quiet) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && q.Handler.Enabled(ctx, level)
}
