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

// maxAddresses is how many of a server's addresses one probe asks.
const maxAddresses = 3

// maxRetryAfter bounds how long a server may ask to be left alone.
const maxRetryAfter = time.Hour

// Options asks a server with OPTIONS over TLS until ctx ends: its addresses in the order in which a call would try them,
// each for its share of the time, until one is alive. The connection stays for the next probe.
func (p *Prober) Options(ctx context.Context, s failover.Server, verify trunk.TLSVerification) health.Evidence {
	server := uri.URI{Scheme: uri.SIP, Host: s.Host, Port: s.Port}
	targets, err := p.config.Resolver.Targets(ctx, server)
	if err != nil {
		return health.Evidence{At: p.config.Clock.Now(), Reason: callwright.MessageOf(err)}
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

// options asks one address, which gets one of so many shares of the time that is left.
func (p *Prober) options(
	ctx context.Context, s failover.Server, verify trunk.TLSVerification, target resolve.Target, shares int,
) health.Evidence {
	if end, ok := ctx.Deadline(); ok && shares > 1 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Until(end)/time.Duration(shares))
		defer cancel()
	}
	r, took, err := p.exchange(ctx, flow{target.Address, s.Host, verify}, targetOf("", s.Host, s.Port, uri.TLS))
	if err != nil {
		return health.Evidence{At: p.config.Clock.Now(), Reason: reasonOf(err)}
	}
	return evidenceOf(r, took, p.config.Clock.Now())
}

// exchange asks over a connection that is there, or over a new one: also when the server has closed the old one
// meanwhile.
func (p *Prober) exchange(ctx context.Context, f flow, target string) (response, time.Duration, error) {
	if !isHost(f.host) {
		return response{}, 0, errHost
	}
	q := p.question(target, uri.TLS)
	if c := p.idle.take(f); c != nil {
		r, took, err := p.askAndPark(ctx, f, c, q)
		if err == nil || !peer.Closed(err) {
			return r, took, err
		}
	}
	c, err := p.connect(ctx, f.address, uri.TLS, peer.Client(p.tls, f.verify, f.host))
	if err != nil {
		return response{}, 0, err
	}
	return p.askAndPark(ctx, f, c, q)
}

func (p *Prober) askAndPark(ctx context.Context, f flow, c *connection, q question) (response, time.Duration, error) {
	r, took, err := c.ask(ctx, q)
	if err != nil {
		_ = c.Close()
	} else {
		p.idle.park(f, c, p.config.Clock.Now())
	}
	return r, took, err
}

// evidenceOf says what an answer means for the server's health: whoever refuses OPTIONS is alive, and out of order is who
// says so, or whose own server does not answer.
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

// retryAfter reads the seconds of a Retry-After header (RFC 3261, 20.33); 0 without one.
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
