package binding

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/emiago/sipgo/sip"

	"github.com/callwright/callwright/adapters/sipua/internal/message"
)

const statusNoOutbound = 439 // the SIP status First Hop Lacks Outbound Support

// instance returns the instance ID of a binding. It must be the same in each REGISTER, even after a restart or from another node (RFC 5626,
// 4.1). It is therefore derived from the Contact's user part, which is unique.
func (b *binding) instance() string {
	sum := sha256.Sum256([]byte(b.wanted.User))
	id := sum[:16]
	id[6], id[8] = id[6]&0x0f|0x80, id[8]&0x3f|0x80 // marks a UUID of version 8 (RFC 9562, 5.8)
	return fmt.Sprintf("<urn:uuid:%x-%x-%x-%x-%x>", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}

// addContact adds our Contact to a REGISTER. Unless plain is set, it also asks the registrar to call us over the connection of the REGISTER
// (RFC 5626).
func (b *binding) addContact(req *sip.Request, expires time.Duration) {
	contact := "<" + b.id.Contact.String() + ">"
	if !b.plain {
		contact += `;reg-id=1;+sip.instance="` + b.instance() + `"`
		req.AppendHeader(sip.NewHeader("Supported", "path, outbound"))
	}
	req.AppendHeader(sip.NewHeader("Contact", contact+";expires="+message.Seconds(expires)))
}

// granted returns the expiry of our Contact in a 2xx response, or else the response's Expires, or else the requested expiry. It returns 0
// if our Contact is missing, because a 2xx response lists all existing bindings (RFC 3261, 10.3, step 8).
func (b *binding) granted(res *sip.Response, asked time.Duration) time.Duration {
	c := b.ours(res)
	if c == nil {
		return 0
	}
	if text, ok := param(c, "expires"); ok {
		return message.ReadSeconds(text)
	}
	if h := res.GetHeader("Expires"); h != nil {
		return message.ReadSeconds(h.Value())
	}
	return asked
}

// ours returns our Contact among the bindings that a 2xx response lists (RFC 3261, 10.2.4), or nil if it is missing. Registrars may rewrite
// Contacts to the address that they see. ours therefore looks for our instance ID first, and then for our user part. If no Contact matches,
// ours returns the Contact without an instance ID that expires first.
func (b *binding) ours(res *sip.Response) *sip.ContactHeader {
	var all []*sip.ContactHeader
	for _, h := range res.GetHeaders("Contact") {
		if c, ok := h.(*sip.ContactHeader); ok && !c.Address.Wildcard {
			all = append(all, c)
		}
	}
	for _, is := range []func(*sip.ContactHeader) bool{
		func(c *sip.ContactHeader) bool {
			text, _ := param(c, "+sip.instance")
			return strings.EqualFold(strings.Trim(text, `"`), b.instance())
		},
		func(c *sip.ContactHeader) bool { return c.Address.User == b.id.Contact.User },
	} {
		if i := slices.IndexFunc(all, is); i >= 0 {
			return all[i]
		}
	}
	all = slices.DeleteFunc(all, func(c *sip.ContactHeader) bool { _, of := param(c, "+sip.instance"); return of })
	if len(all) == 0 {
		return nil
	}
	return slices.MinFunc(all, func(x, y *sip.ContactHeader) int { return int(expiry(x) - expiry(y)) })
}

func expiry(c *sip.ContactHeader) time.Duration {
	if text, ok := param(c, "expires"); ok {
		return message.ReadSeconds(text)
	}
	return time.Duration(1<<63 - 1) // without a parameter, the expiry of the whole response applies
}

// param returns the value of a Contact parameter. It ignores the case of the name.
func param(c *sip.ContactHeader, name string) (string, bool) {
	for _, p := range c.Params {
		if strings.EqualFold(p.K, name) {
			return p.V, true
		}
	}
	return "", false
}
