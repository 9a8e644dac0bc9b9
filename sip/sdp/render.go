package sdp

import (
	"net/netip"
	"strconv"
	"strings"
	"time"
)

// rendered writes the text of one of our own descriptions, and returns d.
func (d *Description) rendered() *Description {
	b := make([]byte, 0, 640)
	address := d.streams[d.active].address
	b = append(b, "v=0\r\no=- "...)
	b = strconv.AppendUint(b, d.origin.session, 10)
	b = append(b, ' ')
	b = strconv.AppendUint(b, d.origin.version, 10)
	b = append(b, ' ')
	b = appendAddress(b, address)
	b = append(b, "\r\ns=-\r\nc="...)
	b = appendAddress(b, address)
	b = append(b, "\r\nt=0 0\r\n"...)
	for i := range d.streams {
		if i == d.active {
			b = d.streams[i].appendLines(b)
		} else {
			b = d.streams[i].appendRefusal(b)
		}
	}
	text := string(b)
	d.sealed = seal(&text)
	return d
}

func appendAddress(b []byte, address netip.Addr) []byte {
	family := "IN IP6 "
	if address.Is4() {
		family = "IN IP4 "
	}
	return address.AppendTo(append(b, family...))
}

// appendRefusal appends the m= line of a refused stream, with port 0 (RFC 3264, section 6).
func (s *stream) appendRefusal(b []byte) []byte {
	b = append(append(b, "m="...), s.kind...)
	b = append(append(b, " 0 "...), s.proto...)
	b = append(append(b, ' '), s.list...)
	return append(b, '\r', '\n')
}

func (s *stream) appendLines(b []byte) []byte {
	b = append(append(b, "m="...), s.kind...)
	b = strconv.AppendUint(append(b, ' '), uint64(s.port), 10)
	b = append(append(b, ' '), s.proto...)
	for _, f := range s.formats {
		b = strconv.AppendUint(append(b, ' '), uint64(f.pt), 10)
	}
	b = append(b, '\r', '\n')
	for _, f := range s.formats {
		b = f.appendLines(b)
	}
	b = strconv.AppendInt(append(b, "a=ptime:"...), int64(s.ptime/time.Millisecond), 10)
	b = append(b, '\r', '\n')
	for _, c := range s.crypto {
		b = c.appendLine(b)
	}
	b = append(append(b, "a="...), s.direction.String()...)
	return append(b, '\r', '\n')
}

// appendLines appends the a=rtpmap of the format, even for a static payload type, and its a=fmtp, if any.
func (f format) appendLines(b []byte) []byte {
	b = strconv.AppendUint(append(b, "a=rtpmap:"...), uint64(f.pt), 10)
	b = append(append(b, ' '), f.name...)
	b = strconv.AppendUint(append(b, '/'), uint64(f.clock), 10)
	if f.channels > 1 {
		b = strconv.AppendUint(append(b, '/'), uint64(f.channels), 10)
	}
	b = append(b, '\r', '\n')
	if f.fmtp != "" {
		b = strconv.AppendUint(append(b, "a=fmtp:"...), uint64(f.pt), 10)
		b = append(append(b, ' '), f.fmtp...)
		b = append(b, '\r', '\n')
	}
	return b
}

// equalName reports whether two encoding names are equal. They are case-insensitive (RFC 8866, section 6.6).
func equalName(a, b string) bool { return strings.EqualFold(a, b) }
