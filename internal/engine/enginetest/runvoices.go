package enginetest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/speech/speechtest"
	"github.com/callwright/callwright/speech/tts"
)

// Talker is a streaming synthesizer.
type Talker interface {
	tts.Engine
	tts.Talker
}

// Service is a Voices server for the configuration of an adapter.
type Service struct {
	URL, Key string
	Client   *http.Client
	Logger   *slog.Logger
}

// VoicesHarness contains the constructor of the adapter under test.
type VoicesHarness struct {
	New   func(t *testing.T, s Service) Talker
	Marks bool // whether the service reports the places of words
}

// RunVoices tests an adapter against a Voices server: by the suites of package speechtest, and with each fault of the server. It must not
// run in parallel with other tests.
func RunVoices(t *testing.T, h VoicesHarness) {
	t.Helper()
	harness := speechtest.SynthesizerHarness{
		New: func(t *testing.T) tts.Synthesizer {
			t.Helper()
			return h.start(t, &Voices{}).Talker
		},
		AnyVoice: true, Features: speechtest.SpeechFeatures{Marks: h.Marks},
	}
	speechtest.RunSynthesizer(t, harness)
	speechtest.RunTalker(t, harness)
	for name, run := range map[string]func(*testing.T, VoicesHarness){
		"one connection a call": oneConnection, "marks": exactMarks, "lost once": lostOnce, "lost always": lostAlways,
		"odd bytes": oddBytes, "late audio": lateAudio, "refused text": refusedText, "refused connection": refusedConnection,
		"idle connection": idleConnection, "speed": speedOfVoice, "description": describesVoice, "wrong key": wrongKey,
	} {
		t.Run(name, func(t *testing.T) { run(t, h) })
	}
}

// started is an adapter with its server.
type started struct {
	Talker

	server *Voices
	log    *lockedBuffer
}

// lockedBuffer is the output of a logger.
type lockedBuffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.String()
}

func (h VoicesHarness) start(t *testing.T, v *Voices) started {
	t.Helper()
	key := v.Key
	if v.Key == "" {
		v.Key, key = "key-4711", "key-4711"
	}
	if v.Key == "other" {
		key = "key-4711"
	}
	server := v.Serve(t)
	log := &lockedBuffer{}
	t.Cleanup(func() {
		if strings.Contains(log.String(), v.Key) {
			t.Errorf("the log has the key: %s", log)
		}
	})
	return started{h.New(t, Service{server.URL, key, server.Client(), slog.New(slog.NewTextHandler(log, nil))}), v, log}
}

// talk opens a Talk that is closed at the end of the test.
func (s started) talk(t *testing.T, rate int) tts.Talk {
	t.Helper()
	talk := tts.Open(t.Context(), s.Talker, tts.Request{Rate: rate, Language: "en-US"})
	t.Cleanup(func() { _ = talk.Close() })
	return talk
}

// read returns the audio of a stream until its error.
func read(stream tts.Stream) (audio []int16, err error) {
	buffer := make([]int16, 160)
	for err == nil {
		var n int
		n, err = stream.Read(buffer)
		audio = append(audio, buffer[:n]...)
	}
	return audio, err
}

// wantText checks that a stream speaks a text, each character once.
func wantText(t *testing.T, want string, stream tts.Stream) []int16 {
	t.Helper()
	audio, err := read(stream)
	if got := TextOfSigns(audio); got != want || !errors.Is(err, io.EOF) {
		t.Errorf("spoken: %q, %v; want %q", got, err, want)
	}
	_ = stream.Close()
	return audio
}

const (
	said = "Hello there, how are you?"
	more = "It's 9:30, isn't it?"
)

func oneConnection(t *testing.T, h VoicesHarness) {
	s := h.start(t, &Voices{})
	talk := s.talk(t, 8000)
	for range 3 {
		ctx, cancel := context.WithCancel(t.Context())
		a := talk.Answer(ctx)
		one, two := a.Say(said), a.Say(more)
		wantText(t, said, one)
		wantText(t, more, two)
		a.End()
		interrupted := talk.Answer(ctx)
		stream := interrupted.Say(said)
		cancel()
		_, _ = read(stream)
		_ = stream.Close()
	}
	if n := s.server.Connections(); n != 1 {
		t.Errorf("%d connections", n)
	}
}

// exactMarks checks that each mark shows exactly the audio of its word.
func exactMarks(t *testing.T, h VoicesHarness) {
	if !h.Marks {
		return
	}
	for _, fault := range []VoiceFault{"", VoiceFaultMarks} {
		a := h.start(t, &Voices{Fault: fault}).talk(t, 16000).Answer(t.Context())
		for _, text := range []string{said, more} {
			stream := a.Say(text)
			audio := wantText(t, text, stream)
			marks := tts.MarksOf(stream)
			if len(marks) != len(strings.Fields(text)) {
				t.Errorf("%q: marks %+v", text, marks)
			}
			for _, m := range marks {
				word := string([]rune(text)[m.From:m.To])
				if got := TextOfSigns(audio[m.Start:m.End]); !strings.HasPrefix(got, word) || len(got) > len(word)+1 {
					t.Errorf("the mark of %q shows %q", word, got)
				}
			}
		}
		a.End()
	}
}

// lostOnce checks that a text is spoken once although the connection is lost in the middle of a word.
func lostOnce(t *testing.T, h VoicesHarness) {
	for _, fault := range []VoiceFault{VoiceFaultClose, VoiceFaultBase64} {
		s := h.start(t, &Voices{Fault: fault, Times: 1})
		a := s.talk(t, 8000).Answer(t.Context())
		one, two := a.Say(said), a.Say(more)
		a.End()
		wantText(t, said, one)
		wantText(t, more, two)
		if n := s.server.Connections(); n != 2 || !strings.Contains(s.log.String(), "tried again") {
			t.Errorf("%s: %d connections; log %s", fault, n, s.log)
		}
	}
}

// wantCode checks that a stream ends with a code, and that the error does not have the key.
func wantCode(t *testing.T, want callwright.Code, stream tts.Stream, s started) {
	t.Helper()
	_, err := read(stream)
	if e, ok := errors.AsType[*callwright.Error](err); !ok || e.Code != want || strings.Contains(err.Error(), s.server.Key) {
		t.Errorf("error %v, want %s", err, want)
	}
	_ = stream.Close()
}

func lostAlways(t *testing.T, h VoicesHarness) {
	s := h.start(t, &Voices{Fault: VoiceFaultBase64})
	talk := s.talk(t, 8000)
	for range 2 {
		a := talk.Answer(t.Context())
		one, two := a.Say("ab"), a.Say("abcdefgh")
		wantCode(t, callwright.CodeUnavailable, two, s)
		_, _ = read(one)
		a.End()
	}
}

func oddBytes(t *testing.T, h VoicesHarness) {
	a := h.start(t, &Voices{Fault: VoiceFaultOdd}).talk(t, 16000).Answer(t.Context())
	defer a.End()
	wantText(t, said, a.Say(said))
	wantText(t, more, a.Say(more))
}

// lateAudio checks that audio after an interruption is in no stream.
func lateAudio(t *testing.T, h VoicesHarness) {
	s := h.start(t, &Voices{Fault: VoiceFaultLate, Times: 1})
	talk := s.talk(t, 8000)
	ctx, cancel := context.WithCancel(t.Context())
	interrupted := talk.Answer(ctx)
	stream := interrupted.Say(said)
	await(func() bool { return len(s.server.Said()) > 0 })
	cancel()
	if audio, err := read(stream); len(audio) > 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("%d samples, %v", len(audio), err)
	}
	await(func() bool { return s.server.Canceled() > 0 })
	s.server.endFault()
	next := talk.Answer(t.Context())
	defer next.End()
	wantText(t, more, next.Say(more))
	if n := s.server.Connections(); n != 1 {
		t.Errorf("%d connections", n)
	}
}

// await waits until a condition holds. The deadline of the test bounds the wait.
func await(holds func() bool) {
	for !holds() {
		<-time.After(time.Millisecond)
	}
}

func refusedText(t *testing.T, h VoicesHarness) {
	s := h.start(t, &Voices{Fault: VoiceFaultError})
	a := s.talk(t, 8000).Answer(t.Context())
	defer a.End()
	stream := a.Say(said)
	_, err := read(stream)
	if code := callwright.CodeOf(err); code != callwright.CodeUnavailable && code != callwright.CodeTooManyRequests || strings.Contains(err.Error(), s.server.Key) {
		t.Errorf("error %v", err)
	}
	if log := s.log.String(); !strings.Contains(log, "refuses a text") || !strings.Contains(log, "code=") || strings.Contains(log, "code=\"\"") {
		t.Errorf("log %s", log)
	}
}

func refusedConnection(t *testing.T, h VoicesHarness) {
	s := h.start(t, &Voices{Fault: VoiceFaultStatus})
	a := s.talk(t, 8000).Answer(t.Context())
	defer a.End()
	wantCode(t, callwright.CodeTooManyRequests, a.Say(said), s)
	if log := s.log.String(); !strings.Contains(log, "status=429") {
		t.Errorf("log %s", log)
	}
}

func wrongKey(t *testing.T, h VoicesHarness) {
	s := h.start(t, &Voices{Key: "other"})
	a := s.talk(t, 8000).Answer(t.Context())
	defer a.End()
	wantCode(t, callwright.CodeUnavailable, a.Say(said), s)
}

// idleConnection checks that a connection that the service has closed between two answers is opened again.
func idleConnection(t *testing.T, h VoicesHarness) {
	s := h.start(t, &Voices{})
	talk := s.talk(t, 8000)
	for range 3 {
		a := talk.Answer(t.Context())
		wantText(t, said, a.Say(said))
		s.server.CloseIdle()
		wantText(t, more, a.Say(more))
		a.End()
		s.server.CloseIdle()
	}
}

// speedOfVoice checks that the speed is limited to the range of the service.
func speedOfVoice(t *testing.T, h VoicesHarness) {
	for _, tempo := range []float64{tts.MinFactor, tts.MaxFactor} {
		stream, err := h.start(t, &Voices{}).Synthesize(t.Context(), tts.Request{Text: said, Rate: 8000, Prosody: tts.Prosody{Tempo: tempo}})
		if err != nil {
			t.Fatal(err)
		}
		wantText(t, said, stream)
	}
}

func describesVoice(t *testing.T, h VoicesHarness) {
	d := h.start(t, &Voices{}).Describe()
	if d.Name == "" || len(d.Voices) != 1 || d.Voices[0].Name != d.Default || !d.Tempo || d.Pitch {
		t.Errorf("%+v", d)
	}
}
