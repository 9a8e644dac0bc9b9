package sipua

import (
	"context"
	"errors"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/emiago/sipgo/sip"

	"github.com/callwright/callwright/sip/dialog"
	"github.com/callwright/callwright/sip/registration"
)

const unregisterTimeout = 5 * time.Second

var _ registration.Line = (*UA)(nil)

// Register makes or refreshes a binding: see registration.Line.
func (u *UA) Register(ctx context.Context, b registration.Binding) (time.Duration, error) {
	r := u.bindings.of(b.TrunkID)
	r.asking.Lock()
	defer r.asking.Unlock()
	conn, err := u.reachRegistrar(ctx, r, b)
	if err != nil {
		return 0, errors.New(unreachable(ctx, err).Reason)
	}
	res, err := u.register(ctx, r, b.Expires)
	r.open = errors.Is(err, context.Canceled)
	if err != nil {
		return 0, err
	}
	granted := r.granted(res, b.Expires)
	if granted <= 0 {
		return 0, &registration.Refusal{Code: res.StatusCode, Reason: "the server does not keep the registration"}
	}
	u.bindings.mu.Lock()
	defer u.bindings.mu.Unlock()
	r.way, r.until, r.lost = way{r.stack, r.address, conn, seenAs(res)}, time.Now().Add(granted), b.Lost
	return granted, nil
}

// Unregister takes a binding back: see registration.Line.
func (u *UA) Unregister(ctx context.Context, trunkID string) {
	r, bound := u.bindings.remove(trunkID)
	if r == nil {
		return
	}
	r.asking.Lock()
	defer r.asking.Unlock()
	ctx, cancel := context.WithTimeout(ctx, unregisterTimeout)
	defer cancel()
	if bound || r.open {
		_, err := u.reachRegistrar(ctx, r, r.with)
		if err == nil {
			_, err = u.register(ctx, r, 0)
		}
		if err != nil {
			u.log.Info("registration was not taken back", "trunk", trunkID, "error", err)
		}
	}
	if r.stack != nil {
		u.stacks.release(r.profile)
	}
}

// reachRegistrar gives the connection to a binding's server: the one that it has, or a new one.
func (u *UA) reachRegistrar(ctx context.Context, r *binding, b registration.Binding) (sip.Connection, error) {
	p := profileOf(b.Verify, b.Server.Host)
	if r.stack != nil && r.profile != p {
		u.stacks.release(r.profile)
		r.stack = nil
	}
	if r.stack == nil {
		r.stack = u.stacks.acquire(p)
		if r.stack == nil {
			return nil, errClosed
		}
	}
	if r.profile != p || r.with.Server.Port != b.Server.Port {
		r.address = netip.AddrPort{}
	}
	r.profile, r.with = p, b
	u.describe(r)
	if conn := r.stack.existing(r.address); conn != nil {
		return conn, nil
	}
	targets, err := u.targets(ctx, b.Server)
	if err != nil {
		return nil, err
	}
	for _, to := range targets {
		var conn sip.Connection
		if conn, err = r.stack.hold(ctx, to.Address); err == nil {
			r.address = to.Address
			return conn, nil
		}
	}
	return nil, err
}

// describe says who registers, as what: the address of record is the user name at the server, the Contact our number.
func (u *UA) describe(r *binding) {
	who := sip.Uri{Scheme: "sip", User: r.with.Credentials.Username, Host: bracketed(r.with.Server.Host)}
	r.id.local, r.id.remote = party{uri: who}, party{uri: who}
	r.id.contact = *u.contact.Clone()
	r.id.contact.User = r.with.Number.String()
	r.id.via, r.id.agent = u.contact, u.config.UserAgent
}

// register asks for a binding, and answers challenges: one of the server and one of a proxy, and one of them again when
// its nonce has become stale. The response is a success.
func (u *UA) register(ctx context.Context, r *binding, expires time.Duration) (*sip.Response, error) {
	answers := map[string]*challenge{}
	renewed := false
	for {
		res, err := r.exchange(ctx, answers, expires)
		switch {
		case err != nil:
			return nil, err
		case res.IsSuccess():
			return res, nil
		case res.StatusCode != sip.StatusUnauthorized && res.StatusCode != sip.StatusProxyAuthRequired:
			return nil, refusalFrom(res)
		}
		ch := strongest(res)
		if ch == nil {
			return nil, refusalFrom(res)
		}
		if answers[ch.header] != nil {
			if !ch.Stale || renewed {
				return nil, refusalFrom(res)
			}
			renewed = true
		}
		answers[ch.header] = ch
	}
}

// exchange sends one REGISTER and waits for its final answer.
func (r *binding) exchange(ctx context.Context, answers map[string]*challenge, expires time.Duration) (
	*sip.Response, error,
) {
	target := r.with.Server
	r.cseq++
	req, err := r.id.request(dialog.Send{
		Method: dialog.Method(sip.REGISTER), CSeq: r.cseq, Via: dialog.Path{RequestURI: target.String()},
	})
	if err != nil {
		return nil, err
	}
	req.Via().Params.Add("rport", "")
	contact := &sip.ContactHeader{Address: r.id.contact}
	contact.Params.Add("expires", seconds(expires))
	req.AppendHeader(contact)
	req.AppendHeader(sip.NewHeader("Expires", seconds(expires)))
	for _, ch := range answers {
		if err := ch.authorize(req, r.with.Credentials); err != nil {
			return nil, err
		}
	}
	req.SetBody(nil)
	tx, err := r.stack.request(ctx, req, r.address)
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
			return nil, ctx.Err()
		}
	}
}

func refusalFrom(res *sip.Response) *registration.Refusal {
	r := &registration.Refusal{
		Code: res.StatusCode, Reason: statusLine(res.StatusCode, printable(res.Reason)), RetryAfter: readRetryAfter(res),
		Auth: res.StatusCode == sip.StatusUnauthorized || res.StatusCode == sip.StatusProxyAuthRequired,
	}
	if h := res.GetHeader("Min-Expires"); h != nil && res.StatusCode == statusIntervalTooBrief {
		r.MinExpires = readSeconds(h.Value())
	}
	return r
}

const statusIntervalTooBrief = 423

// granted is for how long a success keeps us: as it says of our Contact, else of all, else what was asked for.
func (r *binding) granted(res *sip.Response, asked time.Duration) time.Duration {
	for _, h := range res.GetHeaders("Contact") {
		c, ok := h.(*sip.ContactHeader)
		if !ok || c.Address.User != r.id.contact.User || !strings.EqualFold(c.Address.Host, r.id.contact.Host) ||
			c.Address.Port != r.id.contact.Port {
			continue
		}
		if text, ok := c.Params.Get("expires"); ok {
			return readSeconds(text)
		}
	}
	if h := res.GetHeader("Expires"); h != nil {
		return readSeconds(h.Value())
	}
	return asked
}

// seenAs is where a request came from that was sent with rport, as its answer says (RFC 3581, section 4).
func seenAs(res *sip.Response) netip.AddrPort {
	via := res.Via()
	if via == nil {
		return netip.AddrPort{}
	}
	address, err := netip.ParseAddr(trimBrackets(via.Params.GetOr("received", "")))
	port, portErr := strconv.ParseUint(via.Params.GetOr("rport", ""), 10, 16)
	if err != nil || portErr != nil || port == 0 {
		return netip.AddrPort{}
	}
	return netip.AddrPortFrom(address.Unmap().WithZone(""), uint16(port))
}
