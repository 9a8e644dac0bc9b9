package transport

import (
	"net/netip"

	"github.com/emiago/sipgo/sip"

	"github.com/callwright/callwright/adapters/sipua/internal/message"
)

// Framer is the framer of one connection.
type Framer = framer

// MaxMessage is the longest message.
const MaxMessage = maxMessage

// The limits of a message's head.
const (
	MaxLines = message.MaxLines
	MaxParts = message.MaxParts
)

// Feed takes the bytes of one read.
func (f *framer) Feed(data []byte) (whole []sip.Message, refusals []string, err error) {
	return f.feed(data)
}

// Held returns the number of bytes that wait for the rest of their message.
func (f *framer) Held() int { return len(f.part) }

// Counted reports whether a connection is counted.
func (l *Listener) Counted(remote netip.AddrPort) bool { return l.connection(remote) != nil }
