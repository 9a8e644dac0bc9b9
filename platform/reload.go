package platform

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"go.uber.org/fx"

	"github.com/callwright/callwright"
)

// logLevel is the lowest level that is logged. The file log-level in the data folder contains it. Without this file, --log-level applies.
type logLevel struct {
	*slog.LevelVar
	file      string
	otherwise slog.Level
}

func newLogLevel(c Config) (logLevel, error) {
	l := logLevel{new(slog.LevelVar), filepath.Join(c.Data, "log-level"), c.LogLevel}
	return l, l.read()
}

// read sets the level from the file, or to --log-level if the file is absent. If the file is unreadable or invalid, read returns an error
// and leaves the level unchanged.
func (l logLevel) read() error {
	text, err := os.ReadFile(l.file)
	if errors.Is(err, fs.ErrNotExist) {
		l.Set(l.otherwise)
		return nil
	}
	if err != nil {
		return fmt.Errorf("the file of the log level cannot be read: %w", err)
	}
	var level slog.Level
	if err := level.UnmarshalText([]byte(strings.TrimSpace(string(text)))); err != nil {
		return fmt.Errorf("%s must contain debug, info, warn or error: %w", l.file, err)
	}
	l.Set(level)
	return nil
}

// reloadParts lists the parts that Reload updates: the log level and the certificates.
type reloadParts struct {
	fx.In
	Level    logLevel
	Identity identity
	Runtime  callwright.Runtime
}

// reload reads the log level and the certificates again, and logs the result.
func (p reloadParts) reload(ctx context.Context) {
	if err := p.Level.read(); err != nil {
		p.Runtime.Logger.ErrorContext(ctx, "the level of the log is unchanged", "level", p.Level.Level(), "error", err)
	}
	p.Identity.Reload(ctx)
	p.Runtime.Logger.InfoContext(ctx, "read again: the level of the log and the certificates", "level", p.Level.Level())
}
