package riverwork

import (
	"log/slog"

	"github.com/callwright/callwright"
)

// RiverLogger returns the logger that River uses if the given logger is the configured one.
func RiverLogger(to *slog.Logger) *slog.Logger {
	return Config{Runtime: callwright.Runtime{Logger: to}}.riverLogger()
}
