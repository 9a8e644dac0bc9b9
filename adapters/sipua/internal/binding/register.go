package binding

import (
	"context"
	"errors"
	"net/netip"
	"strconv"
	"time"

	"github.com/emiago/sipgo/sip"

	"github.com/callwright/callwright/adapters/sipua/internal/auth"
	"github.com/callwright/callwright/adapters/sipua/internal/message"
	"github.com/callwright/callwright/adapters/sipua/internal/peer"
	"github.com/callwright/callwright/adapters/sipua/internal/transport"
	"github.com/callwright/callwright/sip/dialog"
	"github.com/callwright/callwright/sip/registration"
)

const unregisterTimeout = 5 * time.Second

// Register creates or refreshes a trunk's binding and returns its duration: see registration.Line. It returns a *registration.Refusal if
// the server refuses.
func (c *Client) Register(ctx context.Context, wanted registration.Binding) (time.Duration, error) {
	b := c.of(wanted.TrunkID)
	b.requesting.Lock()
	defer b.requesting.Unlock()
	conn, err := c.connect(ctx, b, wanted)
	if err != nil {
		if ctx.Err() != nil {
			return 0, errors.New("the registration was canceled")
		}
		return 0, errors.New("no TLS connection: " + peer.Reason(err))
	}
	res, err := b.register(ctx, wanted.Expires)
	b.unknown = errors.Is(err, context.Canceled)
	if err != nil {
		return 0, err
	}
	granted := b.granted(res, wanted.Expires)
	if granted <= 0 {
		return 0, &registration.Refusal{Code: res.StatusCode, Reason: "the server does not keep the registration"}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	b.flow, b.until, b.lost = flowOf(b, conn, res), time.Now().Add(granted), wanted.Lost
	return granted, nil
}

// Unregister deletes a trunk's binding, also at the server unless it has expired: see registration.Line.
func (c *Client) Unregister(ctx context.Context, trunkID string) {
	b, bound := c.unbind(trunkID)
	if b == nil {
		return
	}
	b.requesting.Lock()
	defer b.requesting.Unlock()
	ctx, cancel := context.WithTimeout(ctx, unregisterTimeout)
	defer cancel()
	if bound || b.unknown {
		_, err := c.connect(ctx, b, b.wanted)
		if err == nil {
			_, err = b.register(ctx, 0)
		}
		if err != nil {
			c.cfg.Logger.Info("registration not removed", "trunk", trunkID, "error", err)
		}
	}
	if b.stack != nil {
		c.cfg.Pool.Release(b.profile)
	}
}

// connect returns the open connection to a binding's server, or opens one. It stores wanted in the binding.
func (c *Client) connect(ctx context.Context, b *binding, wanted registration.Binding) (sip.Connection, error) {
	pool, profile := c.cfg.Pool, transport.NewProfile(wanted.Verify, wanted.Server.Host)
	if b.stack != nil && b.profile != profile {
		pool.Release(b.profile)
		b.stack = nil
	}
	if b.stack == nil {
		if b.stack = pool.Hold(profile); b.stack == nil {
			return nil, transport.ErrClosed
		}
	}
	if b.profile != profile || b.wanted.Server.Port != wanted.Server.Port {
		b.address = netip.AddrPort{}
	}
	b.profile, b.wanted = profile, wanted
	c.identify(b)
	if conn := b.stack.Existing(b.address); conn != nil {
		return conn, nil
	}
	targets, err := pool.Targets(ctx, wanted.Server)
	if err != nil {
		return nil, err
	}
	for _, to := range targets {
		var conn sip.Connection
		if conn, err = b.stack.Connect(ctx, to.Address); err == nil {
			b.address = to.Address
			return conn, nil
		}
	}
	return nil, err
}

// identify sets the identity in a binding's REGISTERs. The address of record is the username at the server, and the Contact's user part
// comes from the trunk.
func (c *Client) identify(b *binding) {
	record := sip.Uri{Scheme: "sip", User: b.wanted.Credentials.Username, Host: message.Bracketed(b.wanted.Server.Host)}
	b.id.Local, b.id.Remote = message.Party{URI: record}, message.Party{URI: record}
	b.id.Contact = *c.cfg.Contact.Clone()
	b.id.Contact.User = b.wanted.User
	b.id.Via, b.id.Agent = c.cfg.Contact, c.cfg.Agent
}

// maxChallenges is the maximum number of challenges that one registration answers, from the server and from proxies before it.
const maxChallenges = 5

// register sends a REGISTER. It repeats the REGISTER to answer challenges, and without a flow after a 439. It returns a 2xx response, a
// *registration.Refusal for any other final response, or another error if there is no response.
func (b *binding) register(ctx context.Context, expires time.Duration) (*sip.Response, error) {
	answers := &auth.Answers{}
	for tries := 0; ; tries++ {
		res, err := b.exchange(ctx, answers, expires)
		switch {
		case err != nil:
			return nil, err
		case res.IsSuccess():
			return res, nil
		case res.StatusCode == statusNoOutbound && !b.plain:
			b.plain = true // a proxy on the path does not support flows (RFC 5626, 4.2.1)
			continue
		case res.StatusCode != sip.StatusUnauthorized && res.StatusCode != sip.StatusProxyAuthRequired,
			tries == maxChallenges, !answers.Add(res):
			return nil, refusalFrom(res)
		}
	}
}

// exchange sends one REGISTER and returns its final response. It returns the error of ctx if ctx is canceled.
func (b *binding) exchange(ctx context.Context, answers *auth.Answers, expires time.Duration) (
	*sip.Response, error,
) {
	target := b.wanted.Server
	b.cseq++
	req, err := b.id.Request(dialog.Send{
		Method: dialog.Method(sip.REGISTER), CSeq: b.cseq, Via: dialog.Path{RequestURI: target.String()},
	})
	if err != nil {
		return nil, err
	}
	req.Via().Params.Add("rport", "")
	b.addContact(req, expires)
	req.AppendHeader(sip.NewHeader("Expires", message.Seconds(expires)))
	req.SetBody(nil)
	if err := answers.Authorize(req, b.wanted.Credentials); err != nil {
		return nil, err
	}
	tx, err := b.stack.Request(ctx, req, b.address)
	if err != nil {
		return nil, err
	}
	defer tx.Terminate()
	for {
		select {
		case res := <-tx.Responses():
			if !res.IsProvisional() {
				return res, nil
			}
		case <-tx.Done():
			return nil, errors.New("the server did not answer")
		case <-ctx.Done():
			if errors.Is(ctx.Err(), context.DeadlineExceeded) {
				return nil, errors.New("the server did not answer in time")
			}
			return nil, ctx.Err()
		}
	}
}

// refusalFrom converts the final response to a failed registration to a Refusal.
func refusalFrom(res *sip.Response) *registration.Refusal {
	r := &registration.Refusal{
		Code: res.StatusCode, Reason: message.StatusLine(res.StatusCode, message.Printable(res.Reason)), RetryAfter: message.ReadRetryAfter(res),
		Auth: res.StatusCode == sip.StatusUnauthorized || res.StatusCode == sip.StatusProxyAuthRequired,
	}
	if h := res.GetHeader("Min-Expires"); h != nil && res.StatusCode == statusIntervalTooBrief {
		r.MinExpires = message.ReadSeconds(h.Value())
	}
	return r
}

const statusIntervalTooBrief = 423

// receivedAs returns our address as the server reports it in received and rport of the Via (RFC 3581, section 4). It returns the zero value
// if either is missing.
func receivedAs(res *sip.Response) netip.AddrPort {
	via := res.Via()
	if via == nil {
		return netip.AddrPort{}
	}
	address, err := netip.ParseAddr(message.TrimBrackets(via.Params.GetOr("received", "")))
	port, portErr := strconv.ParseUint(via.Params.GetOr("rport", ""), 10, 16)
	if err != nil || portErr != nil || port == 0 {
		return netip.AddrPort{}
	}
	return netip.AddrPortFrom(address.Unmap().WithZone(""), uint16(port))
}
