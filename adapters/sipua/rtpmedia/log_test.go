package rtpmedia_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/sipua/rtpmedia"
)

// TestLinesHaveTheCall checks that each log line of a session contains the attributes of the context that was passed to Open.
func TestLinesHaveTheCall(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	m := newMedia(t, func(c *rtpmedia.Config) { c.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
	other := connect(t, newMedia(t, nil))
	defer other.close()
	s, err := m.Open(callwright.WithLog(t.Context(), slog.String("call_id", "c1")))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Apply(other.callers); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if text := log.String(); !strings.Contains(text, "media negotiated") || strings.Count(text, "call_id=c1") != strings.Count(text, "\n") {
		t.Errorf("logged %s", text)
	}
}
