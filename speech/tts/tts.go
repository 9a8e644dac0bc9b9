package tts

import (
	"context"
	"unicode/utf8"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/speech/pcm"
)

// Synthesizer converts text to speech. speechtest.RunSynthesizer tests it.
type Synthesizer interface {
	// Synthesize starts to speak a text. It returns at the latest when the engine has accepted the request, without waiting for audio; the
	// audio follows in the stream. When ctx ends, the stream ends with an error other than io.EOF, after at most a second of audio, and
	// frees its resources, including goroutines and processes. At least 8 streams may run concurrently, unless the adapter's documentation
	// states another number.
	//
	// Synthesize, or the first Read of the stream, returns these errors:
	//   - The errors of Request.Check.
	//   - CodeBadRequest with the field "voice" for an unknown voice, even if its name contains control characters or looks like an option
	//     or a path.
	//   - CodeBadRequest with the field "language" for a language that the engine lacks.
	//   - CodeUnavailable if the engine is missing. The message names the package to install.
	//
	// The length of the speech differs by at most a tenth between rates. Speech is audible: its root mean square is at least 0.5 % of full
	// scale. For a text that is empty or white space, Synthesize returns a stream of at most a second of audio.
	Synthesize(ctx context.Context, r Request) (Stream, error)
}

// Engine is a Synthesizer that describes itself. speechtest.RunEngine tests it.
type Engine interface {
	Synthesizer

	// Describe returns the description of the engine, which is constant while the program runs. Every voice in it can speak any text that
	// the default voice can speak.
	Describe() Description
	// CheckVoice checks a voice and a language without speaking. It returns nil if both are valid, and otherwise an error with the code
	// that Synthesize would return. An empty language is valid with each voice of Describe and with an empty voice.
	CheckVoice(voice, language string) error
}

// Description describes an Engine.
type Description struct {
	Name    string  // name of the adapter, for example "flite"; stored with voices; never empty
	Version string  // changes if the engine may speak the same text differently; empty if unknown
	Voices  []Voice // in the engine's order; the first need not be the default; empty if the engine is missing
	Default string  // name of the voice that speaks if a Request names neither a voice nor a language

	Pitch, Tempo bool // the factors of a Prosody that the engine applies; it ignores the others
}

// Names returns the names of the voices, in order.
func (d Description) Names() []string {
	names := make([]string, len(d.Voices))
	for i, v := range d.Voices {
		names[i] = v.Name
	}
	return names
}

// Voice is a voice of an Engine.
type Voice struct {
	Name        string // not empty, unique in the engine without regard to case, no callwright.Hidden characters
	Description string // human-readable; may be empty
	Language    string // BCP 47, such as "en-US"; empty means any language
}

// Request is a text to speak.
type Request struct {
	Text     string // plain text, at most MaxText bytes; markup is spoken, not interpreted
	Voice    string // name of a voice; if empty, the default of the language or the engine
	Language string // BCP 47, such as "en-US"; if empty, the voice's language
	Rate     int    // sample rate of the stream, in Hz; the engine must support all rates from pcm.MinRate to pcm.MaxRate
	Prosody  Prosody
}

// MaxText is the maximum length of a Request's text, in bytes.
const MaxText = 5000

// Check returns CodeBadRequest with the field if the text is longer than MaxText or not UTF-8, if the rate is outside pcm.MinRate to
// pcm.MaxRate, or if a factor of the prosody is out of range.
func (r Request) Check() error {
	switch {
	case len(r.Text) > MaxText:
		return callwright.Invalid("text", "must have at most %d bytes, and has %d", MaxText, len(r.Text))
	case !utf8.ValidString(r.Text):
		return callwright.Invalid("text", "must be valid UTF-8")
	case r.Rate < pcm.MinRate || r.Rate > pcm.MaxRate:
		return callwright.Invalid("rate", "must be from %d to %d samples a second, not %d", pcm.MinRate, pcm.MaxRate, r.Rate)
	}
	return r.Prosody.Check()
}

// Prosody changes the pitch and the tempo of a voice. The zero Prosody changes nothing; factors of 1 change the length by at most 2 %. An
// engine that applies Tempo divides the length by this factor, with a tolerance of 6 %. An engine that applies Pitch multiplies the
// fundamental frequency by this factor, with a tolerance of 5 %. Pitch changes the length by at most 10 %, and so does a Tempo that the
// engine ignores. speechtest.RunProsody checks these tolerances.
type Prosody struct {
	Pitch float64 // factor of the voice's fundamental frequency, from MinFactor to MaxFactor; 0 means 1
	Tempo float64 // factor of the voice's syllables per second, from MinFactor to MaxFactor; 0 means 1
}

// The limits of the factors of a Prosody.
const (
	MinFactor = 0.5
	MaxFactor = 2.0
)

// Check returns CodeBadRequest with the field "pitch" or "tempo" if the factor is out of range. A factor of 0 is valid.
func (p Prosody) Check() error {
	for _, f := range []struct {
		name   string
		factor float64
	}{{"pitch", p.Pitch}, {"tempo", p.Tempo}} {
		if f.factor != 0 && !(f.factor >= MinFactor && f.factor <= MaxFactor) { // written so that NaN is refused
			return callwright.Invalid(f.name, "must be a factor from %g to %g, and is %g", MinFactor, MaxFactor, f.factor)
		}
	}
	return nil
}

// Times returns the factors of p multiplied by those of q, limited to MinFactor and MaxFactor.
func (p Prosody) Times(q Prosody) Prosody {
	return Prosody{Pitch: times(p.Pitch, q.Pitch), Tempo: times(p.Tempo, q.Tempo)}
}

// times multiplies two factors, of which 0 means 1.
func times(a, b float64) float64 {
	switch {
	case a == 0:
		return b
	case b == 0:
		return a
	default:
		return min(max(a*b, MinFactor), MaxFactor)
	}
}

// Factors returns the factors, and 1 instead of 0.
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

// Stream is 16-bit mono audio in synthesis. Only one goroutine may read it. Marker is an optional interface of a Stream.
type Stream interface {
	// Read fills p with the next samples and returns their number, at most len(p). It blocks until at least one sample is available. After
	// the last sample, every call returns 0 and io.EOF. After Close, it returns 0 and an error.
	Read(p []int16) (int, error)
	// Close ends the stream, unblocks a blocked Read, and frees the stream's resources. It returns nil. It may be called twice, before the
	// first Read, and while Read blocks.
	Close() error
}
