package riverwork

import (
	"log/slog"

	"github.com/callwright/callwright"
)

// RiverLogger returns the logger that River uses if to is the configured logger.
func RiverLogger(to *slog.Logger) *slog.Logger {
	return Config{Runtime: callwright.Runtime{Logger: to}}.riverLogger()
}
