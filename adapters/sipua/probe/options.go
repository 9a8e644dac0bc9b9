package probe

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/sipua/internal/peer"
	trunk "github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/failover"
	"github.com/callwright/callwright/sip/health"
	"github.com/callwright/callwright/sip/resolve"
	"github.com/callwright/callwright/sip/uri"
)

// maxAddresses bounds the addresses of a server that one probe asks.
const maxAddresses = 3

// maxRetryAfter bounds a server's Retry-After.
const maxRetryAfter = time.Hour

// Options asks a server with OPTIONS over TLS until ctx ends: its addresses in the order in which a call would try them,
// each for its share of the time, until one is alive. The connection stays for the next probe.
func (p *Prober) Options(ctx context.Context, s failover.Server, verify trunk.TLSVerification) health.Evidence {
	server := uri.URI{Scheme: uri.SIP, Host: s.Host, Port: s.Port}
	targets, err := p.cfg.Resolver.Targets(ctx, server)
	if err != nil {
		return health.Evidence{At: p.cfg.Clock.Now(), Reason: callwright.MessageOf(err)}
	}
	targets = targets[:min(len(targets), maxAddresses)]
	var evidence health.Evidence
	for i, target := range targets {
		evidence = p.options(ctx, s, verify, target, len(targets)-i)
		if evidence.Alive || ctx.Err() != nil {
			break
		}
	}
	return evidence
}

// options asks one address, which gets one of the given number of shares of the remaining time.
func (p *Prober) options(
	ctx context.Context, s failover.Server, verify trunk.TLSVerification, target resolve.Target, shares int,
) health.Evidence {
	if end, ok := ctx.Deadline(); ok && shares > 1 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Until(end)/time.Duration(shares))
		defer cancel()
	}
	r, took, err := p.exchange(ctx, endpoint{target.Address, s.Host, verify}, targetOf("", s.Host, s.Port, uri.TLS))
	if err != nil {
		return health.Evidence{At: p.cfg.Clock.Now(), Reason: reasonOf(err)}
	}
	return evidenceOf(r, took, p.cfg.Clock.Now())
}

// exchange asks over an idle connection, or over a new one: also when the server has closed the idle one meanwhile.
func (p *Prober) exchange(ctx context.Context, e endpoint, target string) (response, time.Duration, error) {
	if !isHost(e.host) {
		return response{}, 0, errHost
	}
	q := p.request(target, uri.TLS)
	if c := p.idle.reuse(e); c != nil {
		r, took, err := p.askAndPark(ctx, e, c, q)
		if err == nil || !peer.Closed(err) {
			return r, took, err
		}
	}
	c, err := p.connect(ctx, e.address, uri.TLS, peer.Client(p.cfg.Credentials, p.known, e.verify, e.host))
	if err != nil {
		return response{}, 0, err
	}
	return p.askAndPark(ctx, e, c, q)
}

func (p *Prober) askAndPark(ctx context.Context, e endpoint, c *connection, q request) (response, time.Duration, error) {
	r, took, err := c.ask(ctx, q)
	if err != nil {
		_ = c.Close()
	} else {
		p.idle.park(e, c, p.cfg.Clock.Now())
	}
	return r, took, err
}

// evidenceOf returns an answer's evidence of the server's health. A server that refuses OPTIONS is alive; one that
// reports a fault of its own, or of the server behind it, is not.
func evidenceOf(r response, took time.Duration, now time.Time) health.Evidence {
	e := health.Evidence{At: now, ResponseTime: took, Reason: "the server answered " + strconv.Itoa(r.code)}
	switch r.code {
	case 408, 502, 503, 504:
		e.ResponseTime = 0
		e.RetryAfter = retryAfter(r)
	default:
		e.Alive = true
	}
	return e
}

// retryAfter returns the delay of a Retry-After header (RFC 3261, 20.33); 0 without one.
func retryAfter(r response) time.Duration {
	digits := r.header("Retry-After", "")
	if end := strings.IndexFunc(digits, func(c rune) bool { return c < '0' || c > '9' }); end >= 0 {
		digits = digits[:end]
	}
	seconds, err := strconv.ParseUint(digits, 10, 31)
	if err != nil {
		return 0
	}
	return min(time.Duration(seconds)*time.Second, maxRetryAfter)
}
