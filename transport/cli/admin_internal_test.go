package cli

import (
	"testing"
	"time"
)

// TestSpan checks that Set reads the text of String as the same duration.
func TestSpan(t *testing.T) {
	t.Parallel()
	for _, d := range []time.Duration{0, 10 * time.Second, 10 * time.Minute, time.Hour, 24 * time.Hour, time.Hour + time.Second, 90 * time.Minute} {
		s, read := span(d), span(0)
		if err := read.Set(s.String()); err != nil || read != s {
			t.Errorf("%s: the text %q is read as %s, %v", d, s.String(), time.Duration(read), err)
		}
	}
}
