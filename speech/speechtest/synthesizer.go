package speechtest

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/callwrighttest"
	"github.com/callwright/callwright/speech/tts"
)

// SynthesizerHarness is the harness of RunSynthesizer.
type SynthesizerHarness struct {
	// New returns a synthesizer. It uses t.Cleanup to free the synthesizer's resources.
	New func(t *testing.T) tts.Synthesizer
	// Voice is a voice beside the default one; empty: none.
	Voice string
	// AnyVoice states that the synthesizer cannot detect unknown voices. AnyRate states that it accepts every rate, even invalid
	// ones; it is for fakes, since tts.Request bounds the rate.
	AnyVoice, AnyRate bool
}

// The texts of the suite. The long one takes several times as long as the short one.
const (
	shortText = "Good morning."
	longText  = "Good morning. This is a longer text, which takes some seconds to be spoken, and has two sentences. " +
		"Nobody knows what will be said at the end of it."
)

// RunSynthesizer tests a tts.Synthesizer with English texts, which the default voice speaks, also with the language "en-US". Its
// short text lasts 0.3 to 10 s. It must not run in parallel with other tests, because it checks for leaked goroutines.
func RunSynthesizer(t *testing.T, h SynthesizerHarness) {
	t.Helper()
	for name, run := range map[string]func(*testing.T, tts.Synthesizer){
		"speaks at every rate":        speaksAtEveryRate,
		"longer text, longer audio":   longerTextLongerAudio,
		"nothing to say":              nothingToSay,
		"text too long":               textTooLong,
		"ends with its context":       endsWithItsContext,
		"context ended before":        contextEndedBefore,
		"close":                       closesStream,
		"close before the first read": closesUnread,
		"side by side":                speaksSideBySide,
	} {
		callwrighttest.Sequential(t, name, func(t *testing.T) { run(t, h.New(t)) })
	}
	callwrighttest.Sequential(t, "voices", func(t *testing.T) { h.voices(t) })
	callwrighttest.Sequential(t, "rates that do not exist", func(t *testing.T) { h.impossibleRates(t) })
}

// say returns a whole speech.
func say(t *testing.T, s tts.Synthesizer, speech tts.Request) []int16 {
	t.Helper()
	stream := begin(t.Context(), t, s, speech)
	defer func() { _ = stream.Close() }()
	audio, err := drain(stream)
	if !errors.Is(err, io.EOF) {
		t.Fatalf("%q ends with %v, want io.EOF", speech.Text, err)
	}
	if n, err := stream.Read(make([]int16, 10)); n != 0 || !errors.Is(err, io.EOF) {
		t.Errorf("after its end %q gives %d samples and %v", speech.Text, n, err)
	}
	return audio
}

func begin(ctx context.Context, t *testing.T, s tts.Synthesizer, speech tts.Request) tts.Stream {
	t.Helper()
	stream, err := s.Synthesize(ctx, speech)
	if err != nil {
		t.Fatalf("speak %q: %v", speech.Text, err)
	}
	return stream
}

func speaksAtEveryRate(t *testing.T, s tts.Synthesizer) {
	var seconds float64
	for _, rate := range []int{8000, 16000, 48000} {
		audio := say(t, s, tts.Request{Text: shortText, Rate: rate})
		now := float64(len(audio)) / float64(rate)
		if level(audio) < 0.005 {
			t.Errorf("at %d samples a second %.2f s of near silence came", rate, now)
		}
		if seconds == 0 {
			seconds = now
		}
		if now < 0.3 || now > 10 || now < seconds*0.9 || now > seconds*1.1 {
			t.Errorf("at %d samples a second the text takes %.2f s, before it took %.2f s", rate, now, seconds)
		}
	}
}

func longerTextLongerAudio(t *testing.T, s tts.Synthesizer) {
	short := say(t, s, tts.Request{Text: shortText, Rate: 8000})
	long := say(t, s, tts.Request{Text: longText, Rate: 8000, Language: "en-US"})
	if len(long) < 2*len(short) {
		t.Errorf("%d samples for %q, %d for %q", len(short), shortText, len(long), longText)
	}
}

func nothingToSay(t *testing.T, s tts.Synthesizer) {
	for _, text := range []string{"", " \n\t"} {
		if audio := say(t, s, tts.Request{Text: text, Rate: 8000}); len(audio) > 8000 {
			t.Errorf("%q becomes %d samples", text, len(audio))
		}
	}
}

func textTooLong(t *testing.T, s tts.Synthesizer) {
	text := strings.Repeat("a", tts.MaxText+1)
	refused(t, s, tts.Request{Text: text, Rate: 8000}, "text")
}

// refused checks that a speech is CodeBadRequest with a field, from Synthesize or from the first Read.
func refused(t *testing.T, s tts.Synthesizer, speech tts.Request, field string) {
	t.Helper()
	_, err := Speak(t.Context(), s, speech)
	if e, ok := errors.AsType[*callwright.Error](err); !ok || e.Code != callwright.CodeBadRequest || e.Field != field {
		t.Errorf("error %v, want %v about %q", err, callwright.CodeBadRequest, field)
	}
}

func endsWithItsContext(t *testing.T, s tts.Synthesizer) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stream := begin(ctx, t, s, tts.Request{Text: longText, Rate: 8000})
	defer func() { _ = stream.Close() }()
	if _, err := stream.Read(make([]int16, 1)); err != nil {
		t.Fatal(err)
	}
	cancel()
	callwrighttest.Soon(t, "reading after the context has ended", func() {
		if audio, err := drain(stream); errors.Is(err, io.EOF) || len(audio) > 8000 {
			t.Errorf("%d more samples and %v after the context has ended", len(audio), err)
		}
	})
}

func contextEndedBefore(t *testing.T, s tts.Synthesizer) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	callwrighttest.Soon(t, "speaking with an ended context", func() {
		if audio, err := Speak(ctx, s, tts.Request{Text: longText, Rate: 8000}); err == nil {
			t.Errorf("%d samples with an ended context", len(audio))
		}
	})
}

func closesStream(t *testing.T, s tts.Synthesizer) {
	stream := begin(t.Context(), t, s, tts.Request{Text: longText, Rate: 8000})
	var reading sync.WaitGroup
	begun := make(chan struct{})
	reading.Go(func() {
		close(begun)
		_, _ = drain(stream) // it need only end: the engine may have finished before
	})
	<-begun
	callwrighttest.Soon(t, "closing a stream that is read", func() {
		for range 2 {
			if err := stream.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
		}
		reading.Wait()
	})
	if n, err := stream.Read(make([]int16, 10)); n != 0 || err == nil {
		t.Errorf("after Close %d samples and %v", n, err)
	}
}

func closesUnread(t *testing.T, s tts.Synthesizer) {
	stream := begin(t.Context(), t, s, tts.Request{Text: longText, Rate: 8000})
	callwrighttest.Soon(t, "closing a stream that nobody reads", func() {
		if err := stream.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
}

func speaksSideBySide(t *testing.T, s tts.Synthesizer) {
	want := len(say(t, s, tts.Request{Text: shortText, Rate: 8000}))
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			audio, err := Speak(t.Context(), s, tts.Request{Text: shortText, Rate: 8000})
			if err != nil || len(audio) < want/2 || len(audio) > want*2 {
				t.Errorf("%d samples and %v, alone it was %d", len(audio), err, want)
			}
		})
	}
	all.Wait()
}

func (h SynthesizerHarness) voices(t *testing.T) {
	s := h.New(t)
	if !h.AnyVoice {
		for _, voice := range []string{"no-such-voice", "-version", "../../etc/passwd", "a\x00b"} {
			refused(t, s, tts.Request{Text: shortText, Voice: voice, Rate: 8000}, "voice")
		}
	}
	if h.Voice != "" && level(say(t, s, tts.Request{Text: shortText, Voice: h.Voice, Rate: 8000})) < 0.005 {
		t.Errorf("voice %q is silent", h.Voice)
	}
}

func (h SynthesizerHarness) impossibleRates(t *testing.T) {
	if h.AnyRate {
		return
	}
	for _, rate := range []int{-8000, 0, 1 << 30} {
		refused(t, h.New(t), tts.Request{Text: shortText, Rate: rate}, "rate")
	}
}
