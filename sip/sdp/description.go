package sdp

import (
	"log/slog"
	"net/netip"
	"strings"
	"time"
)

// Description is one session description, parsed from a peer or made by Offer or Answer. It does not change.
type Description struct {
	sealed  sealed[string] // the text, keys included
	origin  origin         // of our own descriptions; a peer's o= line is not looked at
	streams []stream
	// transcode is that of the Capabilities that made the description.
	transcode bool
	active    int // index of the stream that carries the call's audio, -1 for none; of our own descriptions
}

// origin is what our o= line counts (RFC 8866, 5.2).
type origin struct {
	session uint64 // stays for the whole dialog
	version uint64 // goes up by one with every change
}

// stream is one m= line with what was said about it, session-level lines included.
type stream struct {
	kind      string
	port      uint16 // 0: refused or switched off
	proto     string
	list      string // the m= line's formats as written, to give them back when we refuse the stream
	formats   []format
	address   netip.Addr // invalid for a name or a form that we do not take
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

// held reports the way of RFC 2543 to hold: a connection address of 0.0.0.0 (or ::).
func (s *stream) held() bool { return s.address.IsUnspecified() }

// effectiveDirection is the stated direction, less receiving for a stream held by its address.
func (s *stream) effectiveDirection() Direction {
	if s.held() {
		return s.direction.And(SendOnly)
	}
	return s.direction
}

// find gives the first format that stands for the codec.
func (s *stream) find(c Codec) (format, bool) {
	for _, f := range s.formats {
		if f.codec() == c {
			return f, true
		}
	}
	return format{}, false
}

// eventClocks are the clocks that telephone-event may have beside a codec: the codec's, and that of G.711, under which
// many peers send their events whatever the codec is.
func eventClocks(codec Codec) []uint32 {
	if clock := codec.ClockRate(); clock != PCMU.ClockRate() {
		return []uint32{clock, PCMU.ClockRate()}
	}
	return []uint32{PCMU.ClockRate()}
}

// findEvent gives the telephone-event format with the given clock, and the zero format for none.
func (s *stream) findEvent(clock uint32) format {
	for _, f := range s.formats {
		if f.isEvent(clock) {
			return f
		}
	}
	return format{}
}

// packetTime is how long the audio of one packet to this stream's owner should be: what it asks for, within its maximum.
func (s *stream) packetTime() time.Duration {
	t := s.ptime
	if t == 0 {
		t = DefaultPtime
	}
	if s.maxPtime != 0 && t > s.maxPtime {
		t = s.maxPtime
	}
	return t
}

// Bytes is the description as it goes over the wire, with the keys in it.
func (d *Description) Bytes() []byte { return []byte(d.text()) }

func (d *Description) text() string {
	if text := d.sealed.open(); text != nil {
		return *text
	}
	return ""
}

// audio is the first live audio stream; nil for none.
func (d *Description) audio() *stream {
	for i := range d.streams {
		if d.streams[i].isAudio() {
			return &d.streams[i]
		}
	}
	return nil
}

// Codecs are the codecs that the first live audio stream lists, known ones only, in its order.
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

// Direction is that of the first live audio stream, less receiving for one that is held by its address; Inactive without
// such a stream.
func (d *Description) Direction() Direction {
	if s := d.audio(); s != nil {
		return s.effectiveDirection()
	}
	return Inactive
}

// Secure says whether the first live audio stream is SRTP under Suite.
func (d *Description) Secure() bool {
	s := d.audio()
	return s != nil && s.isSecure()
}

// String is the description with every key taken out: what a log or a call's timeline may show.
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

// withoutSecrets cuts a line where a key begins, whatever names it: the old k= line, MIKEY, ICE passwords, SDES.
func withoutSecrets(line string) string {
	for _, start := range [...]string{"k=", "a=key-mgmt:", "a=ice-pwd:"} {
		if len(line) >= len(start) && strings.EqualFold(line[:len(start)], start) {
			return line[:len(start)] + redacted
		}
	}
	const method = "inline:"
	for i := range len(line) - len(method) + 1 { // not on a lower-case copy: that may have another length
		if strings.EqualFold(line[i:i+len(method)], method) {
			return line[:i+len(method)] + redacted
		}
	}
	const attribute = "a=crypto:" // without a method that we know it may still hold a key
	if len(line) >= len(attribute) && strings.EqualFold(line[:len(attribute)], attribute) {
		return attribute + redacted
	}
	return line
}
