package agenttest_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/orgstore"
	"github.com/callwright/callwright/agenttest/group"
	"github.com/callwright/callwright/agenttest/run"
	"github.com/callwright/callwright/callwrighttest"
)

// restart stops the current service and its durable work with stop. It starts a new service and new durable work on the same store in
// memory, like another process. They run until the returned function is called or the test ends.
func (l *lab) restart(stop func()) (again func()) {
	l.t.Helper()
	stop()
	memory, _ := l.cfg.Atomic.(*memstore.Store)
	l.work = memstore.NewWork(memory, nil)
	l.cfg.Work = l.work
	l.Service = l.another()
	stopWork, stopRuns := l.until(l.work.Run), l.until(l.Service.Run)
	return func() { stopRuns(); stopWork() }
}

// TestBatchEndIsTold checks that the end of a batch is delivered once. Deliveries are retried while the receiver is down, if necessary by
// another process.
func TestBatchEndIsTold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		l.told.down = 2
		stop := l.restart(func() {})
		b, _, err := l.StartBatch(t.Context(), org, group.BatchRequest{
			Scenarios: []string{l.scenario().ID, l.scenario(failing).ID}, Webhook: "https://example.com/hook",
		})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		for i, tt := range []struct {
			wait        time.Duration
			tried, told int
		}{{0, 1, 0}, {10 * time.Second, 2, 0}, {time.Minute, 3, 1}, {time.Hour, 3, 1}} {
			if i > 0 {
				stop = l.restart(stop)
			}
			time.Sleep(tt.wait)
			synctest.Wait()
			if l.told.tried != tt.tried || len(l.told.batches) != tt.told {
				t.Errorf("step %d: tried %d times, told %d times; want %d, %d", i, l.told.tried, len(l.told.batches), tt.tried, tt.told)
			}
		}
		stop()
		if len(l.told.batches) != 1 {
			t.Fatal("nobody was told")
		}
		got, runs := l.told.batches[0], l.told.listed[0]
		if got.ID != b.ID || got.State != run.Failed || got.Counts != (group.Counts{Passed: 1, Failed: 1}) || len(runs) != 2 ||
			runs[0].Outcome == nil || len(runs[0].Outcome.Results) == 0 {
			t.Errorf("told %+v with %+v", got, runs)
		}
	})
}

// TestBatchEndIsGivenUp checks that deliveries to an unavailable receiver are retried for a day, and that groups without a webhook send
// nothing.
func TestBatchEndIsGivenUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		l.told.down = 1000
		l.cfg.Deliveries = callwrighttest.NewDeliveryLog(t, orgstore.Deliveries{Store: memstore.New()})
		l.Service = l.another()
		ids := []string{l.scenario().ID}
		l.run(l.Service)
		var batch string
		for _, hook := range []string{"https://example.com/hook", ""} {
			b, _, err := l.StartBatch(t.Context(), org, group.BatchRequest{Scenarios: ids, Webhook: hook})
			if err != nil {
				t.Fatal(err)
			}
			if hook != "" {
				batch = b.ID
			}
		}
		time.Sleep(25 * time.Hour)
		synctest.Wait()
		if l.told.tried != 11 || len(l.told.batches) != 0 {
			t.Errorf("tried %d times, told %d times", l.told.tried, len(l.told.batches))
		}
		callwrighttest.WantDeliveries(t, l.cfg.Deliveries, org, "test_batch "+batch+" example.com given_up 11")
	})
}

// TestRefusedWebhookIsGivenUpAtOnce checks that a delivery to a forbidden address is tried once, and that the log contains the reason.
func TestRefusedWebhookIsGivenUpAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		var log bytes.Buffer
		l.cfg.Logger = slog.New(slog.NewTextHandler(&log, nil))
		l.Service = l.another()
		l.told.down, l.told.failure = 1000, callwright.Errorf(callwright.CodeForbidden, "it is not public: name a public host")
		l.run(l.Service)
		_, _, err := l.StartBatch(t.Context(), org, group.BatchRequest{
			Scenarios: []string{l.scenario().ID}, Webhook: "https://inside.example/hook?token=t",
		})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if l.told.tried != 1 {
			t.Errorf("tried %d times", l.told.tried)
		}
		if text := log.String(); strings.Count(text, "given up") != 1 || !strings.Contains(text, "to=inside.example ") ||
			!strings.Contains(text, "name a public host") || strings.Contains(text, "token") {
			t.Errorf("the log says %s", text)
		}
	})
}
