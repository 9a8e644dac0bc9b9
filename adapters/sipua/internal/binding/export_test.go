package binding

import (
	"net/netip"
	"time"

	"github.com/emiago/sipgo/sip"

	"github.com/callwright/callwright/adapters/sipua/internal/message"
	"github.com/callwright/callwright/sip/registration"
)

// ReadResponse passes a response to a REGISTER to each function that parses one. It returns false if data is no SIP response.
func ReadResponse(data []byte) (granted time.Duration, received netip.AddrPort, refused *registration.Refusal, ok bool) {
	msg, err := sip.ParseMessage(data)
	res, isResponse := msg.(*sip.Response)
	if !isResponse || err != nil {
		return 0, received, nil, false //nolint:nilerr // false says so
	}
	b := binding{id: message.Identity{Contact: sip.Uri{Scheme: "sip", User: "us", Host: "x.test", Port: 5061}}}
	return b.granted(res, time.Hour), receivedAs(res), refusalFrom(res), true
}
