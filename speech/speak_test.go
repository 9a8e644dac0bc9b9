package speech_test

import (
	"errors"
	"io"
	"math"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/speech"
	"github.com/callwright/callwright/speech/pcm"
	"github.com/callwright/callwright/speech/tts"
)

const (
	greeting = "Thank you for calling the bakery, my name is Ada."
	long     = "This is the first sentence of a text, which is long enough to be spoken alone, without any of the others of the text. " +
		"The second sentence follows it, and it is as long as the first one was, so that it is spoken by itself as well. " +
		"A third sentence ends the text, after which there is nothing more to say, and the caller can answer in peace."
)

func TestSpeak(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		for _, format := range append(speech.Formats(), "") {
			s := h.say(org, speech.Request{Text: greeting + " " + string(format), Voice: "ADA", Format: format, User: "key"})
			want := format
			if want == "" {
				want = speech.PCM44100
			}
			audio := h.read(org, s.ID)
			if s.Format != want || audio.Rate != want.Rate() || audio.Channels != 1 || s.Duration != audio.Duration() {
				t.Errorf("%q gave %s with %v at %d samples a second, which lasts %v", format, s.Format, s.Duration, audio.Rate, audio.Duration())
			}
			if got := pcm.LUFS(audio.Samples, audio.Rate); math.Abs(got+19) > 0.5 {
				t.Errorf("%q is at %.1f LUFS", format, got)
			}
			if s.Voice != "ada" || s.User != "key" || s.Org != org || s.CreatedAt.IsZero() || s.Bytes != int64(len(h.blobs.kept[blobName{org, s.Blob}])) {
				t.Errorf("kept is %+v", s)
			}
		}
		if got := h.total(org); got != len(speech.Formats())+1 {
			t.Errorf("%d samples are kept", got)
		}
	})
}

func TestLanguageChoosesTheVoice(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		for language, voice := range map[string]string{"": "ada", "en": "ada", "en-GB": "ada", "de": "cleo", "de-DE": "cleo"} {
			if s := h.say(org, speech.Request{Text: greeting, Language: language}); s.Voice != voice || s.Language != language {
				t.Errorf("%q is spoken by %s", language, s.Voice)
			}
		}
	})
}

// TestRepeat checks that a sample shares the audio of an earlier sample only if organization, text, voice, language and format are the
// same.
func TestRepeat(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		first := h.say(org, speech.Request{Text: greeting})
		again := h.say(org, speech.Request{Text: greeting, Voice: "ada", User: "another key"})
		if again.ID == first.ID || again.Blob != first.Blob || again.User != "another key" || len(h.engine.Requests()) != 1 {
			t.Errorf("the same text gave %+v after %d requests", again, len(h.engine.Requests()))
		}
		if h.read(org, again.ID).Duration() != first.Duration {
			t.Error("the audio is another")
		}
		for what, r := range map[string]speech.Request{
			"text": {Text: greeting + "!"}, "voice": {Text: greeting, Voice: "ben"}, "format": {Text: greeting, Format: speech.PCM8000},
			"language": {Text: greeting, Language: "en"},
		} {
			if s := h.say(org, r); s.Blob == first.Blob {
				t.Errorf("another %s has the same audio", what)
			}
		}
		if s := h.say(other, speech.Request{Text: greeting}); s.Blob == first.Blob {
			t.Error("another organization has the same audio")
		}
	})
}

func TestSpeakRefuses(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		own := h.clone(other, "Robin")
		for name, c := range map[string]struct {
			request speech.Request
			field   string
		}{
			"no text":              {speech.Request{}, "text"},
			"blank":                {speech.Request{Text: " \n\t"}, "text"},
			"too long":             {speech.Request{Text: strings.Repeat("é", speech.MaxText+1)}, "text"},
			"nothing but marks":    {speech.Request{Text: "(...)?!"}, "text"},
			"nothing to be seen":   {speech.Request{Text: strings.Repeat("\u200b", 50)}, "text"},
			"control characters":   {speech.Request{Text: "Hello\x1b[31m"}, "text"},
			"NUL":                  {speech.Request{Text: "Hello\x00"}, "text"},
			"C1":                   {speech.Request{Text: "Hello\u0085"}, "text"},
			"not UTF-8":            {speech.Request{Text: "caf\xe9"}, "text"},
			"format":               {speech.Request{Text: greeting, Format: "mp3"}, "output_format"},
			"voice":                {speech.Request{Text: greeting, Voice: "nobody"}, "voice"},
			"a foreign voice":      {speech.Request{Text: greeting, Voice: own.ID}, "voice"},
			"a foreign voice name": {speech.Request{Text: greeting, Voice: "Robin"}, "voice"},
			"language":             {speech.Request{Text: greeting, Language: "zz"}, "language"},
			"the voice's language": {speech.Request{Text: greeting, Voice: "ada", Language: "de"}, "language"},
			"a long language":      {speech.Request{Text: greeting, Language: strings.Repeat("e", 36)}, "language"},
		} {
			_, err := h.Speak(t.Context(), org, c.request)
			wantError(t, name, err, callwright.CodeBadRequest, c.field)
			_, err = h.Stream(t.Context(), org, c.request)
			wantError(t, name+", streamed", err, callwright.CodeBadRequest, c.field)
		}
		if h.total(org) != 0 || h.blobs.count() != 0 {
			t.Error("something is kept")
		}
		h.engine.Mute = true // as an engine that cannot speak the script
		_, err := h.Speak(t.Context(), org, speech.Request{Text: "日本語だけ"})
		wantError(t, "a script that the engine lacks", err, callwright.CodeBadRequest, "text")
		h.engine.Mute = false
		// The longest text is accepted, and markup is passed to the engine as text.
		h.say(org, speech.Request{Text: strings.Repeat("é", speech.MaxText)})
		h.say(org, speech.Request{Text: `<speak><break time="10s"/>Hello</speak>`})
		if last := h.engine.Requests(); last[len(last)-1].Text != `<speak><break time="10s"/>Hello</speak>` {
			t.Errorf("markup became %q", last[len(last)-1].Text)
		}
	})
}

func TestDidYouMean(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		h.clone(org, "Clementine")
		for voice, want := range map[string]string{
			"adda": "did you mean ada?", "CLEMENTIN": "did you mean Clementine?", "zzzzzzzz": "(4 voices are known)", strings.Repeat("x", 1000): "(4 voices are known)",
		} {
			_, err := h.Speak(t.Context(), org, speech.Request{Text: greeting, Voice: voice})
			if !strings.Contains(callwright.MessageOf(err), want) || len(callwright.MessageOf(err)) > 300 {
				t.Errorf("%.20q: %v", voice, err)
			}
		}
	})
}

// TestSlowEngine uses an engine that needs 25 s per sentence. A text of few sentences must succeed, and a long text must fail.
func TestSlowEngine(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		h.engine.OnRequest = func(tts.Request) error {
			time.Sleep(25 * time.Second)
			return nil
		}
		if _, err := h.Speak(t.Context(), org, speech.Request{Text: long}); err != nil {
			t.Error(err)
		}
		_, err := h.Speak(t.Context(), org, speech.Request{Text: strings.Repeat(long, 5)})
		wantError(t, "a long text", err, callwright.CodeUnavailable, "text")
	})
}

// TestFailuresKeepNothing checks that no sample and no audio remain after any failure of the engine or the storage.
func TestFailuresKeepNothing(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for name, change := range map[string]func(*house){
		"refuses":         func(h *house) { h.engine.OnRequest = func(tts.Request) error { return callwright.ErrUnavailable } },
		"breaks":          func(h *house) { h.engine.Broken = callwright.ErrUnavailable },
		"hangs":           func(h *house) { h.engine.Hangs = true },
		"never ends":      func(h *house) { h.engine.Endless = true },
		"gives nothing":   func(h *house) { h.engine.Mute = true },
		"fails uncoded":   func(h *house) { h.engine.Broken = broken },
		"nowhere to keep": func(h *house) { h.blobs.fail = callwright.ErrUnavailable },
	} {
		inHouse(t, func(t *testing.T, h *house) {
			change(h)
			want := callwright.CodeUnavailable
			if name == "fails uncoded" {
				want = callwright.CodeInternal
			}
			begun := time.Now()
			_, err := h.Speak(t.Context(), org, speech.Request{Text: long})
			if callwright.CodeOf(err) != want || time.Since(begun) > time.Minute {
				t.Errorf("%s: %v after %v", name, err, time.Since(begun))
			}
			p, err := h.Stream(t.Context(), org, speech.Request{Text: long})
			if err == nil {
				_, err = io.Copy(io.Discard, p)
				if closed := p.Close(); closed != nil {
					t.Error(closed)
				}
			}
			if callwright.CodeOf(err) != want {
				t.Errorf("%s, streamed: %v", name, err)
			}
			if h.total(org) != 0 || h.blobs.count() != 0 {
				t.Errorf("%s: something is kept", name)
			}
		})
	}
}

// TestStreamBegins checks that the first sentence can be read while the engine still holds the second one.
func TestStreamBegins(t *testing.T) {
	t.Parallel()
	var gate chan struct{} // created in the test's bubble
	inHouse(t, func(t *testing.T, h *house) {
		gate <- struct{}{}
		p, err := h.Stream(t.Context(), org, speech.Request{Text: long, Format: speech.PCM8000})
		if err != nil {
			t.Fatal(err)
		}
		wav, err := pcm.NewWAVReader(p)
		if err != nil || wav.Rate != 8000 {
			t.Fatalf("a header of %+v, %v", wav, err)
		}
		if n, err := wav.Read(make([]int16, 100)); n == 0 || err != nil {
			t.Fatalf("%d samples of the first sentence, %v", n, err)
		}
		if n := len(h.engine.Requests()); n > 2 || h.total(org) != 0 {
			t.Errorf("after the first sentence there are %d requests and %d samples", n, h.total(org))
		}
		close(gate)
		rest := 100
		buffer := make([]int16, 4096)
		for err == nil {
			var n int
			n, err = wav.Read(buffer)
			rest += n
		}
		if !errors.Is(err, io.EOF) || h.total(org) != 1 {
			t.Fatalf("it ends with %v and %d samples", err, h.total(org))
		}
		if kept := h.read(org, p.Sample.ID); len(kept.Samples) != rest {
			t.Errorf("%d samples were streamed and %d kept", rest, len(kept.Samples))
		}
		if err := errors.Join(p.Close(), p.Close()); err != nil {
			t.Error(err)
		}
	}, func(h *house, _ *speech.Config) {
		gate = make(chan struct{}, 1)
		h.engine.Gate = gate
	})
}

// TestStreamOfOneSentence checks that a streamed file of one sentence equals the stored file, whose header states the length.
func TestStreamOfOneSentence(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		for range 2 { // synthesized, then repeated
			p, err := h.Stream(t.Context(), org, speech.Request{Text: greeting})
			if err != nil {
				t.Fatal(err)
			}
			file, err := io.ReadAll(p)
			if err != nil || string(file) != string(h.blobs.kept[blobName{org, h.last().Blob}]) {
				t.Errorf("streamed are %d bytes, %v", len(file), err)
			}
			if err := p.Close(); err != nil {
				t.Error(err)
			}
		}
		if n := len(h.engine.Requests()); n != 1 {
			t.Errorf("%d requests", n)
		}
	})
}

// last returns the organization's newest sample.
func (h *house) last() speech.Sample {
	h.t.Helper()
	list, err := h.Samples(h.t.Context(), org, speech.SampleQuery{Limit: 1})
	if err != nil || len(list.Samples) == 0 {
		h.t.Fatal(err)
	}
	return list.Samples[0]
}

// TestStreamIsLeft closes a stream during the synthesis. Nothing must be stored, and another text can be spoken.
func TestStreamIsLeft(t *testing.T) {
	t.Parallel()
	var gate chan struct{} // created in the test's bubble
	inHouse(t, func(t *testing.T, h *house) {
		gate <- struct{}{}
		p, err := h.Stream(t.Context(), org, speech.Request{Text: long})
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
		if h.total(org) != 0 || h.blobs.count() != 0 {
			t.Error("something is kept")
		}
		close(gate)
		h.say(org, speech.Request{Text: greeting})
	}, func(h *house, c *speech.Config) {
		gate = make(chan struct{}, 1)
		h.engine.Gate, c.PerOrg = gate, 1
	})
}

// TestBusy checks that texts beyond the limits per organization and for all organizations are refused with CodeTooManyRequests.
func TestBusy(t *testing.T) {
	t.Parallel()
	var gate chan struct{} // created in the test's bubble
	inHouse(t, func(t *testing.T, h *house) {
		var speaking sync.WaitGroup
		say := func(of callwright.OrgID) {
			speaking.Go(func() {
				if _, err := h.Speak(t.Context(), of, speech.Request{Text: greeting}); err != nil {
					t.Error(err)
				}
			})
		}
		refused := func(of callwright.OrgID) {
			t.Helper()
			_, err := h.Speak(t.Context(), of, speech.Request{Text: greeting})
			if e, ok := errors.AsType[*callwright.Error](err); !ok || e.Code != callwright.CodeTooManyRequests || e.RetryAfter <= 0 {
				t.Errorf("one more gives %v", err)
			}
		}
		say(org)
		say(org)
		synctest.Wait()
		refused(org)
		say(other)
		synctest.Wait()
		refused("c")
		if n := len(h.engine.Requests()); n != 2 {
			t.Errorf("the engine speaks %d texts at once", n)
		}
		close(gate)
		speaking.Wait()
		h.say(org, speech.Request{Text: greeting})
		if h.total(org) != 3 {
			t.Errorf("%d samples", h.total(org))
		}
	}, func(h *house, c *speech.Config) {
		gate = make(chan struct{})
		h.engine.Gate = gate
		c.Parallel, c.Waiting, c.PerOrg = 2, 1, 2
	})
}
