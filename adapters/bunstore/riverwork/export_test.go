package riverwork

import (
	"log/slog"

	"github.com/callwright/callwright"
)

// RiverLogger is the logger that River gets.
func RiverLogger(to *slog.Logger) *slog.Logger {
	return Config{Runtime: callwright.Runtime{Logger: to}}.riverLogger()
}
