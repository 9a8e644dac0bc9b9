package sdp

import "strings"

// Codec is an audio codec by its canonical name, as a trunk's configuration lists it.
type Codec string

// The codecs that can be negotiated. Whether an engine for one is there is the caller's business: offer only those.
const (
	PCMU Codec = "PCMU" // G.711 mu-law
	PCMA Codec = "PCMA" // G.711 A-law
	G722 Codec = "G722" // wide-band; its RTP clock is 8000 although the audio has 16 kHz (RFC 3551, 4.5.2)
	G729 Codec = "G729"
	Opus Codec = "OPUS"
)

// spec is what SDP has to know of a codec.
type spec struct {
	codec    Codec
	name     string // encoding name in a=rtpmap
	pt       uint8  // static payload type, or the dynamic one we prefer
	static   bool
	clock    uint32 // RTP timestamp clock
	rate     uint32 // audio sample rate
	channels uint8  // as a=rtpmap states them
	fmtp     string // our own a=fmtp, empty for none
}

var specs = [...]spec{
	{codec: PCMU, name: "PCMU", pt: 0, static: true, clock: 8000, rate: 8000, channels: 1},
	{codec: PCMA, name: "PCMA", pt: 8, static: true, clock: 8000, rate: 8000, channels: 1},
	{codec: G722, name: "G722", pt: 9, static: true, clock: 8000, rate: 16000, channels: 1},
	// Without annexb=no the peer may send comfort noise frames (RFC 4856, 2.1.9).
	{codec: G729, name: "G729", pt: 18, static: true, clock: 8000, rate: 8000, channels: 1, fmtp: "annexb=no"},
	// RFC 7587, section 7: the map is always opus/48000/2, mono or not.
	{codec: Opus, name: "opus", pt: 96, clock: 48000, rate: 48000, channels: 2, fmtp: "useinbandfec=1;stereo=0"},
}

// ParseCodec knows a codec under the spellings in use ("G.722", "g722", "opus").
func ParseCodec(name string) (Codec, bool) {
	c := Codec(strings.ToUpper(strings.ReplaceAll(name, ".", "")))
	if c.spec() == nil {
		return "", false
	}
	return c, true
}

// ClockRate is the rate in Hz at which RTP timestamps count. It is 0 for an unknown codec.
func (c Codec) ClockRate() uint32 {
	if s := c.spec(); s != nil {
		return s.clock
	}
	return 0
}

// SampleRate is the rate in Hz of the audio that the codec carries: 16000 for G.722, whose clock says 8000. It is 0 for
// an unknown codec.
func (c Codec) SampleRate() uint32 {
	if s := c.spec(); s != nil {
		return s.rate
	}
	return 0
}

func (c Codec) spec() *spec {
	for i := range specs {
		if specs[i].codec == c {
			return &specs[i]
		}
	}
	return nil
}

// eventName is the encoding name of RFC 4733's DTMF events.
const eventName = "telephone-event"

// eventRange is what we offer and answer: the digits, star, pound and A to D (RFC 4733, 3.2). Flash is left out.
const eventRange = "0-15"

// format is one payload type of an m= line.
type format struct {
	pt       uint8
	name     string // empty: neither static nor mapped by an a=rtpmap
	clock    uint32
	channels uint8
	fmtp     string // of our own descriptions; a peer's parameters change nothing for us
}

// codec is the codec that a format stands for, or "" for one that we do not know.
func (f format) codec() Codec {
	for i := range specs {
		s := &specs[i]
		if f.clock == s.clock && f.channels == s.channels && strings.EqualFold(f.name, s.name) {
			return s.codec
		}
	}
	return ""
}

func (f format) isEvent(clock uint32) bool {
	return f.clock == clock && strings.EqualFold(f.name, eventName)
}

// staticFormat is what a payload type means without an a=rtpmap (RFC 3551, section 6).
func staticFormat(pt uint8) format {
	for i := range specs {
		if specs[i].static && specs[i].pt == pt {
			return format{pt: pt, name: specs[i].name, clock: specs[i].clock, channels: specs[i].channels}
		}
	}
	return format{pt: pt}
}
