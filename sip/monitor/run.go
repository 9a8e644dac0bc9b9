package monitor

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/node"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/health"
)

// The pace of a node's probes and writes.
const (
	searchInterval = time.Second            // interval between searches for due servers and statuses
	timeout        = 5 * time.Second        // timeout of a probe
	parallel       = 1000                   // maximum number of concurrent probes: enough for 10,000 silent servers a minute
	batch          = 250                    // maximum number of servers or statuses to lease, and to write, together
	writeDelay     = 100 * time.Millisecond // time for which a result waits for others to be written together
	lease          = 2 * node.LeaseTTL      // duration of a lease, longer than probing and writing take
)

// result is the evidence of a probe, and the server that was probed.
type result struct {
	server   sip.WatchedServer // state before the probe
	evidence health.Evidence
}

// Run probes the servers that are due, and records the statuses of trunks, until ctx ends. It then writes the remaining results, and
// returns nil.
func (s *Service) Run(ctx context.Context) error {
	var recording sync.WaitGroup
	recording.Go(func() { s.recordLoop(ctx) })
	s.probeLoop(ctx)
	recording.Wait()
	return nil
}

// probeLoop probes due servers concurrently until ctx ends. It then waits until all results are written.
func (s *Service) probeLoop(ctx context.Context) {
	results := make(chan result)
	var probes, writer sync.WaitGroup
	writer.Go(func() { s.writeLoop(ctx, results) })
	slots := make(chan struct{}, parallel)
	s.everyLook(ctx, func() (more bool) {
		due := s.dueServers(ctx, min(parallel-len(slots), batch))
		for _, server := range due {
			slots <- struct{}{}
			probes.Go(func() {
				defer func() { <-slots }()
				if e := s.probe(ctx, server); ctx.Err() == nil {
					results <- result{server, e}
				}
			})
		}
		return len(due) == batch
	})
	probes.Wait()
	close(results)
	writer.Wait()
}

// everyLook calls f immediately and then every second, until ctx ends. While f returns true, everyLook calls it again without a pause.
func (*Service) everyLook(ctx context.Context, f func() (more bool)) {
	ticker := time.NewTicker(searchInterval)
	defer ticker.Stop()
	for ctx.Err() == nil {
		if f() {
			continue
		}
		select {
		case <-ctx.Done():
		case <-ticker.C:
		}
	}
}

// dueServers leases at most limit servers that are due.
func (s *Service) dueServers(ctx context.Context, limit int) []sip.WatchedServer {
	if limit == 0 {
		return nil
	}
	now := s.cfg.Clock.Now()
	taking, cancel := context.WithTimeout(ctx, storePatience)
	defer cancel()
	due, err := s.cfg.Statuses.ClaimServers(taking, now, now.Add(lease), limit)
	if ctx.Err() == nil {
		s.leasing.Note(ctx, s.cfg.Logger, "cannot lease servers to probe", err)
	}
	return due
}

// probe probes a server with a timeout, and returns the evidence.
func (s *Service) probe(ctx context.Context, w sip.WatchedServer) health.Evidence {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	e := s.cfg.Prober.Options(ctx, w.Server, w.Verify)
	e.At = s.cfg.Clock.Now()
	return e
}

// writeLoop writes results until the channel is closed, several in one transaction.
func (s *Service) writeLoop(ctx context.Context, results <-chan result) {
	ctx = context.WithoutCancel(ctx) // results are written even after ctx has ended
	for first := range results {
		writeAll(ctx, s, "results of probes were not written", gather(first, results), s.storeProbe)
	}
}

// gather returns the first result and further results that arrive within writeDelay, at most batch results.
func gather(first result, results <-chan result) []result {
	found := []result{first}
	timer := time.NewTimer(writeDelay)
	defer timer.Stop()
	for len(found) < batch {
		select {
		case r, ok := <-results:
			if !ok {
				return found
			}
			found = append(found, r)
		case <-timer.C:
			return found
		}
	}
	return found
}

// writeAll writes items in one transaction. If that fails, a single item may be the cause, so writeAll writes each item in its own
// transaction. Items that cannot be written are leased again after their lease ends.
func writeAll[T any](
	ctx context.Context, s *Service, failure string, items []T, write func(ctx context.Context, item T, again bool) error,
) {
	if err := writeTogether(ctx, s, items, write); err == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, storePatience)
	defer cancel()
	failed := 0
	var last error
	for _, item := range items {
		if err := writeTogether(ctx, s, []T{item}, write); err != nil {
			failed, last = failed+1, err
		}
	}
	if failed > 0 {
		s.cfg.Logger.ErrorContext(ctx, failure, "count", failed, "error", last)
	}
}

// writeTogether writes items in one transaction. After a conflict with another writer, it calls write with again set, and write must then
// read the item again.
func writeTogether[T any](
	ctx context.Context, s *Service, items []T, write func(ctx context.Context, item T, again bool) error,
) error {
	ctx, cancel := context.WithTimeout(ctx, storePatience)
	defer cancel()
	again := false
	return callwright.Retry(ctx, func(ctx context.Context) error {
		err := s.cfg.Atomic.Do(ctx, func(ctx context.Context) error {
			for _, item := range items {
				if err := write(ctx, item, again); err != nil {
					return err
				}
			}
			return nil
		})
		again = true
		return err
	})
}

// storeProbe stores a server with the result of a probe. If again is set, it first reads the server again, and applies the evidence to it.
// It ignores a server that no trunk names any more.
func (s *Service) storeProbe(ctx context.Context, r result, again bool) error {
	w := r.server
	if again {
		var err error
		if w, err = s.cfg.Statuses.Server(ctx, w.Org, keyOf(w)); errors.Is(err, callwright.ErrNotFound) {
			return nil
		} else if err != nil {
			return err
		}
	}
	err := s.store(ctx, w, probed(w, r.evidence))
	if errors.Is(err, callwright.ErrNotFound) {
		return nil
	}
	return err
}

// store stores a changed server. If its state has changed, the statuses of the trunks that name it become due.
func (s *Service) store(ctx context.Context, before, after sip.WatchedServer) error {
	if err := s.cfg.Statuses.StoreServer(ctx, after); err != nil {
		return err
	}
	if before.Health.State == after.Health.State {
		return nil
	}
	if was, is := before.Health.State.Public(), after.Health.State.Public(); was != is {
		s.cfg.Logger.InfoContext(ctx, "a server of trunks is "+string(is), "org", after.Org,
			"server", after.Server.String(), "reason", after.Health.Reason)
	}
	return s.cfg.Statuses.WakeStatuses(ctx, after.Org, keyOf(after), after.Health.CheckedAt)
}
