package riverwork

import "log/slog"

// RiverLogger is the logger that River gets.
func RiverLogger(to *slog.Logger) *slog.Logger { return Config{Logger: to}.riverLogger() }
