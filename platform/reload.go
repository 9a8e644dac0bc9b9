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

// logLevel is the least level that is logged: the one in the file log-level of the data folder or, without the file, --log-level.
type logLevel struct {
	*slog.LevelVar
	file      string
	otherwise slog.Level
}

func newLogLevel(c Config) (logLevel, error) {
	l := logLevel{new(slog.LevelVar), filepath.Join(c.Data, "log-level"), c.LogLevel}
	return l, l.read()
}

// read reads the level. An invalid text leaves the level unchanged.
func (l logLevel) read() error {
	text, err := os.ReadFile(l.file)
	if errors.Is(err, fs.ErrNotExist) {
		l.Set(l.otherwise)
		return nil
	}
	var level slog.Level
	if err == nil {
		err = level.UnmarshalText([]byte(strings.TrimSpace(string(text))))
	}
	if err != nil {
		return fmt.Errorf("%s must be debug, info, warn or error: %w", l.file, err)
	}
	l.Set(level)
	return nil
}

// reloadParts holds the parts that may change while the platform runs: only the log level and the certificates.
type reloadParts struct {
	fx.In
	Level    logLevel
	Identity identity
	Runtime  callwright.Runtime
}

// reload reads all of it again.
func (p reloadParts) reload(ctx context.Context) {
	if err := p.Level.read(); err != nil {
		p.Runtime.Logger.ErrorContext(ctx, "the level of the log stays as it is", "level", p.Level.Level(), "error", err)
	}
	p.Identity.Reload(ctx)
	p.Runtime.Logger.InfoContext(ctx, "read again: the level of the log and the certificates", "level", p.Level.Level())
}
