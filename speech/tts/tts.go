package tts

import (
	"context"
	"unicode/utf8"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/speech/pcm"
)

// Synthesizer turns text into speech. speechtest.RunSynthesizer tests it.
type Synthesizer interface {
	// Synthesize starts to speak a text. It returns without waiting for audio, at the latest when the engine has accepted the
	// request; the audio follows in the stream. When ctx ends, the stream ends with an error that is not io.EOF, after at most a
	// second of audio, and frees its resources, including goroutines and processes. Synthesize returns the errors of Request.Check.
	// An unknown voice, even with control characters or in the form of an option or a path, is CodeBadRequest with the field
	// "voice", a language that the engine lacks with the field "language". A missing engine is CodeUnavailable, with a message that
	// names the package to install. These errors may also come from the first Read. The length of the speech differs by at most a
	// tenth between rates. Speech is audible: its root mean square is at least 0.5 % of full scale. An empty text, and one of white
	// space, is no error: the stream holds at most a second of audio. At least 8 streams may run
	// concurrently, unless the adapter's documentation names another number.
	Synthesize(ctx context.Context, r Request) (Stream, error)
}

// Engine is a Synthesizer that describes itself. speechtest.RunEngine tests it.
type Engine interface {
	Synthesizer

	// Describe returns the description of the engine. It is constant while the program runs. Every voice in it is audible with a
	// text that the default voice speaks.
	Describe() Description
	// CheckVoice returns the error of Synthesize for a voice and a language, without speaking, at least its code; nil if both are
	// valid. Valid are an empty voice with an empty language, and each voice of Describe with an empty language.
	CheckVoice(voice, language string) error
}

// Description describes an Engine.
type Description struct {
	Name    string  // of the adapter, for example "flite"; stored with voices; never empty
	Version string  // changes when the engine may speak the same text differently; empty: unknown
	Voices  []Voice // in the engine's order; the first is not always the default; empty: the engine is missing
	Default string  // the name of the voice among Voices that speaks when a Request names neither a voice nor a language

	Pitch, Tempo bool // which factors of a Prosody the engine applies; it ignores the others
}

// Names returns the names of the voices.
func (d Description) Names() []string {
	names := make([]string, len(d.Voices))
	for i, v := range d.Voices {
		names[i] = v.Name
	}
	return names
}

// Voice is a voice of an Engine.
type Voice struct {
	Name        string // not empty, unique in the engine without regard to case, without characters that callwright.Hidden reports
	Description string // human-readable; may be empty
	Language    string // BCP 47, such as "en-US"; empty: any
}

// Request is a text to speak.
type Request struct {
	Text     string // plain text, at most MaxText bytes; markup is spoken, not interpreted
	Voice    string // the name of a voice; empty: the language's, or the engine's default
	Language string // BCP 47, such as "en-US"; empty: the voice's own
	Rate     int    // sample rate of the stream, in Hz, from pcm.MinRate to pcm.MaxRate; the engine converts, and refuses others with the field "rate"
	Prosody  Prosody
}

// MaxText is the longest text of one Request, in bytes.
const MaxText = 5000

// Check returns CodeBadRequest with the field for a text that is longer than MaxText or not UTF-8, a rate that is not from
// pcm.MinRate to pcm.MaxRate, and factors of the prosody that are out of range.
func (r Request) Check() error {
	switch {
	case len(r.Text) > MaxText:
		return callwright.Invalid("text", "must have at most %d bytes, and has %d", MaxText, len(r.Text))
	case !utf8.ValidString(r.Text):
		return callwright.Invalid("text", "must be valid UTF-8")
	case r.Rate < pcm.MinRate || r.Rate > pcm.MaxRate:
		return callwright.Invalid("rate", "sample rate %d is not between %d and %d", r.Rate, pcm.MinRate, pcm.MaxRate)
	}
	return r.Prosody.Check()
}

// Prosody changes the pitch and the tempo of a voice. The zero Prosody changes nothing; factors of 1 change the length by at most 2
// %. An engine that applies Tempo divides the length by it, to within 6 %; an engine that applies Pitch multiplies the fundamental
// frequency by it, to within 5 %. Pitch, and a Tempo that the engine ignores, keep the length to within 10 %. speechtest.RunProsody
// measures it.
type Prosody struct {
	Pitch float64 // factor of the voice's fundamental frequency, from MinFactor to MaxFactor; 0: 1
	Tempo float64 // factor of the voice's syllables a second, from MinFactor to MaxFactor; 0: 1
}

// The range of the factors of a Prosody.
const (
	MinFactor = 0.5
	MaxFactor = 2.0
)

// Check returns CodeBadRequest with the field for factors out of range.
func (p Prosody) Check() error {
	for _, f := range []struct {
		name   string
		factor float64
	}{{"pitch", p.Pitch}, {"tempo", p.Tempo}} {
		if f.factor != 0 && !(f.factor >= MinFactor && f.factor <= MaxFactor) { // also NaN
			return callwright.Invalid(f.name, "must be a factor from %g to %g, and is %g", MinFactor, MaxFactor, f.factor)
		}
	}
	return nil
}

// Factors returns the factors with 1 in place of 0.
func (p Prosody) Factors() (pitch, tempo float64) {
	pitch, tempo = p.Pitch, p.Tempo
	if pitch == 0 {
		pitch = 1
	}
	if tempo == 0 {
		tempo = 1
	}
	return pitch, tempo
}

// Stream is 16-bit mono audio in synthesis. Only one goroutine may read it.
type Stream interface {
	// Read fills p with the next samples and returns their number, at most len(p). It blocks until at least one is available. After
	// the last sample it returns 0 and io.EOF, at every call. After Close it returns 0 and an error.
	Read(p []int16) (int, error)
	// Close ends the stream and a Read that blocks, and frees its resources. It returns nil, and may be called twice, before the
	// first Read, and while Read blocks.
	Close() error
}
