package calls_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/call"
)

// slow is a call.Recordings whose Open blocks until goOn is closed, and then returns CodeNotFound.
type slow struct {
	call.Recordings
	goOn chan struct{}
}

func (s slow) Open(context.Context, callwright.OrgID, string) (io.ReadSeekCloser, error) {
	<-s.goOn
	return nil, callwright.NotFound("recording")
}

// TestBusyWaves checks that the page of a call appears without the waveform, within a second, while other recordings are read slowly.
func TestBusyWaves(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		disk := slow{goOn: make(chan struct{})}
		h := open(t, func(c *call.Config) { c.Recordings = disk })
		h.Close() // a listener would prevent the bubble's clock from advancing
		get := func(id string) string {
			answer := httptest.NewRecorder()
			h.Config.Handler.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/calls/"+id, nil))
			return answer.Body.String()
		}
		for _, id := range []string{"c1", "c2", "c3"} {
			h.call(id, func(c *call.Call) { c.Recorded, c.Agent.Record = true, true })
		}
		for _, id := range []string{"c1", "c2"} {
			go get(id)
		}
		synctest.Wait()
		begin := time.Now()
		text := get("c3")
		if took := time.Since(begin); took > time.Second {
			t.Errorf("the page took %s", took)
		}
		for _, want := range []string{`<audio controls preload="none" id="recording"`, "The waveform is missing", `<a href="">Load the page again</a>`} {
			if !strings.Contains(text, want) {
				t.Errorf("there is no %s in\n%s", want, text)
			}
		}
		close(disk.goOn)
		synctest.Wait()
		if text = get("c3"); !strings.Contains(text, "no longer there") {
			t.Errorf("later:\n%s", text)
		}
	})
}
