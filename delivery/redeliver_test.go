package delivery_test

import (
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/delivery"
)

func TestRedeliver(t *testing.T) {
	t.Parallel()
	down := callwright.Errorf(callwright.CodeUnavailable, "the webhook is down")
	var took time.Duration
	attempts := 1
	for ; ; attempts++ {
		wait, again := delivery.Redeliver(down, attempts)
		if !again {
			break
		}
		took += wait
		if got := delivery.Attempts(took); got != attempts+1 {
			t.Errorf("a message of %s has had %d attempts, want %d", took, got, attempts+1)
		}
	}
	if took != 24*time.Hour || attempts != 11 {
		t.Errorf("a message is given up after %s and %d attempts, want 24 h and 11", took, attempts)
	}
	if _, again := delivery.Redeliver(callwright.Errorf(callwright.CodeForbidden, "no"), 1); again {
		t.Error("a message that was refused for good is sent again")
	}
	for asked, want := range map[time.Duration]time.Duration{time.Second: 5 * time.Second, time.Minute: time.Minute, 3 * time.Hour: time.Hour} {
		slow := &callwright.Error{Code: callwright.CodeUnavailable, RetryAfter: asked}
		if wait, _ := delivery.Redeliver(slow, 1); wait != want {
			t.Errorf("a webhook that asks for %s is asked again after %s, want %s", asked, wait, want)
		}
	}
}
