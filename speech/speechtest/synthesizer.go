package speechtest

import (
	"cmp"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/speech/pcm"
	"github.com/callwright/callwright/speech/tts"
)

// SynthesizerHarness contains the constructor of the synthesizer under test, and the synthesizer's voices and deviations from the defaults.
type SynthesizerHarness struct {
	// New returns a new synthesizer, and registers the synthesizer's cleanup with t.Cleanup.
	New func(t *testing.T) tts.Synthesizer
	// Voice is a voice other than the default voice. It is empty if the synthesizer has only one voice.
	Voice string
	// AnyVoice states that the synthesizer cannot detect unknown voices.
	AnyVoice bool
	// Features describes how the synthesizer deviates from the defaults.
	Features SpeechFeatures
}

// SpeechFeatures describes how a synthesizer deviates from the defaults. The zero value is right for most synthesizers.
type SpeechFeatures struct {
	// Short and Long are texts that the default voice speaks. Short lasts 0.3 to 10 s, and Long at least twice as long as Short. The
	// defaults are English texts.
	Short, Long string
	// Language is the language of the texts as BCP 47. The default is "en-US".
	Language string
	// Streams is the number of streams that the suite opens concurrently. The default is 8.
	Streams int
	// Marks states that every word of Long has a mark at each rate and tempo. The default accepts streams without marks.
	Marks bool
	// Patience is the time after which a test of the suite fails because it hangs. The default is two minutes.
	Patience time.Duration
}

// withDefaults returns the features with defaults in place of zero values.
func (f SpeechFeatures) withDefaults() SpeechFeatures {
	f.Short, f.Language = cmp.Or(f.Short, "Good morning."), cmp.Or(f.Language, "en-US")
	f.Long = cmp.Or(f.Long, "Good morning. This is a longer text, which takes some seconds to be spoken, and has two sentences. "+
		"Nobody knows what will be said at the end of it.")
	f.Streams, f.Patience = cmp.Or(f.Streams, 8), cmp.Or(f.Patience, 2*time.Minute)
	return f
}

// synthesizer is the synthesizer under test and its features.
type synthesizer struct {
	tts.Synthesizer
	SpeechFeatures

	voice    string
	anyVoice bool
}

// synthesizerTests contains the tests of RunSynthesizer.
var synthesizerTests = suite[synthesizer]{
	{"speaks at every rate", speaksAtEveryRate},
	{"longer text, longer audio", longerTextLongerAudio},
	{"nothing to say", nothingToSay},
	{"text too long", textTooLong},
	{"ends with its context", endsWithItsContext},
	{"context ended before", contextEndedBefore},
	{"close", closesStream},
	{"close before the first read", closesUnread},
	{"side by side", speaksSideBySide},
	{"voices", speaksVoices},
	{"rates that do not exist", impossibleRates},
	{"marks", marksWords},
}

// RunSynthesizer tests a tts.Synthesizer. Audio of more than a minute fails, and so does a test that runs longer than Features.Patience.
// RunSynthesizer must not run in parallel with other tests, because it checks for leaked goroutines.
func RunSynthesizer(t *testing.T, h SynthesizerHarness) {
	t.Helper()
	f := h.Features.withDefaults()
	synthesizerTests.oneByOne(t, f.Patience, func(t *testing.T) synthesizer {
		t.Helper()
		return synthesizer{h.New(t), f, h.Voice, h.AnyVoice}
	})
}

// mostOf returns the maximum number of samples that the suite reads for a request: one minute.
func mostOf(speech tts.Request) int { return 60 * min(max(speech.Rate, 1), pcm.MaxRate) }

// say returns the complete audio of a request. It checks that the stream ends with io.EOF, also when it is read again.
func say(t reporter, s tts.Synthesizer, speech tts.Request) []int16 {
	t.Helper()
	stream := begin(t.Context(), t, s, speech)
	defer func() { _ = stream.Close() }()
	audio, err := drain(stream, mostOf(speech))
	if !errors.Is(err, io.EOF) {
		t.Fatalf("%q ends with %v, want io.EOF", speech.Text, err)
	}
	if n, err := stream.Read(make([]int16, 10)); n != 0 || !errors.Is(err, io.EOF) {
		t.Errorf("after its end %q gives %d samples and %v", speech.Text, n, err)
	}
	return audio
}

func begin(ctx context.Context, t reporter, s tts.Synthesizer, speech tts.Request) tts.Stream {
	t.Helper()
	stream, err := s.Synthesize(ctx, speech)
	if err != nil {
		t.Fatalf("speak %q: %v", speech.Text, err)
	}
	return stream
}

func speaksAtEveryRate(t reporter, s synthesizer) {
	var seconds float64
	for _, rate := range []int{8000, 16000, 48000} {
		audio := say(t, s, tts.Request{Text: s.Short, Rate: rate})
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

func longerTextLongerAudio(t reporter, s synthesizer) {
	short := say(t, s, tts.Request{Text: s.Short, Rate: 8000})
	long := say(t, s, tts.Request{Text: s.Long, Rate: 8000, Language: s.Language})
	if len(long) < 2*len(short) {
		t.Errorf("%d samples for %q, %d for %q", len(short), s.Short, len(long), s.Long)
	}
}

func nothingToSay(t reporter, s synthesizer) {
	for _, text := range []string{"", " \n\t"} {
		if audio := say(t, s, tts.Request{Text: text, Rate: 8000}); len(audio) > 8000 {
			t.Errorf("%q becomes %d samples", text, len(audio))
		}
	}
}

func textTooLong(t reporter, s synthesizer) {
	text := strings.Repeat("a", tts.MaxText+1)
	refused(t, s, tts.Request{Text: text, Rate: 8000}, "text")
}

// refused checks that Synthesize or a Read of its stream returns CodeBadRequest with the given field.
func refused(t reporter, s tts.Synthesizer, speech tts.Request, field string) {
	t.Helper()
	_, err := speak(t.Context(), s, speech, mostOf(speech))
	if e, ok := errors.AsType[*callwright.Error](err); !ok || e.Code != callwright.CodeBadRequest || e.Field != field {
		t.Errorf("error %v, want %v about %q", err, callwright.CodeBadRequest, field)
	}
}

func endsWithItsContext(t reporter, s synthesizer) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stream := begin(ctx, t, s, tts.Request{Text: s.Long, Rate: 8000})
	defer func() { _ = stream.Close() }()
	if _, err := stream.Read(make([]int16, 1)); err != nil {
		t.Fatal(err)
	}
	cancel()
	soon(t, "reading after the context has ended", func() {
		if audio, err := drain(stream, 8000); errors.Is(err, io.EOF) || len(audio) > 8000 {
			t.Errorf("%d more samples and %v after the context has ended", len(audio), err)
		}
	})
}

func contextEndedBefore(t reporter, s synthesizer) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	soon(t, "speaking with an ended context", func() {
		speech := tts.Request{Text: s.Long, Rate: 8000}
		if audio, err := speak(ctx, s, speech, mostOf(speech)); err == nil || len(audio) > 8000 {
			t.Errorf("%d samples and %v with an ended context", len(audio), err)
		}
	})
}

func closesStream(t reporter, s synthesizer) {
	stream := begin(t.Context(), t, s, tts.Request{Text: s.Long, Rate: 8000})
	var reading sync.WaitGroup
	begun := make(chan struct{})
	reading.Go(func() {
		close(begun)
		_, _ = drain(stream, maxSamples) // any result is allowed, because the engine may have finished before Close
	})
	<-begun
	soon(t, "closing a stream that is read", func() {
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

func closesUnread(t reporter, s synthesizer) {
	stream := begin(t.Context(), t, s, tts.Request{Text: s.Long, Rate: 8000})
	soon(t, "closing a stream that nobody reads", func() {
		if err := stream.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
}

func speaksSideBySide(t reporter, s synthesizer) {
	want := len(say(t, s, tts.Request{Text: s.Short, Rate: 8000}))
	var all sync.WaitGroup
	for range s.Streams {
		all.Go(func() {
			audio, err := speak(t.Context(), s, tts.Request{Text: s.Short, Rate: 8000}, 2*want)
			if err != nil || len(audio) < want/2 || len(audio) > want*2 {
				t.Errorf("%d samples and %v, alone it was %d", len(audio), err, want)
			}
		})
	}
	all.Wait()
}

func speaksVoices(t reporter, s synthesizer) {
	if !s.anyVoice {
		for _, voice := range []string{"no-such-voice", "-version", "../../etc/passwd", "a\x00b"} {
			refused(t, s, tts.Request{Text: s.Short, Voice: voice, Rate: 8000}, "voice")
		}
	}
	if s.voice != "" && level(say(t, s, tts.Request{Text: s.Short, Voice: s.voice, Rate: 8000})) < 0.005 {
		t.Errorf("voice %q is silent", s.voice)
	}
}

func impossibleRates(t reporter, s synthesizer) {
	for _, rate := range []int{-8000, 0, pcm.MinRate - 1, pcm.MaxRate + 1} {
		refused(t, s, tts.Request{Text: s.Short, Rate: rate}, "rate")
	}
}
