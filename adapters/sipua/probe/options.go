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

// maxAddresses is the maximum number of a server's addresses that one probe tries.
const maxAddresses = 3

// maxRetryAfter is the maximum delay that a server's Retry-After may request.
const maxRetryAfter = time.Hour

// Options sends OPTIONS over TLS to at most maxAddresses addresses of a server, in the order in which a call would try them, until one is
// alive or ctx ends. It returns the evidence of the last address that it tried, or the reason why the server has no address. If ctx has a
// deadline, each address receives an equal share of the remaining time. A connection that received a response stays open for the next
// probe, up to Config.MaxIdle connections.
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

// options probes one address. If ctx has a deadline, the probe takes at most the remaining time divided by shares.
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

// exchange sends a request over an idle connection. It opens a connection if there is no idle one, or if the server has closed the idle
// one.
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

// evidenceOf converts a response to evidence of the server's health. The statuses 408, 502, 503 and 504 mean that the server, or a server
// behind it, is not alive. A server that refuses OPTIONS with another status is alive.
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

// retryAfter returns the delay in a response's Retry-After header (RFC 3261, 20.33), at most maxRetryAfter. It returns 0 if there is no
// valid delay.
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
