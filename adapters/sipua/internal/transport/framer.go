package transport

import (
	"bytes"
	"errors"
	"slices"
	"sync/atomic"

	"github.com/emiago/sipgo/sip"

	"github.com/callwright/callwright/adapters/sipua/internal/message"
)

// maxMessage is the maximum size of a message in bytes. sipgo has the same limit.
const maxMessage = 65535

// errFraming means that the end of a message cannot be found, so that the connection must be closed.
var errFraming = errors.New("a SIP message without an end")

// framer splits the bytes of a connection into messages (RFC 3261, 18.3) and parses them. It drops excessive and malformed messages. sipgo
// itself would close the connection after such a message, although other calls use the connection. The zero value is ready to use. A framer
// is not safe for concurrent use.
type framer struct {
	part []byte // beginning of an incomplete message; at most maxMessage bytes plus one read
	seen int    // number of bytes of part in which no end of the headers was found
	need int    // length of the message in part; 0 until its headers are complete
	lost bool   // the end of a message cannot be found

	heard atomic.Int64 // Unix time of the last read in nanoseconds
}

// isKeepAlive reports whether the bytes of a read are a ping between messages, which requires a pong (RFC 5626, 3.5.1).
func (f *framer) isKeepAlive(data []byte) bool {
	const ping = 4 // length of two empty lines
	return len(f.part) == 0 && len(data) >= ping && len(bytes.Trim(data, "\r\n")) == 0
}

// feed processes the bytes of one read. It returns the valid messages that are now complete, and the responses to malformed and excessive
// requests. An empty response must not be sent. After errFraming the caller must close the connection.
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
		if len(whole) == 0 { // otherwise the next read fails, so that these messages are handled first
			err = errFraming
		}
	}
	return whole, refusals, err
}

// complete reports whether b begins with a complete message, and sets f.need to its length. It first removes empty lines.
func (f *framer) complete(b *[]byte) bool {
	if f.need == 0 {
		*b = bytes.TrimLeft(*b, "\r\n") // empty lines before a message are ignored (RFC 3261, 7.5)
		const blank = "\r\n\r\n"
		from := min(f.seen, len(*b))
		end := bytes.Index((*b)[from:], []byte(blank))
		if end < 0 {
			f.seen = max(0, len(*b)-len(blank)+1) // the last bytes may be the beginning of the blank line
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
