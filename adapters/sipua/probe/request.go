package probe

import (
	"net"
	"net/netip"
	"strconv"
	"strings"

	"github.com/callwright/callwright/sip/uri"
)

// magic is the prefix of every branch (RFC 3261, 8.1.1.7).
const magic = "z9hG4bK"

// request holds the values of an OPTIONS request (RFC 3261, 11.1).
type request struct {
	target    string // the Request-URI
	transport uri.Transport
	host      string // host in From; if empty, the local address
	agent     string
	token     string // random; used as Call-ID, and in the branch and the tag
}

// targetOf returns the Request-URI for a server. It contains no port if port is 0.
func targetOf(user, host string, port uint16, transport uri.Transport) string {
	u := uri.URI{Scheme: uri.SIP, User: user, Host: host, Port: port}
	if transport != uri.UDP { // UDP is the default of a SIP URI (RFC 3261, 19.1.2)
		u.Params = []uri.Param{{Name: "transport", Value: string(transport)}}
	}
	return u.String()
}

// write appends the request as text to b. local is the local address of the connection.
func (q request) write(b []byte, local net.Addr) []byte {
	from := q.host
	if from == "" {
		from = "localhost.invalid"
		if address, err := netip.ParseAddrPort(local.String()); err == nil {
			from = address.Addr().Unmap().String()
		}
	}
	add := func(texts ...string) {
		for _, text := range texts {
			b = append(b, text...)
		}
	}
	add("OPTIONS ", q.target, " SIP/2.0\r\n")
	add("Via: SIP/2.0/", strings.ToUpper(string(q.transport)), " ", local.String(), ";branch=", magic, q.token, ";rport\r\n")
	add("Max-Forwards: 70\r\nFrom: <", uri.URI{Scheme: uri.SIP, User: "callwright", Host: from}.String(), ">;tag=", q.token[:8])
	add("\r\nTo: <", q.target, ">\r\nCall-ID: ", q.token, "\r\nCSeq: ", sequence, "\r\nAccept: application/sdp\r\n")
	add("User-Agent: ", q.agent, "\r\nContent-Length: ")
	return append(strconv.AppendInt(b, 0, 10), "\r\n\r\n"...)
}

// sequence is the CSeq of every request. It can be constant because each request has a new Call-ID.
const sequence = "1 OPTIONS"
