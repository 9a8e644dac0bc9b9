package sipua

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/emiago/sipgo/sip"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/sipua/internal/leg"
	"github.com/callwright/callwright/adapters/sipua/internal/message"
	"github.com/callwright/callwright/agents/call"
	trunk "github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/uri"
)

const statusMultipleChoices = 300

// hop is a target to which a call was redirected, and the attempt that the redirection ended.
type hop struct {
	contact message.Contact
	from    *outbound
	moved   leg.Redirection
}

// targetSet is the target set of a redirected call (RFC 3261, 8.1.3.4).
type targetSet struct {
	waiting []hop           // sorted by preference
	visited map[string]bool // targets already tried, so that loops are not followed
	refused []string        // skipped targets with the reasons
}

// redirected adds the contacts of the redirection that ended o to the waiting targets.
func (i *targetSet) redirected(o *outbound) {
	hops := make([]hop, 0, len(o.moved.Contacts)+len(i.waiting))
	for _, c := range o.moved.Contacts {
		hops = append(hops, hop{contact: c, from: o, moved: *o.moved})
	}
	i.waiting = append(hops, i.waiting...)
	message.SortContacts(i.waiting, func(h hop) float64 { return h.contact.Q })
}

// next returns the call to the next target that may be called, or nil if none is left. It records the targets that it skips.
func (i *targetSet) next() *outbound {
	for len(i.waiting) > 0 {
		h := i.waiting[0]
		i.waiting = i.waiting[1:]
		o, server, err := h.from.redirect(h)
		switch {
		case err != nil:
			i.refuse(h, callwright.MessageOf(err))
		case i.visited[visit(server, o.dial.To)]:
			i.refuse(h, "the call was already sent to this target")
		default:
			i.visited[visit(server, o.dial.To)] = true
			return o
		}
	}
	return nil
}

func (i *targetSet) refuse(h hop, why string) {
	i.refused = append(i.refused, message.Printable(h.contact.URI)+": "+why)
}

// maxRefused is the maximum number of skipped targets that a hangup reason lists.
const maxRefused = 3

// reason returns a text that lists the first maxRefused skipped targets, and the number of the others. If there are none, it states that
// the redirection contains no target.
func (i *targetSet) reason() string {
	switch n := len(i.refused); {
	case n == 0:
		return "the response names no Contact to call"
	case n > maxRefused:
		return strings.Join(i.refused[:maxRefused], "; ") + fmt.Sprintf("; and %d more", n-maxRefused)
	default:
		return strings.Join(i.refused, "; ")
	}
}

func visit(server uri.URI, number callwright.PhoneNumber) string {
	return fmt.Sprintf("%s:%d %s", server.Host, server.EffectivePort(), number)
}

// follow calls the targets of a redirected call one after the other. It stops when a target answers, declines for all targets (6xx) or
// rings too long, when no target is left, after MaxRedirects targets, after o.until, or when ctx ends. It returns the leg of the target
// that answered, or else the hangup reason of the target called most recently. If it called no target, it returns the given reason. If the
// reason is a redirection, its text lists the skipped targets.
func (o *outbound) follow(ctx context.Context, last call.HangupReason, tried int) (*leg.Leg, *call.HangupReason) {
	way := &targetSet{visited: map[string]bool{visit(o.last, o.dial.To): true}}
	way.redirected(o)
	status := o.moved.Status
	for range trunk.MaxRedirects {
		if ctx.Err() != nil || !time.Now().Before(o.until) {
			break
		}
		next := way.next()
		if next == nil {
			break
		}
		tried++
		l, ending, _ := next.try(ctx, next.last, tried)
		if ending == nil {
			return l, nil
		}
		last = *ending
		if next.moved != nil {
			status = next.moved.Status
			way.redirected(next)
			continue
		}
		last.Reason = strings.TrimSpace(last.Reason + " (redirected to " + next.place + ")")
		if last.SIPCode >= 600 || last.Cause == call.CauseNoAnswer && !last.ByPeer || last.Cause == call.CauseCancelled {
			return nil, &last
		}
	}
	for _, h := range way.waiting {
		way.refuse(h, fmt.Sprintf("a call follows at most %d redirections, and for at most %s", trunk.MaxRedirects, o.ua.limit))
	}
	if last.Cause == call.CauseRedirected {
		last.Reason = fmt.Sprintf("the other side redirected the call (%d): %s", status, way.reason())
	}
	return nil, &last
}

// redirect returns the call to a target of a redirection, and the server for it. It returns an error if the trunk's policy or the status
// does not allow the redirection.
func (o *outbound) redirect(h hop) (*outbound, uri.URI, error) {
	switch h.moved.Status {
	case statusMultipleChoices, sip.StatusMovedPermanently, sip.StatusMovedTemporarily, sip.StatusUseProxy:
	default:
		return nil, uri.URI{}, callwright.Errorf(callwright.CodeForbidden, "redirections with status %d are not followed, only those with 300, 301, 302 or 305", h.moved.Status)
	}
	route, server, number, err := o.route.Redirect(trunk.Redirection{
		Contact: h.contact.URI, Proxy: h.moved.Status == sip.StatusUseProxy, Called: o.dial.To, Peer: h.moved.Peer,
	})
	if err != nil {
		return nil, uri.URI{}, err
	}
	next := *o
	next.route, next.last, next.dial.To = route, server, number
	remote := o.identity(o.last).Remote
	next.to = cmp.Or(o.to, &remote)
	target := next.target(server)
	next.place = target.String()
	if route.Foreign {
		next.headers = nil
	}
	return &next, server, nil
}
