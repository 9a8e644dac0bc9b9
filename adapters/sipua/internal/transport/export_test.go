package transport

import (
	"net/netip"

	"github.com/emiago/sipgo/sip"

	"github.com/callwright/callwright/adapters/sipua/internal/message"
)

// Framer exports framer for tests.
type Framer = framer

// MaxMessage exports maxMessage for tests.
const MaxMessage = maxMessage

// The limits of a message's head, for tests.
const (
	MaxLines = message.MaxLines
	MaxParts = message.MaxParts
)

// Feed exports feed for tests.
func (f *framer) Feed(data []byte) (whole []sip.Message, refusals []string, err error) {
	return f.feed(data)
}

// Held returns the number of bytes of an incomplete message.
func (f *framer) Held() int { return len(f.part) }

// Counted reports whether the listener counts a connection as open.
func (l *Listener) Counted(remote netip.AddrPort) bool { return l.connection(remote) != nil }
