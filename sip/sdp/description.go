package sdp

import (
	"cmp"
	"log/slog"
	"net/netip"
	"strings"
	"time"
)

// Description is a session description, parsed from a peer or made by Offer or Answer. It is immutable.
type Description struct {
	sealed     sealed[string] // the text, keys included
	origin     origin         // of our own descriptions; a peer's o= line is ignored
	streams    []stream
	publicOnly bool // from the Capabilities of our own description
	active     int  // index of the stream that carries the call's audio, -1 for none; of our own descriptions
}

// origin holds the numbers of our o= line (RFC 8866, 5.2).
type origin struct {
	session uint64 // stays for the whole dialog
	version uint64 // goes up by one with every change
}

// stream is one m= line with its attributes, including the session-level ones.
type stream struct {
	kind      string
	port      uint16 // 0: refused or switched off
	proto     string
	list      string // the m= line's formats as written, which a refusal repeats
	formats   []format
	address   netip.Addr // invalid for a name or an unsupported form
	connected bool       // a c= line, of any form, applies
	rtcp      netip.AddrPort
	direction Direction
	ptime     time.Duration
	maxPtime  time.Duration
	crypto    []Crypto // usable lines only
}

const (
	protoSAVP  = "RTP/SAVP"
	protoSAVPF = "RTP/SAVPF"
)

func (s *stream) isAudio() bool { return s.kind == "audio" && s.port != 0 }

func (s *stream) isSecure() bool {
	return (s.proto == protoSAVP || s.proto == protoSAVPF) && len(s.crypto) > 0
}

// held reports a hold as in RFC 2543: by a connection address of 0.0.0.0 or ::.
func (s *stream) held() bool { return s.address.IsUnspecified() }

// effectiveDirection returns the stated direction, without receiving for a stream that is held by its address.
func (s *stream) effectiveDirection() Direction {
	if s.held() {
		return s.direction.And(SendOnly)
	}
	return s.direction
}

// find returns the first format of a codec.
func (s *stream) find(c Codec) (format, bool) {
	for _, f := range s.formats {
		if f.codec() == c {
			return f, true
		}
	}
	return format{}, false
}

// eventClocks returns the clock rates for telephone-event beside a codec: the codec's rate, and the rate of G.711, which many peers
// use with any codec.
func eventClocks(codec Codec) []uint32 {
	if clock := codec.ClockRate(); clock != PCMU.ClockRate() {
		return []uint32{clock, PCMU.ClockRate()}
	}
	return []uint32{PCMU.ClockRate()}
}

// findEvent returns the telephone-event format with the given clock rate; the zero format without one.
func (s *stream) findEvent(clock uint32) format {
	for _, f := range s.formats {
		if f.isEvent(clock) {
			return f
		}
	}
	return format{}
}

// The packet times that are sent, in steps of the least one.
const (
	leastPtime = 10 * time.Millisecond
	mostPtime  = 60 * time.Millisecond
)

// packetTime returns the audio time of one packet to this stream's owner: the requested time, in steps of 10 ms, up to the owner's
// maximum and 60 ms (RFC 8866, 6.4). Opus has no packets of 30 and 50 ms. It returns 0 if the owner's maximum is below the shortest
// packet that can be sent.
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

// takes reports whether audio of a codec can be sent to this stream's owner.
func (s *stream) takes(codec Codec) bool {
	_, named := s.find(codec)
	return named && s.packetTime(codec) > 0
}

// Bytes returns the description for the wire, with its keys.
func (d *Description) Bytes() []byte { return []byte(d.text()) }

func (d *Description) text() string {
	if text := d.sealed.open(); text != nil {
		return *text
	}
	return ""
}

// audio returns the first live audio stream; nil without one.
func (d *Description) audio() *stream {
	for i := range d.streams {
		if d.streams[i].isAudio() {
			return &d.streams[i]
		}
	}
	return nil
}

// Codecs returns the known codecs of the first live audio stream, in its order.
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

// Direction returns the direction of the first live audio stream, without receiving if it is held by its address. It returns
// Inactive without such a stream.
func (d *Description) Direction() Direction {
	if s := d.audio(); s != nil {
		return s.effectiveDirection()
	}
	return Inactive
}

// Secure reports whether the first live audio stream is SRTP with Suite.
func (d *Description) Secure() bool {
	s := d.audio()
	return s != nil && s.isSecure()
}

// String returns the description without its keys, for logs and timelines.
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

// withoutSecrets cuts a line before a key: a k= line, MIKEY, ICE passwords, SDES.
func withoutSecrets(line string) string {
	for _, start := range [...]string{"k=", "a=key-mgmt:", "a=ice-pwd:"} {
		if len(line) >= len(start) && strings.EqualFold(line[:len(start)], start) {
			return line[:len(start)] + redacted
		}
	}
	const method = "inline:"
	for i := range len(line) - len(method) + 1 { // a lower-case copy may have another length
		if strings.EqualFold(line[i:i+len(method)], method) {
			return line[:i+len(method)] + redacted
		}
	}
	const attribute = "a=crypto:" // may hold a key even with an unknown method
	if len(line) >= len(attribute) && strings.EqualFold(line[:len(attribute)], attribute) {
		return attribute + redacted
	}
	return line
}
