package transport

import (
	"bytes"
	"errors"
	"slices"
	"sync/atomic"

	"github.com/emiago/sipgo/sip"

	"github.com/callwright/callwright/adapters/sipua/internal/message"
)

// maxMessage bounds one message, in bytes. It is sipgo's own bound.
const maxMessage = 65535

// errFraming ends a connection on which the end of a message cannot be found.
var errFraming = errors.New("a SIP message without an end")

// framer cuts the bytes of a connection into messages (RFC 3261, 18.3), parses them, and drops messages that are excessive or that
// sipgo cannot parse: sipgo itself would close the connection, although other requests and calls use it. The zero value is ready to
// use, by one goroutine.
type framer struct {
	part []byte // of a message whose end has not come; at most maxMessage and one read
	seen int    // bytes of part before which the headers do not end
	need int    // length of that message; 0 until its headers have come
	lost bool   // the next bytes end the connection

	heard atomic.Int64 // when the last bytes came, in nanoseconds since 1970
}

// isKeepAlive reports whether a read is a ping between messages, which wants a pong (RFC 5626, 3.5.1).
func (f *framer) isKeepAlive(data []byte) bool {
	const ping = 4 // two empty lines
	return len(f.part) == 0 && len(data) >= ping && len(bytes.Trim(data, "\r\n")) == 0
}

// feed takes the bytes of one read. It returns the well-formed messages that are complete now, and the responses to
// malformed requests. The caller closes the connection after errFraming.
func (f *framer) feed(data []byte) (whole []sip.Message, refusals []string, err error) {
	if f.lost {
		return nil, nil, errFraming
	}
	rest := slices.Concat(f.part, data)
	f.part = nil
	for f.complete(&rest) {
		text := rest[:f.need]
		rest, f.need = rest[f.need:], 0
		if message.IsExcessive(text) {
			refusals = append(refusals, message.ReadHead(text).Refusal())
			continue
		}
		msg, err := message.Parse(text)
		if err != nil {
			refusals = append(refusals, message.ReadHead(text).Refusal())
			continue
		}
		whole = append(whole, msg)
	}
	switch {
	case !f.lost && len(rest) > 0:
		f.part = rest
	case f.lost:
		refusals = append(refusals, message.ReadHead(rest).Refusal())
		if len(whole) == 0 { // otherwise its requests are answered first
			err = errFraming
		}
	}
	return whole, refusals, err
}

// complete reports whether b begins with a whole message, whose length is then f.need.
func (f *framer) complete(b *[]byte) bool {
	if f.need == 0 {
		*b = bytes.TrimLeft(*b, "\r\n") // RFC 3261, 7.5
		const blank = "\r\n\r\n"
		from := min(f.seen, len(*b))
		end := bytes.Index((*b)[from:], []byte(blank))
		if end < 0 {
			f.seen = max(0, len(*b)-len(blank)+1) // the blank line may have come in part
			f.lost = len(*b) > maxMessage
			return false
		}
		head := from + end + len(blank)
		length, known := message.ReadHead((*b)[:head]).ContentLength()
		f.seen, f.need = 0, head+length
		if f.lost = !known || f.need > maxMessage; f.lost {
			return false
		}
	}
	return len(*b) >= f.need
}
