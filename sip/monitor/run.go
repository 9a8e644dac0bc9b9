package monitor

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/alert"
	"github.com/callwright/callwright/sip/failover"
)

// The pace of a node's probes.
const (
	look     = time.Second             // how often it looks for trunks that are due
	patience = 5 * time.Second         // how long a server may take to answer
	parallel = 1000                    // trunks at once: enough for 10,000 a minute of which none answers
	batch    = 250                     // trunks to take, and to write, at once
	linger   = 100 * time.Millisecond  // how long a result waits for others to be written with
	lease    = 2 * callwright.LeaseTTL // how long other nodes leave a trunk alone: longer than to probe and to write it
)

// result holds the findings of one trunk's probes.
type result struct {
	status sip.Status // before the probes
	found  []finding
	at     time.Time
}

// Run probes the trunks that are due, until ctx ends. Then it writes what is found, and returns nil.
func (s *Service) Run(ctx context.Context) error {
	results := make(chan result)
	var probes, writer sync.WaitGroup
	writer.Go(func() { s.writeLoop(ctx, results) })
	slots := make(chan struct{}, parallel)
	ticker := time.NewTicker(look)
	defer ticker.Stop()
	for ctx.Err() == nil {
		due := s.due(ctx, min(parallel-len(slots), batch))
		for _, status := range due {
			slots <- struct{}{}
			probes.Go(func() {
				defer func() { <-slots }()
				if found := s.probe(ctx, status); ctx.Err() == nil {
					results <- result{status, found, s.cfg.Clock.Now()}
				}
			})
		}
		if len(due) == batch {
			continue // there may be more
		}
		select {
		case <-ctx.Done():
		case <-ticker.C:
		}
	}
	probes.Wait()
	close(results)
	writer.Wait()
	return nil
}

// due leases the trunks that are due.
func (s *Service) due(ctx context.Context, limit int) []sip.Status {
	if limit == 0 {
		return nil
	}
	now := s.cfg.Clock.Now()
	taking, cancel := context.WithTimeout(ctx, storePatience)
	defer cancel()
	due, err := s.cfg.Statuses.LeaseStatuses(taking, now, now.Add(lease), limit)
	if ctx.Err() == nil {
		s.leasing.Note(ctx, s.cfg.Logger, "cannot lease trunks to probe", err)
	}
	return due
}

// probe probes those of a trunk's servers that are due, concurrently.
func (s *Service) probe(ctx context.Context, status sip.Status) []finding {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	now := s.cfg.Clock.Now()
	var due []failover.Server
	for _, server := range status.Servers {
		if !server.ProbeAt.After(now) {
			due = append(due, server.Server)
		}
	}
	found := make([]finding, len(due))
	var asking sync.WaitGroup
	for i, server := range due {
		asking.Go(func() {
			e := s.cfg.Prober.Options(ctx, server, status.Verify)
			e.At = s.cfg.Clock.Now()
			found[i] = finding{server, e}
		})
	}
	asking.Wait()
	return found
}

// writeLoop writes results, many trunks in one transaction.
func (s *Service) writeLoop(ctx context.Context, results <-chan result) {
	ctx = context.WithoutCancel(ctx) // results are kept even at the end
	for first := range results {
		found := gather(first, results)
		if err := s.write(ctx, found); err != nil {
			s.writeEach(ctx, found)
		}
	}
}

// writeEach writes results one by one, after writing them together has failed: perhaps because of one trunk only. Lost
// results are probed again when the lease ends.
func (s *Service) writeEach(ctx context.Context, results []result) {
	ctx, cancel := context.WithTimeout(ctx, storePatience)
	defer cancel()
	failed := 0
	var last error
	for _, r := range results {
		if err := s.write(ctx, []result{r}); err != nil {
			failed, last = failed+1, fmt.Errorf("trunk %s: %w", r.status.TrunkID, err)
		}
	}
	if failed > 0 {
		s.cfg.Logger.ErrorContext(ctx, "results of probes were not written", "trunks", failed, "error", last)
	}
}

// gather waits for more results, up to linger.
func gather(first result, results <-chan result) []result {
	found := []result{first}
	timer := time.NewTimer(linger)
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

// write writes results in one transaction, and reads their statuses again after a conflict: a call or the trunk's owner
// was quicker.
func (s *Service) write(ctx context.Context, results []result) error {
	ctx, cancel := context.WithTimeout(ctx, storePatience)
	defer cancel()
	conflict := false
	return callwright.Retry(ctx, func(ctx context.Context) error {
		err := s.cfg.Atomic.Do(ctx, func(ctx context.Context) error {
			for _, r := range results {
				if err := s.record(ctx, r, conflict); err != nil {
					return err
				}
			}
			return nil
		})
		conflict = true
		return err
	})
}

// record writes one trunk's status, together with the alerts that it causes. A status that is read again gets the probe's
// evidence, unless the servers' certificates are verified in another way now.
func (s *Service) record(ctx context.Context, r result, again bool) error {
	status := r.status
	if again {
		var err error
		status, err = s.cfg.Statuses.Status(ctx, status.Org, status.TrunkID)
		switch {
		case errors.Is(err, callwright.ErrNotFound):
			return nil // the trunk is gone
		case err != nil:
			return err
		case status.Verify != r.status.Verify:
			return nil
		}
	}
	if err := s.put(ctx, status, r); !errors.Is(err, callwright.ErrNotFound) {
		return err
	}
	return nil // the trunk is gone
}

func (s *Service) put(ctx context.Context, status sip.Status, r result) error {
	next := probed(status, r.found, r.at)
	if !status.Alerting {
		if err := s.cfg.Statuses.PutStatus(ctx, next); err != nil {
			return err
		}
		s.report(ctx, status, next)
		return nil
	}
	trunk, err := s.cfg.Trunks.Trunk(ctx, status.Org, status.TrunkID)
	if err != nil {
		return err
	}
	var told []alert.Notice
	if next.Alerts, told, err = s.evaluate(ctx, trunk, status, next); err != nil {
		return err
	}
	if trunk.Alerts != nil {
		if at, ok := trunk.Alerts.Due(next.Alerts); ok && at.Before(next.ProbeAt) {
			next.ProbeAt = at
		}
	}
	if err := s.cfg.Statuses.PutStatus(ctx, next); err != nil {
		return err
	}
	s.report(ctx, status, next)
	return s.announce(ctx, trunk, told)
}

// report logs changes of a trunk.
func (s *Service) report(ctx context.Context, before, after sip.Status) {
	for i, server := range after.Servers {
		was, is := before.Servers[i].Health.State.Public(), server.Health.State.Public()
		if was != is {
			s.cfg.Logger.InfoContext(ctx, "a trunk's server is "+string(is), "trunk_id", after.TrunkID,
				"number", after.Number, "server", server.Server.String(), "reason", server.Health.Reason)
		}
	}
	if before.Active != after.Active {
		s.cfg.Logger.InfoContext(ctx, "a trunk's calls go to another server", "trunk_id", after.TrunkID,
			"number", after.Number, "server", after.Servers[after.Active].Server.String())
	}
}
