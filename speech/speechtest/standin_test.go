package speechtest_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/speech"
	"github.com/callwright/callwright/speech/pcm"
	"github.com/callwright/callwright/speech/speechtest"
	"github.com/callwright/callwright/speech/tts"
)

//nolint:paralleltest // the suite counts goroutines
func TestEngine(t *testing.T) {
	speechtest.RunEngine(t, speechtest.EngineHarness{
		New: func(*testing.T) tts.Engine { return &speechtest.Engine{} }, Features: speechtest.SpeechFeatures{Marks: true},
	})
}

// TestEngineTellsRequestsApart checks that equal requests give equal audio, and that a change of the text, the voice, the language or the
// prosody changes the audio.
func TestEngineTellsRequestsApart(t *testing.T) {
	t.Parallel()
	e := &speechtest.Engine{}
	speak := func(r tts.Request) []int16 {
		t.Helper()
		r.Rate = 8000
		audio, err := speechtest.Speak(t.Context(), e, r)
		if err != nil {
			t.Fatal(err)
		}
		return audio
	}
	var all [][]int16
	for _, r := range []tts.Request{
		{Text: "One two."}, {Text: "One tow."}, {Text: "One two.", Voice: "ben"}, {Text: "One two.", Language: "de"},
		{Text: "One two.", Prosody: tts.Prosody{Pitch: 1.1}}, {Text: "One two.", Prosody: tts.Prosody{Tempo: 1.1}},
	} {
		audio := speak(r)
		if !slices.Equal(audio, speak(r)) {
			t.Errorf("%+v gives different audio twice", r)
		}
		for _, other := range all {
			if slices.Equal(audio, other) {
				t.Errorf("%+v sounds as another one", r)
			}
		}
		all = append(all, audio)
	}
	if now, most := e.Open(); now != 0 || most != 1 || len(e.Requests()) != 12 {
		t.Errorf("%d streams are open, %d were, of %d requests", now, most, len(e.Requests()))
	}
}

func TestEngineFaults(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	request := tts.Request{Text: "Good morning.", Rate: 8000}
	whole, _ := speechtest.Speak(t.Context(), &speechtest.Engine{}, request)
	for name, c := range map[string]struct {
		engine  *speechtest.Engine
		samples int
		err     error
		after   time.Duration
	}{
		"refuses": {&speechtest.Engine{OnRequest: func(tts.Request) error { return broken }}, 0, broken, 0},
		"breaks":  {&speechtest.Engine{Broken: broken}, len(whole) / 2, broken, 0},
		"hangs":   {&speechtest.Engine{Hangs: true}, len(whole) / 2, context.DeadlineExceeded, time.Minute},
		"gate":    {&speechtest.Engine{}, 0, context.DeadlineExceeded, time.Minute},
		"mute":    {&speechtest.Engine{Mute: true}, 0, nil, 0},
		"delay":   {&speechtest.Engine{Delay: time.Second}, len(whole), nil, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				if name == "gate" {
					c.engine.Gate = make(chan struct{}) // created in the bubble
				}
				start := time.Now()
				audio, err := speechtest.Speak(ctx, c.engine, request)
				if len(audio) != c.samples || !errors.Is(err, c.err) || time.Since(start) != c.after {
					t.Errorf("%d samples and %v after %v; want %d, %v, %v", len(audio), err, time.Since(start), c.samples, c.err, c.after)
				}
				if now, _ := c.engine.Open(); now != 0 {
					t.Errorf("%d streams are left open", now)
				}
			})
		})
	}
}

func TestEngineEndless(t *testing.T) {
	t.Parallel()
	s, err := (&speechtest.Engine{Endless: true}).Synthesize(t.Context(), tts.Request{Text: "Hello.", Rate: 8000})
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		if n, err := s.Read(make([]int16, 4000)); n == 0 || err != nil {
			t.Fatalf("%d samples, %v", n, err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if n, err := s.Read(make([]int16, 10)); n != 0 || err == nil {
		t.Errorf("after Close %d samples, %v", n, err)
	}
	over, _ := (&speechtest.Engine{Overstates: true}).Synthesize(t.Context(), tts.Request{Text: "Hello.", Rate: 8000})
	if n, _ := over.Read(make([]int16, 10)); n <= 10 {
		t.Errorf("%d samples of 10", n)
	}
}

func TestClonerFaults(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	recording := pcm.Audio{Rate: 8000, Channels: 1, Samples: slices.Repeat([]int16{0, 9000, 0, -9000}, 4100)}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		one := speech.Cloning{ID: "v1", Org: "a", Recordings: []pcm.Audio{recording}}
		if _, err := (&speechtest.Cloner{Fails: broken}).Clone(ctx, one); !errors.Is(err, broken) {
			t.Errorf("fails with %v", err)
		}
		if err := (&speechtest.Cloner{FailsToDelete: broken}).Delete(ctx, "a", "v1"); !errors.Is(err, broken) {
			t.Errorf("forgets with %v", err)
		}
		c := &speechtest.Cloner{Delay: time.Second}
		made, err := c.Clone(ctx, one)
		if err != nil || made.Base != "ada" || made.Prosody.Check() != nil || made.Prosody == (tts.Prosody{}) || !c.Knows("a", "v1") || c.Knows("b", "v1") {
			t.Errorf("made %+v, %v", made, err)
		}
		if err := c.Delete(ctx, "a", "v1"); err != nil || c.Knows("a", "v1") || len(c.Clonings()) != 1 {
			t.Errorf("forgot: %v", err)
		}
		if _, err := c.Clone(ctx, speech.Cloning{ID: "v2", Org: "a", Recordings: []pcm.Audio{{Rate: 8000, Channels: 1, Samples: make([]int16, 8000)}}}); callwright.CodeOf(err) != callwright.CodeBadRequest {
			t.Errorf("silence gives %v", err)
		}
		if _, err := (&speechtest.Cloner{Hangs: true}).Clone(ctx, one); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("hangs and gives %v", err)
		}
	})
}

func TestCloner(t *testing.T) {
	t.Parallel()
	audio := func(seconds float64) pcm.Audio {
		return pcm.Audio{Rate: 8000, Channels: 1, Samples: slices.Repeat([]int16{0, 9000, 0, -9000}, int(2000*seconds))}
	}
	speechtest.RunCloner(t, speechtest.ClonerHarness{
		New:        func(*testing.T) speech.Cloner { return &speechtest.Cloner{} },
		Recordings: []pcm.Audio{audio(3.2), audio(4)}, Voices: new(speechtest.Engine).Describe().Names(),
	})
}
