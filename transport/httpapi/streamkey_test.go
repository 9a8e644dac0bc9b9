package httpapi_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestStreamEndsAtTheExpiry checks that a stream ends when its key expires between two checks, whether or not the stream has events.
func TestStreamEndsAtTheExpiry(t *testing.T) {
	t.Parallel()
	for name, busy := range map[string]bool{"quiet": false, "busy": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h := open(t)
				issue, comment := h.quietIssue()
				h.key = must(h.access.CreateKey(t.Context(), h.org, "short", 100500*time.Millisecond)).Key.Reveal()
				answer := newTape()
				leave, ended := h.follow(issue, answer)
				defer leave()
				for range 100 {
					if busy {
						comment()
					}
					time.Sleep(time.Second)
				}
				time.Sleep(499 * time.Millisecond)
				if synctest.Wait(); ended.Load() {
					t.Fatal("the stream has ended before its key")
				}
				time.Sleep(time.Millisecond)
				if synctest.Wait(); !ended.Load() {
					t.Error("the stream goes on after the expiry of its key")
				}
			})
		})
	}
}

// TestStreamEndsWithItsKey checks that a stream ends within 30 seconds after its key was revoked. It must not send events that occur more
// than 15 seconds after the revocation.
func TestStreamEndsWithItsKey(t *testing.T) {
	t.Parallel()
	for name, busy := range map[string]bool{"quiet": false, "busy": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h := open(t)
				issue, comment := h.quietIssue()
				answer := newTape()
				leave, ended := h.follow(issue, answer)
				defer leave()
				live := func(seconds int) (told int) {
					for range seconds {
						if busy {
							comment()
						}
						time.Sleep(time.Second)
						synctest.Wait()
					}
					return strings.Count(answer.take(), "event: entry")
				}
				if told := live(40); ended.Load() || busy && told != 40 {
					t.Fatalf("with its key the stream has told of %d comments, ended: %v", told, ended.Load())
				}
				p, err := h.access.CheckKey(t.Context(), h.key)
				if err != nil {
					t.Fatal(err)
				}
				if err := h.access.RevokeKey(t.Context(), h.org, p.KeyID); err != nil {
					t.Fatal(err)
				}
				if told := live(30); !ended.Load() || told > 15 {
					t.Errorf("without its key the stream has told of %d comments, ended: %v", told, ended.Load())
				}
				if log := h.log.String(); !strings.Contains(log, `"error":"Unauthorized`) {
					t.Errorf("the log has %s", log)
				}
			})
		})
	}
}
