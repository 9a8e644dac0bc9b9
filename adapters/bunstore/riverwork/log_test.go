package riverwork_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright/adapters/bunstore/riverwork"
)

// TestRepeatedLog makes River log one error ten times a second for three minutes, as for a damaged database, and a warning once. The
// repeated error is logged once a minute with the number of omitted records, the warning immediately, and River's statistics never.
func TestRepeatedLog(t *testing.T) {
	t.Parallel()
	text := new(bytes.Buffer)
	log := riverwork.RiverLogger(slog.New(slog.NewTextHandler(text, nil)))
	begin := time.Now()
	say := func(after time.Duration, level slog.Level, message string) {
		r := slog.NewRecord(begin.Add(after), level, message, 0)
		if h := log.With("queue", "default").Handler(); h.Enabled(t.Context(), level) {
			if err := h.Handle(context.Background(), r); err != nil {
				t.Fatal(err)
			}
		}
	}
	for after := time.Duration(0); after < 3*time.Minute; after += 100 * time.Millisecond {
		say(after, slog.LevelError, "Error fetching jobs")
		say(after, slog.LevelInfo, "Job statistics")
	}
	say(90*time.Second, slog.LevelWarn, "Error electing")
	if n := strings.Count(text.String(), "Error fetching jobs"); n != 3 {
		t.Errorf("it is logged %d times, want once a minute", n)
	}
	if n := strings.Count(text.String(), "left_out=599"); n != 2 {
		t.Errorf("%d lines say how many were left out:\n%s", n, text)
	}
	if n := strings.Count(text.String(), "Error electing"); n != 1 || strings.Contains(text.String(), "statistics") {
		t.Errorf("of the others there is %s", text)
	}
}
