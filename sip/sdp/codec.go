package sdp

import "strings"

// Codec is the canonical name of an audio codec.
type Codec string

// The codecs that this package can negotiate. Callers must offer only codecs that have an engine.
const (
	PCMU Codec = "PCMU" // G.711 mu-law
	PCMA Codec = "PCMA" // G.711 A-law
	G722 Codec = "G722" // wideband; its RTP clock is 8000 Hz although the audio has 16 kHz (RFC 3551, section 4.5.2)
	G729 Codec = "G729"
	Opus Codec = "OPUS"
)

// spec contains the SDP parameters of a codec.
type spec struct {
	codec    Codec
	name     string // encoding name in a=rtpmap
	pt       uint8  // static payload type, or the dynamic one that we prefer
	static   bool
	clock    uint32 // clock rate of RTP timestamps in Hz
	rate     uint32 // sample rate of the audio in Hz
	channels uint8  // number of channels in a=rtpmap
	fmtp     string // value of our a=fmtp; empty if none
}

var specs = [...]spec{
	{codec: PCMU, name: "PCMU", pt: 0, static: true, clock: 8000, rate: 8000, channels: 1},
	{codec: PCMA, name: "PCMA", pt: 8, static: true, clock: 8000, rate: 8000, channels: 1},
	{codec: G722, name: "G722", pt: 9, static: true, clock: 8000, rate: 16000, channels: 1},
	// Without annexb=no the peer may send comfort noise frames (RFC 4856, section 2.1.9).
	{codec: G729, name: "G729", pt: 18, static: true, clock: 8000, rate: 8000, channels: 1, fmtp: "annexb=no"},
	// RFC 7587, section 7, requires opus/48000/2 in the map, even for mono.
	{codec: Opus, name: "opus", pt: 96, clock: 48000, rate: 48000, channels: 2, fmtp: "useinbandfec=1;stereo=0"},
}

// ParseCodec returns the codec with the given name in any spelling, such as "G.722", "g722" or "opus". It returns false for an unknown
// name.
func ParseCodec(name string) (Codec, bool) {
	c := Codec(strings.ToUpper(strings.ReplaceAll(name, ".", "")))
	if c.spec() == nil {
		return "", false
	}
	return c, true
}

// Name returns the display name of the codec: PCMU, PCMA, G.729, Opus or G.722. It returns an unknown codec unchanged.
func (c Codec) Name() string {
	switch c {
	case G722:
		return "G.722"
	case G729:
		return "G.729"
	case Opus:
		return "Opus"
	default:
		return string(c)
	}
}

// ClockRate returns the clock rate of RTP timestamps in Hz, or 0 for an unknown codec.
func (c Codec) ClockRate() uint32 {
	if s := c.spec(); s != nil {
		return s.clock
	}
	return 0
}

// SampleRate returns the sample rate of the audio in Hz, or 0 for an unknown codec. For G.722 it is 16000, although the clock rate is 8000.
func (c Codec) SampleRate() uint32 {
	if s := c.spec(); s != nil {
		return s.rate
	}
	return 0
}

// isG711 reports whether a codec is one of the two laws of G.711.
func (c Codec) isG711() bool { return c == PCMU || c == PCMA }

func (c Codec) spec() *spec {
	for i := range specs {
		if specs[i].codec == c {
			return &specs[i]
		}
	}
	return nil
}

// eventName is the encoding name of DTMF events (RFC 4733).
const eventName = "telephone-event"

// eventRange lists the events that our descriptions name: the digits, star, pound and A to D, but not flash (RFC 4733, section 3.2).
const eventRange = "0-15"

// format is the meaning of one payload type of an m= line.
type format struct {
	pt       uint8
	name     string // empty if neither static nor mapped by an a=rtpmap
	clock    uint32
	channels uint8
	fmtp     string // only in our own descriptions; a peer's parameters are ignored
}

// codec returns the codec of a format, or "" if it is unknown.
func (f format) codec() Codec {
	for i := range specs {
		s := &specs[i]
		same := f.clock == s.clock && strings.EqualFold(f.name, s.name)
		if same && (f.channels == s.channels || f.channels == 1 && s.codec == Opus) { // some peers omit the 2 that RFC 7587 requires
			return s.codec
		}
	}
	return ""
}

func (f format) isEvent(clock uint32) bool {
	return f.clock == clock && strings.EqualFold(f.name, eventName)
}

// staticFormat returns the format of a static payload type (RFC 3551, section 6). For other payload types it returns a format without a
// name.
func staticFormat(pt uint8) format {
	for i := range specs {
		if specs[i].static && specs[i].pt == pt {
			return format{pt: pt, name: specs[i].name, clock: specs[i].clock, channels: specs[i].channels}
		}
	}
	return format{pt: pt}
}
