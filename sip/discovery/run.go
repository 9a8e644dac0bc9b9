package discovery

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip/uri"
)

// user is in the Request-URI of the second question. Some systems refuse the first, others this one.
const user = "ping"

// run carries out a discovery until ctx ends. Its result is written in any case.
func (s *Service) run(ctx context.Context, d Discovery) {
	limited, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	hosts, err := s.lookUp(limited, &d)
	if err == nil {
		targets := plan(d, hosts, s.cfg.AllowPrivate)
		if !s.cfg.AllowPrivate {
			d.Addresses = slices.DeleteFunc(slices.Clone(d.Addresses), uri.IsPrivate) // nobody learns what a name means inside
		}
		s.save(limited, &d)
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
	s.save(last, &d)
}

// reason is why there is no recommendation.
func reason(d Discovery, targets []target) string {
	switch {
	case d.Recommended != nil:
		return ""
	case !slices.ContainsFunc(targets, func(t target) bool { return !t.private }):
		return "the host has private addresses only"
	default:
		return "nothing answered with SIP"
	}
}

// lookUp finds the host's records, and the addresses of those that SRV records name.
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
	if len(d.Addresses) > 0 || slices.ContainsFunc(d.SRV, func(r SRV) bool { return len(hosts[r.Target]) > 0 }) {
		err = nil
	}
	return hosts, err
}

// report is what came of one target.
type report struct {
	index  int
	answer Answer
}

// askAll asks all targets at once and writes the progress from time to time. The answers are in the order of the targets;
// nil is one that was not asked.
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
				s.save(ctx, d)
			}
		}
	}
}

// attempts are the answers without what only the recommendation needs.
func attempts(answers []*Answer) []Attempt {
	var list []Attempt
	for _, a := range answers {
		if a != nil {
			list = append(list, a.Attempt)
		}
	}
	return list
}

// ask tries the targets of one way in turn. After a handshake there is nothing more to find on the port.
func (s *Service) ask(ctx context.Context, host string, targets []target, way []int, reports chan<- report) {
	for _, i := range way {
		answer := s.try(ctx, host, targets[i])
		reports <- report{i, answer}
		if answer.TLS != nil {
			return
		}
	}
}

// try asks without a user part, and with one when that is not answered.
func (s *Service) try(ctx context.Context, host string, t target) Answer {
	p := Probe{Address: t.address, Transport: t.transport, Host: host}
	if t.private {
		hidden := netip.AddrPortFrom(netip.IPv4Unspecified(), t.address.Port())
		return Answer{Attempt: Attempt{Address: hidden, Transport: t.transport, Error: "the address is not a public one"}}
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
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return s.cfg.Prober.Probe(ctx, p)
}

// save writes a discovery, once more with the version that is stored when that is another: a write that has come through
// may have looked as if it had not.
func (s *Service) save(ctx context.Context, d *Discovery) {
	err := s.cfg.Store.Update(ctx, *d)
	if errors.Is(err, callwright.ErrConflict) {
		var stored Discovery
		if stored, err = s.cfg.Store.Get(ctx, d.Org, d.ID); err == nil {
			d.Version = stored.Version
			err = s.cfg.Store.Update(ctx, *d)
		}
	}
	if err != nil {
		s.cfg.Logger.Warn("a discovery could not be written", "discovery", d.ID, "error", err)
		return
	}
	d.Version++
}
