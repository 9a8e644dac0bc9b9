package registration_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestOutageIsLoggedOnce checks that during an outage of the database each repeated operation is logged only at its first failure and at
// its recovery.
func TestOutageIsLoggedOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, grants(time.Hour))
		var said bytes.Buffer
		w.log = slog.New(slog.NewTextHandler(&said, nil))
		w.attach("1")
		stop := w.run("a")
		pass(time.Minute)
		w.away.Store(true)
		pass(time.Minute)
		w.away.Store(false)
		pass(time.Minute)
		stop()
		for _, what := range []string{
			"cannot claim registrations", "this node's registrations cannot be read", "the nodes with registrations cannot be read",
		} {
			if began, over := strings.Count(said.String(), `"`+what+`"`), strings.Count(said.String(), `"over: `+what+`"`); began != 1 || over != 1 {
				t.Errorf("%q began %d times and was over %d times:\n%s", what, began, over, said.String())
			}
		}
	})
}
