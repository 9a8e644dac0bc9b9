package sdp

import "strings"

// Codec is an audio codec by its canonical name.
type Codec string

// The codecs that can be negotiated. Callers offer only codecs with an engine.
const (
	PCMU Codec = "PCMU" // G.711 mu-law
	PCMA Codec = "PCMA" // G.711 A-law
	G722 Codec = "G722" // wide-band; its RTP clock is 8000 although the audio has 16 kHz (RFC 3551, 4.5.2)
	G729 Codec = "G729"
	Opus Codec = "OPUS"
)

// spec holds the SDP parameters of a codec.
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

// ParseCodec parses a codec's name in any of its spellings ("G.722", "g722", "opus").
func ParseCodec(name string) (Codec, bool) {
	c := Codec(strings.ToUpper(strings.ReplaceAll(name, ".", "")))
	if c.spec() == nil {
		return "", false
	}
	return c, true
}

// Name returns the codec's name as displayed: PCMU, PCMA, G.729, Opus or G.722; the SDP name for an unknown codec.
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

// ClockRate returns the clock rate of RTP timestamps in Hz; 0 for an unknown codec.
func (c Codec) ClockRate() uint32 {
	if s := c.spec(); s != nil {
		return s.clock
	}
	return 0
}

// SampleRate returns the sample rate of the audio in Hz; 0 for an unknown codec. For G.722 it is 16000, although the clock
// rate is 8000.
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

// eventName is the encoding name of RFC 4733's DTMF events.
const eventName = "telephone-event"

// eventRange lists the events of our descriptions: the digits, star, pound and A to D, without flash (RFC 4733, 3.2).
const eventRange = "0-15"

// format is one payload type of an m= line.
type format struct {
	pt       uint8
	name     string // empty: neither static nor mapped by an a=rtpmap
	clock    uint32
	channels uint8
	fmtp     string // of our own descriptions; a peer's parameters are ignored
}

// codec returns the codec of a format, or "" for an unknown one.
func (f format) codec() Codec {
	for i := range specs {
		s := &specs[i]
		same := f.clock == s.clock && strings.EqualFold(f.name, s.name)
		if same && (f.channels == s.channels || f.channels == 1 && s.codec == Opus) { // some leave out the 2 of RFC 7587
			return s.codec
		}
	}
	return ""
}

func (f format) isEvent(clock uint32) bool {
	return f.clock == clock && strings.EqualFold(f.name, eventName)
}

// staticFormat returns the format of a static payload type (RFC 3551, section 6).
func staticFormat(pt uint8) format {
	for i := range specs {
		if specs[i].static && specs[i].pt == pt {
			return format{pt: pt, name: specs[i].name, clock: specs[i].clock, channels: specs[i].channels}
		}
	}
	return format{pt: pt}
}
