package tts

import (
	"context"
	"unicode/utf8"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/speech/pcm"
)

// Synthesizer turns text into speech. speechtest.RunSynthesizer tests one.
type Synthesizer interface {
	// Synthesize starts to speak a text. It returns at once, or as soon as the engine has accepted the request; the audio
	// follows in the stream. When ctx ends, the stream ends with an error that is not io.EOF, after at most a second of audio, and
	// frees what it holds, goroutines and processes included. Synthesize refuses what Request.Check refuses. An unknown voice, also
	// one with control characters or like an option or a path, is CodeBadRequest with the field "voice", a language that the engine
	// lacks with the field "language". A missing engine is CodeUnavailable, with a message that says what to install. These errors
	// may also come from the first Read. The length of the speech differs by at most a tenth between rates. Speech is audible: its root
	// mean square is at least 0.5 % of full scale. An empty text, and one of white space, is no error: the stream holds at most a second
	// of audio. At least 8 streams may run concurrently, unless the adapter's documentation names another number.
	Synthesize(ctx context.Context, r Request) (Stream, error)
}

// Engine is a Synthesizer that tells what it is. speechtest.RunEngine tests one.
type Engine interface {
	Synthesizer

	// Describe returns what is known of the engine. It does not change while the program runs. Every voice that it names is audible
	// with a text that the default voice speaks.
	Describe() Description
	// CheckVoice returns the error of Synthesize for a voice and a language, without speaking, at least its code; nil if there is none.
	// An empty voice and an empty language, and each voice of Describe with an empty language, are none.
	CheckVoice(voice, language string) error
}

// Description describes an Engine.
type Description struct {
	Name    string  // of the adapter, such as "flite": records of voices name it; never empty
	Version string  // changes when the engine may speak the same text otherwise; empty: not known
	Voices  []Voice // in the engine's order; the first is not always the default; none: the engine is missing
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
	Description string // for people; may be empty
	Language    string // BCP 47, such as "en-US"; empty: any
}

// Request is a text to speak.
type Request struct {
	Text     string // plain text, at most MaxText bytes; markup in it is spoken, never interpreted
	Voice    string // the name of a voice; empty: the language's, or the engine's default
	Language string // BCP 47, such as "en-US"; empty: the voice's own
	Rate     int    // sample rate of the stream, in Hz, from pcm.MinRate to pcm.MaxRate; the engine converts, and refuses others with the field "rate"
	Prosody  Prosody
}

// MaxText is the longest text of one Request, in bytes.
const MaxText = 5000

// Check refuses a text that is longer than MaxText or not UTF-8, a rate that is not from pcm.MinRate to pcm.MaxRate, and factors of the
// prosody that are out of range. The error is CodeBadRequest with the field.
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

// Prosody changes how a voice speaks. The zero Prosody is the voice's own, and so are factors of 1, to 2 % of the length. An engine that
// applies Tempo divides the length by it, to 6 %; one that applies Pitch multiplies the fundamental frequency by it, to 5 %. Pitch, and a
// Tempo that the engine ignores, leave the length as it is, to 10 %. speechtest.RunProsody measures it.
type Prosody struct {
	Pitch float64 // factor of the voice's fundamental frequency, from MinFactor to MaxFactor; 0: 1
	Tempo float64 // factor of the voice's syllables a second, from MinFactor to MaxFactor; 0: 1
}

// The range of the factors of a Prosody.
const (
	MinFactor = 0.5
	MaxFactor = 2.0
)

// Check refuses factors that are out of range. The error is CodeBadRequest with the field.
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

// Factors returns the factors with 1 in the place of 0.
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

// Stream is 16-bit mono audio that is being synthesized. One goroutine reads it.
type Stream interface {
	// Read fills p with the next samples and returns how many, at most len(p). It blocks until there are any. After the last sample
	// it returns 0 and io.EOF, also when it is called again. After Close it returns 0 and an error.
	Read(p []int16) (int, error)
	// Close ends the stream and a Read that blocks, and frees what the stream holds. It may be called twice, before the first Read,
	// and while Read blocks, and returns nil then.
	Close() error
}
