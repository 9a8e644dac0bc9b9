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

// Bounds of a Cloner.
const (
	maxVoices    = 12               // of a language, which are measured
	maxReference = 60 * time.Second // of audio of one voice
	voiceTimeout = 20 * time.Second // for one voice to be measured
	pause        = 400 * time.Millisecond
	level        = -23.0 // loudness of recordings after normalization, in LUFS, so that quiet ones do not count as silence
)

// Cloner is a speech.Cloner that makes profiles: it measures the recordings, takes the engine's voice with the nearest pitch, and
// changes its pitch and tempo as far as the engine can. Each voice is measured once, when it is first a candidate. Any number of
// goroutines may use a Cloner.
type Cloner struct {
	engine tts.Engine

	mu       sync.Mutex // held while a voice is measured: one at a time is enough
	measured map[string]Profile
}

var _ speech.Cloner = (*Cloner)(nil)

// NewCloner returns a Cloner that uses the voices of an engine.
func NewCloner(engine tts.Engine) (*Cloner, error) {
	if engine == nil {
		return nil, errors.New("profile: a Cloner needs an engine")
	}
	return &Cloner{engine: engine, measured: map[string]Profile{}}, nil
}

// Describe returns "profile" and speech.KindProfile.
func (c *Cloner) Describe() (name string, kind speech.Kind) { return "profile", speech.KindProfile }

// Delete does nothing: a profile consists of its voice's record only.
func (c *Cloner) Delete(context.Context, callwright.OrgID, string) error { return nil }

// Clone makes a profile of recordings, from their first minute. In addition to the errors of Measure, a language that the engine
// lacks is CodeBadRequest with the field "language". Factors are limited to tts.MinFactor to tts.MaxFactor; the description
// mentions it.
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
		return speech.Clone{}, callwright.Invalid("language", "the speech engine has no voice for %q", r.Language)
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

// join puts recordings one after the other, equally loud and with pauses, up to MaxAudio.
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

// candidates returns the voices for a language, or for the default voice's if none is given.
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

// nearest returns the voice whose pitch is nearest to a person's, and its profile. Voices that cannot be measured are omitted.
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

// measure measures a voice, once.
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

// factors returns the prosody with which a voice speaks like a person, and whether a factor was limited to its range.
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

// describe returns a human-readable description of the measurements and the profile.
func describe(person Profile, voice tts.Voice, prosody tts.Prosody, clamped bool) string {
	pitch, tempo := prosody.Factors()
	text := fmt.Sprintf("Profile of %.0f s of speech with a pitch of %.0f Hz and %.1f syllables a second: the voice %s with %.2f times its pitch and %.2f times its tempo.",
		person.Speech.Seconds(), person.Pitch, person.Tempo, voice.Name, pitch, tempo)
	if clamped {
		text += " The speaker is farther from it than the engine can go."
	}
	return text
}
