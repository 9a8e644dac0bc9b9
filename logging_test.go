package callwright_test

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright"
)

// written returns a logger over LogHandler, and a function that returns its output since the last call.
func written() (*slog.Logger, func() string) {
	var log bytes.Buffer
	h := slog.NewTextHandler(&log, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}})
	return slog.New(callwright.LogHandler(h)), func() string {
		defer log.Reset()
		return strings.TrimSpace(log.String())
	}
}

func TestLogHandler(t *testing.T) {
	t.Parallel()
	log, text := written()
	ctx := callwright.WithLog(t.Context(), slog.String("call_id", "c0"), slog.String("org", "o"))
	ctx = callwright.WithLog(ctx, slog.String("call_id", "c1"))
	for want, write := range map[string]func(){
		"level=INFO msg=m org=o call_id=c1":                func() { log.InfoContext(ctx, "m") },
		"level=WARN msg=m call_id=own a=b org=o":           func() { log.WarnContext(ctx, "m", "call_id", "own", "a", "b") },
		"level=INFO msg=m call_id=with org=o":              func() { log.With("call_id", "with").InfoContext(ctx, "m") },
		"level=INFO msg=m org=p a=b call_id=c1":            func() { log.With("org", "p").With("a", "b").InfoContext(ctx, "m") },
		"level=INFO msg=m":                                 func() { log.Info("m") },
		"level=INFO msg=m g.a=b":                           func() { log.WithGroup("g").InfoContext(ctx, "m", "a", "b") },
		"level=ERROR msg=m g.a=b org=o call_id=c1":         func() { log.ErrorContext(ctx, "m", slog.Group("g", "a", "b")) },
		"level=INFO msg=\"with two\" x=1 org=o call_id=c1": func() { log.InfoContext(ctx, "with two", "x", 1) },
	} {
		write()
		if got := text(); got != want {
			t.Errorf("wrote %q, want %q", got, want)
		}
	}
	if len(callwright.LogAttrs(t.Context())) != 0 || len(callwright.LogAttrs(ctx)) != 2 {
		t.Error("the attributes of a context are not those that were put in")
	}
}

// TestOutage checks that an outage of many failed attempts writes two lines, at its beginning and at its end.
func TestOutage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		log, text := written()
		var o callwright.Outage
		o.Note(t.Context(), log, "leases cannot be renewed", nil)
		if got := text(); got != "" {
			t.Errorf("wrote %q", got)
		}
		for round := range 2 {
			for range 10 {
				o.Note(t.Context(), log, "leases cannot be renewed", errors.New("gone"), "kind", "k")
				time.Sleep(5 * time.Second) // in the fake time of synctest
			}
			o.Note(t.Context(), log, "leases cannot be renewed", nil)
			o.Note(t.Context(), log, "leases cannot be renewed", nil)
			want := "level=ERROR msg=\"leases cannot be renewed\" kind=k error=gone\n" +
				"level=INFO msg=\"over: leases cannot be renewed\" lasted=50s failed=10"
			if got := text(); got != want {
				t.Errorf("outage %d: wrote %q", round, got)
			}
		}
	})
}
