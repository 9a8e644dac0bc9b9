package profile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/speech"
	"github.com/callwright/callwright/speech/pcm"
	"github.com/callwright/callwright/speech/tts"
)

// The limits of a Cloner, and how it prepares recordings.
const (
	maxVoices    = 12               // measured voices of a language
	maxReference = 60 * time.Second // audio of one voice
	voiceTimeout = 20 * time.Second // time limit for measuring one voice
	pause        = 400 * time.Millisecond
	level        = -23.0 // loudness to which recordings are normalized, in LUFS, so that quiet recordings do not count as silence
)

// Cloner is a speech.Cloner that makes profiles. It measures the recordings, selects the engine's voice with the nearest pitch, and changes
// the voice's pitch and tempo as far as the engine can. Each voice is measured once, when it is first a candidate. A Cloner is safe for
// concurrent use.
type Cloner struct {
	engine tts.Engine

	mu       sync.Mutex // held while a voice is measured, so that voices are measured one at a time
	measured map[string]Profile
}

var _ speech.Cloner = (*Cloner)(nil)

// NewCloner returns a Cloner that uses the voices of an engine. It returns an error if engine is nil.
func NewCloner(engine tts.Engine) (*Cloner, error) {
	if engine == nil {
		return nil, errors.New("profile: NewCloner requires an engine")
	}
	return &Cloner{engine: engine, measured: map[string]Profile{}}, nil
}

// Describe returns "profile" and speech.KindProfile.
func (c *Cloner) Describe() (name string, kind speech.Kind) { return "profile", speech.KindProfile }

// Delete does nothing, because a profile is only stored in the voice's record.
func (c *Cloner) Delete(context.Context, callwright.OrgID, string) error { return nil }

// Clone makes a profile from the first minute of the recordings. In addition to the errors of Measure, it returns CodeBadRequest with the
// field "language" for a language that the engine lacks, and CodeUnavailable if no voice can be measured. It limits the factors to
// tts.MinFactor to tts.MaxFactor; the description mentions such a limitation.
func (c *Cloner) Clone(ctx context.Context, r speech.Cloning) (speech.Clone, error) {
	recording, err := join(r.Recordings)
	if err != nil {
		return speech.Clone{}, err
	}
	person, err := Measure(recording)
	if err != nil {
		return speech.Clone{}, err
	}
	candidates := c.candidates(r.Language)
	if len(candidates) == 0 {
		return speech.Clone{}, callwright.Invalid("language", "must be a language for which the speech engine has a voice, not %q", r.Language)
	}
	voice, own, err := c.nearest(ctx, candidates, person)
	if err != nil {
		return speech.Clone{}, err
	}
	prosody, clamped := factors(c.engine.Describe(), person, own)
	return speech.Clone{
		Base: voice.Name, Prosody: prosody, Language: voice.Language, Description: describe(person, voice, prosody, clamped),
	}, nil
}

// join concatenates recordings with pauses, at the same loudness, up to MaxAudio. It returns CodeBadRequest for a recording with a lower
// rate than 8000 Hz.
func join(recordings []pcm.Audio) (pcm.Audio, error) {
	out := pcm.Audio{Rate: rate, Channels: 1}
	for _, r := range recordings {
		if r.Rate < rate {
			return pcm.Audio{}, refused("it has %d samples a second: record at least %d", r.Rate, rate)
		}
		samples := r.Mono()
		samples, err := pcm.Resample(samples[:min(len(samples), pcm.Samples(MaxAudio, r.Rate))], r.Rate, rate)
		if err != nil {
			return pcm.Audio{}, err
		}
		start := len(out.Samples)
		out.Samples = append(append(out.Samples, samples...), make([]int16, pcm.Samples(pause, rate))...)
		pcm.Normalize(out.Samples[start:], rate, level)
		if most := pcm.Samples(MaxAudio, rate); len(out.Samples) >= most {
			out.Samples = out.Samples[:most]
			break
		}
	}
	return out, nil
}

// candidates returns up to maxVoices voices for a language. If language is empty, it uses the language of the default voice.
func (c *Cloner) candidates(language string) []tts.Voice {
	d := c.engine.Describe()
	if language == "" {
		for _, v := range d.Voices {
			if v.Name == d.Default {
				language = v.Language
			}
		}
	}
	var found []tts.Voice
	for _, v := range d.Voices {
		if (language == "" || v.Language == "" || broad(v.Language) == broad(language)) && len(found) < maxVoices {
			found = append(found, v)
		}
	}
	return found
}

// broad returns the language of a tag, for example "en" of "en-US".
func broad(tag string) string {
	language, _, _ := strings.Cut(strings.ToLower(tag), "-")
	return language
}

// nearest returns the voice whose pitch is nearest to a person's pitch, and the voice's profile. It skips voices that cannot be measured,
// and returns CodeUnavailable if none can be.
func (c *Cloner) nearest(ctx context.Context, voices []tts.Voice, person Profile) (tts.Voice, Profile, error) {
	var best tts.Voice
	var own Profile
	var failed error
	for _, v := range voices {
		p, err := c.measure(ctx, v)
		if ctx.Err() != nil {
			return tts.Voice{}, Profile{}, ctx.Err()
		}
		if err != nil {
			failed = err
			continue
		}
		if own.Pitch == 0 || apart(p, person) < apart(own, person) {
			best, own = v, p
		}
	}
	if own.Pitch == 0 {
		return tts.Voice{}, Profile{}, callwright.Errorf(callwright.CodeUnavailable, "no voice of the speech engine can be measured").Because(failed)
	}
	return best, own, nil
}

// apart returns the distance of two pitches in octaves.
func apart(a, b Profile) float64 { return math.Abs(math.Log2(a.Pitch / b.Pitch)) }

// measure returns the profile of a voice. It caches a profile, but not an error.
func (c *Cloner) measure(ctx context.Context, v tts.Voice) (Profile, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p, ok := c.measured[v.Name]; ok {
		return p, nil
	}
	ctx, cancel := context.WithTimeout(ctx, voiceTimeout)
	defer cancel()
	stream, err := c.engine.Synthesize(ctx, tts.Request{Text: reference(v.Language), Voice: v.Name, Rate: 2 * rate})
	if err != nil {
		return Profile{}, err
	}
	defer func() { _ = stream.Close() }()
	audio := pcm.Audio{Rate: 2 * rate, Channels: 1}
	for piece := make([]int16, 4096); ; {
		n, err := stream.Read(piece)
		audio.Samples = append(audio.Samples, piece[:n]...)
		if errors.Is(err, io.EOF) || audio.Duration() > maxReference {
			break
		}
		if err != nil {
			return Profile{}, err
		}
	}
	p, err := Measure(audio)
	if err == nil {
		c.measured[v.Name] = p
	}
	return p, err
}

// factors returns the prosody with which a voice speaks like a person. clamped reports whether a factor was limited to its range.
func factors(d tts.Description, person, own Profile) (p tts.Prosody, clamped bool) {
	keep := func(factor float64) float64 {
		kept := max(tts.MinFactor, min(tts.MaxFactor, math.Round(factor*1000)/1000))
		clamped = clamped || math.Abs(kept-factor) > 0.001
		return kept
	}
	if d.Pitch {
		p.Pitch = keep(person.Pitch / own.Pitch)
	}
	if d.Tempo {
		p.Tempo = keep(person.Tempo / own.Tempo)
	}
	return p, clamped
}

// describe returns a readable description of the measurements and the profile.
func describe(person Profile, voice tts.Voice, prosody tts.Prosody, clamped bool) string {
	pitch, tempo := prosody.Factors()
	text := fmt.Sprintf("Profile of %.0f s of speech with a pitch of %.0f Hz and %.1f syllables a second: the voice %s with %.2f times its pitch and %.2f times its tempo.",
		person.Speech.Seconds(), person.Pitch, person.Tempo, voice.Name, pitch, tempo)
	if clamped {
		text += " The speaker is farther from it than the engine can go."
	}
	return text
}
