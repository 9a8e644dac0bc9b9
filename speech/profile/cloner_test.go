package profile_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/espeak"
	"github.com/callwright/callwright/adapters/flite"
	"github.com/callwright/callwright/internal/engine"
	"github.com/callwright/callwright/speech"
	"github.com/callwright/callwright/speech/pcm"
	"github.com/callwright/callwright/speech/profile"
	"github.com/callwright/callwright/speech/speechtest"
	"github.com/callwright/callwright/speech/tts"
)

// otherText differs from the text with which the Cloner measures voices.
const otherText = "Thank you for holding the line. We have found two flights that leave on the day that you asked for, and one of them is " +
	"a little cheaper. Would you like me to book it for you, or do you want to hear about the other one first? I can also send you both by mail."

// TestCloneSpeaksLikePeople makes profiles of human recordings and measures the speech of two engines with these profiles. The pitch must
// be within 10 % of the person's pitch, and the tempo within 15 %.
func TestCloneSpeaksLikePeople(t *testing.T) {
	t.Parallel()
	f, err := flite.New(flite.Config{})
	if err != nil {
		t.Fatal(err)
	}
	e, err := espeak.New(espeak.Config{})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range []tts.Engine{f, e} {
		c, err := profile.NewCloner(e)
		if err != nil {
			t.Fatal(err)
		}
		for name, who := range persons {
			t.Run(e.Describe().Name+"/"+name, func(t *testing.T) {
				t.Parallel()
				want, err := profile.Measure(who.joined(t))
				if err != nil {
					t.Fatal(err)
				}
				made, err := c.Clone(t.Context(), speech.Cloning{Recordings: who.recordings(t), Language: "en"})
				if err != nil {
					t.Fatal(err)
				}
				samples, err := speechtest.Speak(t.Context(), e, tts.Request{Text: otherText, Voice: made.Base, Rate: 16000, Prosody: made.Prosody})
				if err != nil {
					t.Fatal(err)
				}
				got, err := profile.Measure(pcm.Audio{Rate: 16000, Channels: 1, Samples: samples})
				t.Logf("person %.1f Hz, %.2f/s; spoken %.1f Hz, %.2f/s; %s", want.Pitch, want.Tempo, got.Pitch, got.Tempo, made.Description)
				if err != nil || math.Abs(got.Pitch/want.Pitch-1) > 0.1 || math.Abs(got.Tempo/want.Tempo-1) > 0.15 {
					t.Errorf("spoken %+v of %+v, %v", got, want, err)
				}
			})
		}
	}
}

// singers is an engine whose voices have known pitches and speak 4 syllables per second. Synthesize fails for a voice without a pitch.
type singers struct {
	pitches map[string]float64
	voices  []tts.Voice
	mute    bool // the engine cannot change pitch and tempo
	spoken  atomic.Int32
}

func (s *singers) Describe() tts.Description {
	return tts.Description{Name: "singers", Voices: s.voices, Default: s.voices[0].Name, Pitch: !s.mute, Tempo: !s.mute}
}

func (*singers) CheckVoice(string, string) error { return nil }

func (s *singers) Synthesize(ctx context.Context, r tts.Request) (tts.Stream, error) {
	s.spoken.Add(1)
	hz := s.pitches[r.Voice]
	if hz == 0 {
		return nil, callwright.Errorf(callwright.CodeUnavailable, "broken")
	}
	return engine.Speak(ctx, r.Rate, func(context.Context) (engine.Speech, error) {
		return engine.Speech{Audio: voice(hz, 4, 5, r.Rate)}, nil
	}), nil
}

func chorus() *singers {
	return &singers{
		pitches: map[string]float64{"low": 90, "high": 220, "tief": 80},
		voices: []tts.Voice{
			{Name: "broken", Language: "en-GB"}, {Name: "low", Language: "en-US"}, {Name: "high", Language: "en-US"}, {Name: "tief", Language: "de"},
		},
	}
}

func TestClone(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		hz, tempo float64
		language  string
		mute      bool
		want      string
		pitch     float64
		factor    float64 // expected factor of the tempo
		clamped   bool
	}{
		"near the low one":             {hz: 99, tempo: 4, want: "low", pitch: 1.1, factor: 1},
		"near the high one":            {hz: 200, tempo: 5, want: "high", pitch: 0.909, factor: 1.25},
		"between them, in octaves":     {hz: 145, tempo: 4, want: "high", pitch: 0.659, factor: 1},
		"another language":             {hz: 88, tempo: 4, language: "de-AT", want: "tief", pitch: 1.1, factor: 1},
		"farther than it can go":       {hz: 200, tempo: 4, language: "de", want: "tief", pitch: 2, factor: 1, clamped: true},
		"an engine that cannot change": {hz: 99, tempo: 5, mute: true, want: "low"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := chorus()
			e.mute = tt.mute
			c, err := profile.NewCloner(e)
			if err != nil {
				t.Fatal(err)
			}
			got, err := c.Clone(t.Context(), speech.Cloning{Recordings: []pcm.Audio{voice(tt.hz, tt.tempo, 6, 16000)}, Language: tt.language})
			if err != nil {
				t.Fatal(err)
			}
			if got.Base != tt.want || math.Abs(got.Prosody.Pitch-tt.pitch) > 0.03 || math.Abs(got.Prosody.Tempo-tt.factor) > 0.1 {
				t.Errorf("%+v", got)
			}
			if got.Prosody.Check() != nil || strings.Contains(got.Description, "farther") != tt.clamped {
				t.Errorf("%+v", got)
			}
		})
	}
}

func TestCloneMeasuresVoicesOnce(t *testing.T) {
	t.Parallel()
	e := chorus()
	e.voices = e.voices[1:]
	c, err := profile.NewCloner(e)
	if err != nil {
		t.Fatal(err)
	}
	quiet := voice(110, 4, 2, 8000)
	pcm.Amplify(quiet.Samples, -25)
	for range 3 { // two recordings, each too short on its own, one of them quiet
		if _, err := c.Clone(t.Context(), speech.Cloning{Recordings: []pcm.Audio{voice(110, 4, 2, 16000), quiet}}); err != nil {
			t.Fatal(err)
		}
	}
	if n := e.spoken.Load(); n != 2 {
		t.Errorf("%d texts were spoken to measure 2 voices", n)
	}
}

func TestCloneRefuses(t *testing.T) {
	t.Parallel()
	if _, err := profile.NewCloner(nil); err == nil {
		t.Error("no engine is none")
	}
	e := chorus()
	c, err := profile.NewCloner(e)
	if err != nil {
		t.Fatal(err)
	}
	good := voice(110, 4, 5, 8000)
	for name, tt := range map[string]struct {
		cloning speech.Cloning
		field   string
	}{
		"no recording":    {speech.Cloning{}, "audio_samples"},
		"silence":         {speech.Cloning{Recordings: []pcm.Audio{{Rate: 8000, Channels: 1, Samples: make([]int16, 80000)}}}, "audio_samples"},
		"too low a rate":  {speech.Cloning{Recordings: []pcm.Audio{voice(110, 4, 5, 4000)}}, "audio_samples"},
		"unknown to them": {speech.Cloning{Recordings: []pcm.Audio{good}, Language: "fr"}, "language"},
	} {
		_, err := c.Clone(t.Context(), tt.cloning)
		if e, _ := errors.AsType[*callwright.Error](err); e == nil || e.Code != callwright.CodeBadRequest || e.Field != tt.field {
			t.Errorf("%s: %v", name, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Clone(ctx, speech.Cloning{Recordings: []pcm.Audio{good}}); !errors.Is(err, context.Canceled) {
		t.Errorf("an ended context: %v", err)
	}
	e.pitches = nil
	if _, err := c.Clone(t.Context(), speech.Cloning{Recordings: []pcm.Audio{good}}); callwright.CodeOf(err) != callwright.CodeUnavailable {
		t.Errorf("a broken engine: %v", err)
	}
	if name, kind := c.Describe(); name != "profile" || kind != speech.KindProfile || c.Delete(t.Context(), "org", "id") != nil {
		t.Errorf("%s, %s", name, kind)
	}
}

func TestCloner(t *testing.T) {
	t.Parallel()
	e := chorus()
	speechtest.RunCloner(t, speechtest.ClonerHarness{
		New: func(t *testing.T) speech.Cloner {
			t.Helper()
			c, err := profile.NewCloner(e)
			if err != nil {
				t.Fatal(err)
			}
			return c
		},
		Recordings: []pcm.Audio{voice(110, 4, 5, 8000), voice(115, 4, 5, 8000)},
		Unusable:   map[string][]pcm.Audio{"too short": {voice(110, 4, 1, 8000)}},
		Voices:     e.Describe().Names(),
	})
}
