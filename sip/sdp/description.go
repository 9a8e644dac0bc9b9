package sdp

import (
	"cmp"
	"log/slog"
	"net/netip"
	"strings"
	"time"
)

// Description is a session description that was parsed from a peer's text, or that Offer or Answer has created. It is immutable.
type Description struct {
	sealed     sealed[string] // text of the description, including keys
	origin     origin         // only in our own descriptions; a peer's o= line is ignored
	streams    []stream
	publicOnly bool // Capabilities.PublicOnly of our own description
	active     int  // in our own descriptions, index of the stream with the call's audio; otherwise -1
}

// origin contains the numbers of our o= line (RFC 8866, section 5.2).
type origin struct {
	session uint64 // constant for the whole dialog
	version uint64 // increases by 1 with every change
}

// stream is one m= line with its attributes, including inherited session-level ones.
type stream struct {
	kind      string
	port      uint16 // 0 if refused or switched off
	proto     string
	list      string // formats as written in the m= line, which a refusal repeats
	formats   []format
	address   netip.Addr // invalid if it is a host name or not supported
	connected bool       // a c= line applies, even if its address is not usable
	rtcp      netip.AddrPort
	direction Direction
	ptime     time.Duration
	maxPtime  time.Duration
	crypto    []Crypto // only usable lines
}

const (
	protoSAVP  = "RTP/SAVP"
	protoSAVPF = "RTP/SAVPF"
)

func (s *stream) isAudio() bool { return s.kind == "audio" && s.port != 0 }

func (s *stream) isSecure() bool {
	return (s.proto == protoSAVP || s.proto == protoSAVPF) && len(s.crypto) > 0
}

// held reports whether the stream is on hold by its connection address, 0.0.0.0 or :: (RFC 2543).
func (s *stream) held() bool { return s.address.IsUnspecified() }

// effectiveDirection returns the stated direction of the stream. If the stream is held by its address, the result does not include
// receiving.
func (s *stream) effectiveDirection() Direction {
	if s.held() {
		return s.direction.And(SendOnly)
	}
	return s.direction
}

// find returns the first format of a codec, or false if the stream does not list it.
func (s *stream) find(c Codec) (format, bool) {
	for _, f := range s.formats {
		if f.codec() == c {
			return f, true
		}
	}
	return format{}, false
}

// eventClocks returns the clock rates at which telephone-event may accompany a codec: the codec's rate, and the rate of G.711, which many
// peers use with any codec.
func eventClocks(codec Codec) []uint32 {
	if clock := codec.ClockRate(); clock != PCMU.ClockRate() {
		return []uint32{clock, PCMU.ClockRate()}
	}
	return []uint32{PCMU.ClockRate()}
}

// findEvent returns the telephone-event format with the given clock rate, or the zero format if there is none.
func (s *stream) findEvent(clock uint32) format {
	for _, f := range s.formats {
		if f.isEvent(clock) {
			return f
		}
	}
	return format{}
}

// The limits of the packet times that we send. All are multiples of leastPtime.
const (
	leastPtime = 10 * time.Millisecond
	mostPtime  = 60 * time.Millisecond
)

// packetTime returns the duration of audio in one packet to this stream's owner: the requested time, rounded down to a multiple of 10 ms,
// and at most the owner's maximum and 60 ms (RFC 8866, section 6.4). For Opus it never returns 30 or 50 ms, because Opus has no such
// packets. It returns 0 if the owner's maximum is below the shortest packet that we can send.
func (s *stream) packetTime(codec Codec) time.Duration {
	t := max(cmp.Or(s.ptime, DefaultPtime), leastPtime)
	if s.maxPtime != 0 {
		t = min(t, s.maxPtime)
	}
	t = min(t, mostPtime).Truncate(leastPtime)
	if codec == Opus && t > leastPtime {
		t = t.Truncate(2 * leastPtime)
	}
	return t
}

// takes reports whether we can send audio of a codec to this stream's owner.
func (s *stream) takes(codec Codec) bool {
	_, named := s.find(codec)
	return named && s.packetTime(codec) > 0
}

// Bytes returns the text of the description for the wire, including its keys.
func (d *Description) Bytes() []byte { return []byte(d.text()) }

func (d *Description) text() string {
	if text := d.sealed.open(); text != nil {
		return *text
	}
	return ""
}

// audio returns the first audio stream with a port other than 0, or nil.
func (d *Description) audio() *stream {
	for i := range d.streams {
		if d.streams[i].isAudio() {
			return &d.streams[i]
		}
	}
	return nil
}

// Codecs returns the codecs of the first audio stream that is not refused, in the stream's order. It omits unknown codecs.
func (d *Description) Codecs() []Codec {
	s := d.audio()
	if s == nil {
		return nil
	}
	var codecs []Codec
	for _, f := range s.formats {
		if c := f.codec(); c != "" {
			codecs = append(codecs, c)
		}
	}
	return codecs
}

// Direction returns the direction of the first audio stream that is not refused. If the stream is held by its address, the result does not
// include receiving. Direction returns Inactive if there is no such stream.
func (d *Description) Direction() Direction {
	if s := d.audio(); s != nil {
		return s.effectiveDirection()
	}
	return Inactive
}

// Secure reports whether the first audio stream that is not refused uses SRTP with Suite.
func (d *Description) Secure() bool {
	s := d.audio()
	return s != nil && s.isSecure()
}

// String returns the text of the description without its keys, for logs and timelines.
func (d *Description) String() string {
	var b strings.Builder
	for line := range strings.Lines(d.text()) {
		b.WriteString(withoutSecrets(strings.TrimRight(line, "\r\n")))
		b.WriteByte('\n')
	}
	return b.String()
}

// LogValue logs the description without its keys.
func (d *Description) LogValue() slog.Value { return slog.StringValue(d.String()) }

// withoutSecrets replaces the rest of a line, from the first secret on, with "[redacted]". Secrets are the values of k=, a=key-mgmt (MIKEY)
// and a=ice-pwd lines, and SDES keys.
func withoutSecrets(line string) string {
	for _, start := range [...]string{"k=", "a=key-mgmt:", "a=ice-pwd:"} {
		if len(line) >= len(start) && strings.EqualFold(line[:len(start)], start) {
			return line[:len(start)] + redacted
		}
	}
	const method = "inline:"
	for i := range len(line) - len(method) + 1 { // not with strings.ToLower, which may change the length
		if strings.EqualFold(line[i:i+len(method)], method) {
			return line[:i+len(method)] + redacted
		}
	}
	const attribute = "a=crypto:" // a line with an unknown method may also contain a key
	if len(line) >= len(attribute) && strings.EqualFold(line[:len(attribute)], attribute) {
		return attribute + redacted
	}
	return line
}
