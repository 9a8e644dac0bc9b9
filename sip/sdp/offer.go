package sdp

import (
	crand "crypto/rand"
	"encoding/binary"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"time"

	"github.com/callwright/callwright"
)

// DefaultPtime is the default duration of the audio in one packet (RFC 3551, section 4.2).
const DefaultPtime = 20 * time.Millisecond

// Capabilities describes our side of a call.
type Capabilities struct {
	// Media is the address and the even port at which we receive RTP; we receive RTCP on the port above. It is required.
	Media netip.AddrPort
	// Codecs lists at least one codec in the order of preference. An offer lists the codecs in this order; an answer selects the first
	// codec that the peer offers.
	Codecs []Codec
	// Transcode makes an answer name every common codec with the same rates as the chosen one, so that the peer may send any of them and
	// change between them: see Negotiated.Others. Without it an answer names a single codec, or both laws of G.711.
	Transcode bool
	// PublicOnly forbids media to addresses that are not public: see Negotiated.PublicOnly.
	PublicOnly bool
	// Ptime is the packet time that we request, from 1 to 200 whole milliseconds. 0 means DefaultPtime.
	Ptime time.Duration
	// Hold holds the peer: we do not receive audio, but may send it, for example music.
	Hold bool
	// Previous is the last description that we sent in this dialog, or nil at first. The new description has the same session id, key and
	// places of m= lines. Because the key is the same, its SRTP context must be kept, too.
	Previous *Description
	// Random is the source of session ids and keys. If nil, it is crypto/rand.Reader. Only tests set it.
	Random io.Reader
}

func (c *Capabilities) check() error {
	addr := c.Media.Addr()
	if !addr.IsValid() || addr.IsUnspecified() || addr.IsMulticast() || addr.Zone() != "" {
		return callwright.Invalid("media", "must be an address that peers can send to, not %s", addr)
	}
	if c.Media.Port() == 0 || c.Media.Port()%2 != 0 {
		return callwright.Invalid("media", "the RTP port must be even, not %d", c.Media.Port())
	}
	if len(c.Codecs) == 0 {
		return callwright.Invalid("codecs", "at least one codec is required")
	}
	for i, codec := range c.Codecs {
		if codec.spec() == nil {
			return callwright.Invalid("codecs", "%q must be a codec of this package, such as %s", codec, PCMU)
		}
		if slices.Contains(c.Codecs[:i], codec) {
			return callwright.Invalid("codecs", "%q must be listed only once", codec)
		}
	}
	if c.Ptime < 0 || c.Ptime > 200*time.Millisecond || c.Ptime%time.Millisecond != 0 {
		return callwright.Invalid("ptime", "must be 1 to 200 whole milliseconds, not %s", c.Ptime)
	}
	if c.Previous != nil && c.Previous.active < 0 {
		return callwright.Invalid("previous", "must be a description that Offer or Answer returned")
	}
	return nil
}

func (c *Capabilities) random() io.Reader {
	if c.Random != nil {
		return c.Random
	}
	return crand.Reader
}

// previousStream returns the audio stream of c.Previous, or nil if there is none.
func (c *Capabilities) previousStream() *stream {
	if c.Previous == nil {
		return nil
	}
	return &c.Previous.streams[c.Previous.active]
}

// key returns the key of c.Previous, or a new key if there is none.
func (c *Capabilities) key() (Key, error) {
	if s := c.previousStream(); s != nil {
		return s.crypto[0].Key, nil
	}
	return NewKey(c.random())
}

// Offer returns an offer: RTP/SAVP with one key, the codecs in the order of preference, and telephone-event for each of their clock rates.
// With c.Previous it is the offer of a re-INVITE. Offer returns CodeBadRequest with the field if c is invalid.
func Offer(c Capabilities) (*Description, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	key, err := c.key()
	if err != nil {
		return nil, err
	}
	audio := c.stream(protoSAVP, Crypto{Tag: 1, Key: key})
	previous := c.previousStream()
	if previous == nil {
		audio.direction = offerDirection(SendRecv, c.Hold)
		audio.formats = offerFormats(c.Codecs, nil)
		return c.describe([]stream{audio}, 0)
	}
	audio.proto = previous.proto
	audio.direction = offerDirection(previous.direction, c.Hold)
	audio.formats = offerFormats(c.Codecs, previous.formats)
	// A new offer repeats the m= lines in their places (RFC 3264, section 8). Refused lines stay refused.
	streams := slices.Clone(c.Previous.streams)
	streams[c.Previous.active] = audio
	return c.describe(streams, c.Previous.active)
}

// stream returns our audio stream without formats and with the default direction. The caller sets both.
func (c *Capabilities) stream(proto string, crypto Crypto) stream {
	ptime := c.Ptime
	if ptime == 0 {
		ptime = DefaultPtime
	}
	return stream{
		kind: "audio", port: c.Media.Port(), proto: proto, address: c.Media.Addr().Unmap(), connected: true,
		ptime: ptime, crypto: []Crypto{crypto},
	}
}

// offerFormats assigns payload types to the codecs and, for each of their clock rates, to telephone-event. A payload type keeps its meaning
// within the session (RFC 3264, section 8.3.2).
func offerFormats(codecs []Codec, used []format) []format {
	formats := make([]format, 0, len(codecs)+2)
	for _, codec := range codecs {
		s := codec.spec()
		f := format{pt: s.pt, name: s.name, clock: s.clock, channels: s.channels, fmtp: s.fmtp}
		formats = append(formats, f.numbered(used, formats))
	}
	for i, codec := range codecs {
		clock := codec.ClockRate()
		if slices.ContainsFunc(codecs[:i], func(c Codec) bool { return c.ClockRate() == clock }) {
			continue
		}
		f := format{pt: 101, name: eventName, clock: clock, channels: 1, fmtp: eventRange}
		if clock != 8000 {
			f.pt++ // 101 is the usual payload type for a clock rate of 8000
		}
		formats = append(formats, f.numbered(used, formats))
	}
	return formats
}

// numbered returns the format with a payload type: the payload type of the same format in the list used, or else the preferred payload type
// if it is free, or else the first free dynamic payload type.
func (f format) numbered(used, taken []format) format {
	for _, u := range used {
		if u.clock == f.clock && u.channels == f.channels && equalName(u.name, f.name) {
			f.pt = u.pt
			return f
		}
	}
	const firstDynamic = 96
	has := func(pt uint8) bool {
		same := func(o format) bool { return o.pt == pt }
		return slices.ContainsFunc(used, same) || slices.ContainsFunc(taken, same)
	}
	for pt := uint8(firstDynamic); has(f.pt); pt++ {
		f.pt = pt
	}
	return f
}

// describe creates a description. If it differs from c.Previous, describe increments the version (RFC 3264, section 8).
func (c *Capabilities) describe(streams []stream, active int) (*Description, error) {
	d := &Description{streams: streams, active: active, publicOnly: c.PublicOnly}
	if c.Previous == nil {
		session, err := newSession(c.random())
		if err != nil {
			return nil, err
		}
		d.origin = origin{session: session, version: 1}
		return d.rendered(), nil
	}
	d.origin = c.Previous.origin
	if d.rendered().text() == c.Previous.text() {
		return d, nil
	}
	d.origin.version++
	return d.rendered(), nil
}

// newSession returns a random session id of 62 bits, which fits a signed integer and is never 0.
func newSession(random io.Reader) (uint64, error) {
	var b [8]byte
	if _, err := io.ReadFull(random, b[:]); err != nil {
		return 0, fmt.Errorf("sdp: no random bytes for a session id: %w", err)
	}
	return binary.BigEndian.Uint64(b[:])>>2 | 1, nil
}
