package callwright_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright"
)

// TestStrangers checks that a thousand requests a minute from one address produce at most one line a minute, and that a request after a
// pause is logged as a first request.
func TestStrangers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		log, text := written()
		s := &callwright.UnauthenticatedLog{Logger: log}
		visit := func(address string) { s.Visit(address, func() { log.Info("request", "client", address) }) }
		for range 3000 {
			visit("192.0.2.1")
			time.Sleep(60 * time.Millisecond) // in the fake time of synctest
		}
		visit("192.0.2.2")
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		var counted int
		lines := strings.Split(text(), "\n")
		for _, line := range lines {
			var n int
			if _, err := fmt.Sscanf(line, `level=INFO msg="requests without a key" client=192.0.2.1 count=%d`, &n); err == nil {
				counted += n
			}
		}
		if len(lines) > 6 || counted != 2999 {
			t.Errorf("%d lines that count %d: %q", len(lines), counted, lines)
		}
		visit("192.0.2.1")
		if got := text(); got != "level=INFO msg=request client=192.0.2.1" {
			t.Errorf("after a rest: %q", got)
		}
		time.Sleep(2 * time.Minute)
	})
}

// TestManyStrangers checks that the log limits the number of lines for requests from many addresses.
func TestManyStrangers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		log, text := written()
		s := &callwright.UnauthenticatedLog{Logger: log}
		for i := range 20_000 {
			s.Visit(fmt.Sprint(i), func() { log.Info("request") })
		}
		if n := strings.Count(text(), "msg=request"); n != 10_001 {
			t.Errorf("%d lines", n)
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if got := text(); got != `level=INFO msg="requests without a key" client=others count=9999` {
			t.Errorf("then %q", got)
		}
	})
}
