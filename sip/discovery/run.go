package discovery

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip/resolve"
	"github.com/callwright/callwright/sip/self"
	"github.com/callwright/callwright/sip/uri"
)

// user is the user part of the Request-URI in the second probe. Some systems respond only without a user part, others only with one.
const user = "ping"

// notPublic is the error of an Attempt at a private address.
const notPublic = "the address is not public"

// run executes a discovery until it finishes or ctx ends. In both cases it stores the result.
func (s *Service) run(ctx context.Context, d Discovery) {
	limited, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	hosts, err := s.lookUp(limited, &d)
	if err == nil {
		targets := plan(d, hosts, limits{s.cfg.AllowPrivate, s.cfg.Self})
		if !s.cfg.AllowPrivate {
			d.Addresses = slices.DeleteFunc(slices.Clone(d.Addresses), uri.IsPrivate) // private addresses must not be revealed
		}
		s.store(limited, &d)
		answers := s.askAll(limited, &d, targets)
		d.Recommended = recommend(targets, answers, s.cfg.Clock.Now())
		d.Reason = reason(d, targets)
	} else {
		d.Reason = callwright.MessageOf(err)
	}
	if ctx.Err() != nil {
		d.Recommended, d.Reason = nil, stopping
	}
	d.Status = Completed
	if d.Recommended == nil {
		d.Status = Failed
	}
	now := s.cfg.Clock.Now()
	d.CompletedAt = &now
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastSave)
	defer cancel()
	s.store(last, &d)
}

// reason returns why a discovery has no recommendation, or "" if it has one.
func reason(d Discovery, targets []target) string {
	switch {
	case d.Recommended != nil:
		return ""
	case !slices.ContainsFunc(targets, func(t target) bool { return !t.hidden }):
		return "the host has private addresses only"
	case slices.ContainsFunc(targets, func(t target) bool { return t.refused == self.Reason }):
		return "no other server answered with SIP: " + self.Reason
	default:
		return "nothing answered with SIP"
	}
}

// lookUp resolves the host's addresses and SRV records into d, and adds the addresses of the SRV records' targets to d.Addresses, up to
// resolve.MaxTargets. It also returns the targets' addresses by target. It returns an error only if it finds no address at all.
func (s *Service) lookUp(ctx context.Context, d *Discovery) (map[string][]netip.Addr, error) {
	ctx, cancel := context.WithTimeout(ctx, lookUp)
	defer cancel()
	records, err := s.cfg.Resolver.Records(ctx, d.Host)
	if err != nil {
		return nil, err
	}
	d.Addresses, d.SRV = records.Addresses, records.SRV
	hosts := map[string][]netip.Addr{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for _, record := range d.SRV {
		wg.Go(func() {
			found, failure := s.cfg.Resolver.Addresses(ctx, record.Target)
			mu.Lock()
			defer mu.Unlock()
			if hosts[record.Target] = found; failure != nil {
				err = failure
			}
		})
	}
	wg.Wait()
	for _, record := range d.SRV { // after the addresses of the host name itself
		for _, address := range hosts[record.Target] {
			if !slices.Contains(d.Addresses, address) && len(d.Addresses) < resolve.MaxTargets {
				d.Addresses = append(d.Addresses, address)
			}
		}
	}
	if len(d.Addresses) > 0 || slices.ContainsFunc(d.SRV, func(r SRV) bool { return len(hosts[r.Target]) > 0 }) {
		err = nil
	}
	return hosts, err
}

// report is the answer of a target, with the target's index.
type report struct {
	index  int
	answer Answer
}

// askAll probes all targets concurrently, and stores the progress periodically. It returns the answers in the order of targets; an answer
// is nil if its target was skipped.
func (s *Service) askAll(ctx context.Context, d *Discovery, targets []target) []*Answer {
	reports := make(chan report)
	var wg sync.WaitGroup
	for _, way := range ways(targets) {
		wg.Go(func() { s.ask(ctx, d.Host, targets, way, reports) })
	}
	go func() {
		wg.Wait()
		close(reports)
	}()
	answers := make([]*Answer, len(targets))
	ticker := time.NewTicker(saveEvery)
	defer ticker.Stop()
	saved := 0
	for {
		select {
		case r, ok := <-reports:
			if !ok {
				return answers
			}
			answers[r.index] = &r.answer
			d.Attempts = attempts(answers)
		case <-ticker.C:
			if len(d.Attempts) > saved {
				saved = len(d.Attempts)
				s.store(ctx, d)
			}
		}
	}
}

// attempts returns the Attempt of each answer that is not nil.
func attempts(answers []*Answer) []Attempt {
	var list []Attempt
	for _, a := range answers {
		if a != nil {
			list = append(list, a.Attempt)
		}
	}
	return list
}

// ask probes the targets of one group in turn, and stops after a successful TLS handshake.
func (s *Service) ask(ctx context.Context, host string, targets []target, way []int, reports chan<- report) {
	for _, i := range way {
		answer := s.try(ctx, host, targets[i])
		reports <- report{i, answer}
		if answer.TLS != nil {
			return
		}
	}
}

// try probes a target without a user part, and then with one if no response arrived. Without a TLS handshake it does not probe TLS a second
// time. It does not probe refused targets.
func (s *Service) try(ctx context.Context, host string, t target) Answer {
	p := Probe{Address: t.address, Transport: t.transport, Host: host}
	if t.refused != "" {
		shown := t.address
		if t.hidden {
			shown = netip.AddrPortFrom(netip.IPv4Unspecified(), t.address.Port())
		}
		return Answer{Attempt: Attempt{Address: shown, Transport: t.transport, Error: t.refused}}
	}
	answer := s.probe(ctx, p)
	connected := t.transport != uri.TLS || answer.TLS != nil
	if answer.Code == 0 && connected && ctx.Err() == nil {
		p.User = user
		answer = s.probe(ctx, p)
	}
	return answer
}

func (s *Service) probe(ctx context.Context, p Probe) Answer {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	return s.cfg.Prober.Probe(ctx, p)
}

// store stores a discovery and increments its Version. After a conflict it retries once with the stored Version, because an earlier write
// may have succeeded although it returned an error. It only logs failures.
func (s *Service) store(ctx context.Context, d *Discovery) {
	err := s.cfg.Store.Update(ctx, *d)
	if errors.Is(err, callwright.ErrConflict) {
		var stored Discovery
		if stored, err = s.cfg.Store.Get(ctx, d.Org, d.ID); err == nil {
			d.Version = stored.Version
			err = s.cfg.Store.Update(ctx, *d)
		}
	}
	if err != nil {
		s.cfg.Logger.Warn("a discovery was not written", "discovery", d.ID, "error", err)
		return
	}
	d.Version++
}
