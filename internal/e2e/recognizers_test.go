package e2e_test

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/callwright/callwright/adapters/flite"
	"github.com/callwright/callwright/internal/await"
	"github.com/callwright/callwright/internal/e2e/baresip"
	"github.com/callwright/callwright/internal/engine/enginetest"
	"github.com/callwright/callwright/speech/pcm"
	"github.com/callwright/callwright/speech/tts"
	"github.com/callwright/callwright/transport/oas/callsoas"
)

// These constants are what the caller of TestStreamingRecognizers says, in the form of the recognizers, and the last answer.
const (
	request1 = "tell me how i can find your rooms"
	request2 = "stop please i have a question"
	request3 = "how much is the treatment for a child"
	price    = "It is free of charge, goodbye."
)

// recognizerCase is a recognizer with its fake.
type recognizerCase struct {
	stt, model string
	dialect    func() enginetest.Dialect
	alive      bool // whether the adapter keeps idle sessions open
	single     bool // whether a session recognizes one utterance
	whole      bool // whether there are no partial texts
	judges     bool // whether the service judges that a turn is over
}

// TestStreamingRecognizers places a call with each recognizer against its fake, which recognizes what fits its sentences best. The caller
// asks, interrupts the answer, asks again after a hold, and is understood although the recognizer's session ends in the middle of a word.
func TestStreamingRecognizers(t *testing.T) {
	t.Parallel()
	ear := fitting(t, request1, request2, request3)
	for name, c := range map[string]recognizerCase{
		"deepgram v1":     {stt: "deepgram", dialect: enginetest.DeepgramSegments, alive: true},
		"deepgram v2":     {stt: "deepgram", model: "flux-general-en", dialect: enginetest.DeepgramTurns, alive: true, judges: true},
		"vosk":            {stt: "vosk", dialect: enginetest.Vosk},
		"openai-realtime": {stt: "openai-realtime", dialect: enginetest.OpenAI},
		"elevenlabs":      {stt: "elevenlabs", dialect: enginetest.ElevenLabs, alive: true},
		"assemblyai":      {stt: "assemblyai", dialect: enginetest.AssemblyAI, alive: true, judges: true},
		"cartesia":        {stt: "cartesia", dialect: enginetest.Cartesia, alive: true, judges: true},
		"sherpa-online":   {stt: "sherpa-online", dialect: enginetest.SherpaOnline, single: true},
		"sherpa-offline":  {stt: "sherpa-offline", dialect: enginetest.SherpaOffline, single: true, whole: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var broken atomic.Bool
			var at time.Time
			e := &enginetest.Engine{Dialect: c.dialect, Key: "k", Ear: ear, Idle: 20 * time.Second}
			e.Break = func(_ int, partial string) bool { // called by one session at a time
				if !strings.HasPrefix(partial, "how much is") {
					return false
				}
				if broken.CompareAndSwap(false, true) {
					at = time.Now()
					return true
				}
				if !at.IsZero() {
					t.Logf("after the loss of the session, its words are heard again in %s", time.Since(at))
					at = time.Time{}
				}
				return false
			}
			address := e.Serve(t).URL
			flags := []string{"--stt", c.stt, "--stt-url", address, "--stt-api-key", "k"}
			if c.stt == "openai-realtime" {
				flags = []string{"--stt", c.stt, "--llm-base-url", withModel(t, address) + "/v1", "--llm-model", "m", "--llm-api-key", "k"}
			}
			if c.model != "" {
				flags = append(flags, "--stt-model", c.model)
			}
			r := callOf(t, c, e, flags)
			if !broken.Load() || len(e.Invalid()) > 0 {
				t.Errorf("broken: %t, the service refused %q", broken.Load(), e.Invalid())
			}
			checkRecognized(t, c, e, r)
		})
	}
}

// withModel serves a model that answers as the rules of the call, besides the recognizer at the given URL, and returns the URL of both.
func withModel(t *testing.T, recognizer string) string {
	t.Helper()
	to, err := url.Parse(recognizer)
	if err != nil {
		t.Fatal(err)
	}
	services := http.NewServeMux()
	services.Handle("/", httputil.NewSingleHostReverseProxy(to))
	services.HandleFunc("POST /v1/chat/completions", func(w http.ResponseWriter, r *http.Request) {
		var a asked
		if err := json.NewDecoder(r.Body).Decode(&a); err != nil || len(a.Messages) == 0 {
			http.Error(w, "no messages", http.StatusBadRequest)
			return
		}
		say := func(text string) string { return fmt.Sprintf(`{"role":"assistant","content":%q}`, text) }
		switch last := a.Messages[len(a.Messages)-1].Content; {
		case strings.Contains(last, "a question"):
			stream(w, say(counterQuestion))
		case strings.Contains(last, "how much"):
			stream(w, say(price), `{"tool_calls":[{"index":0,"id":"b","type":"function","function":{"name":"end_call","arguments":"{}"}}]}`)
		default:
			stream(w, say(strings.Join(directions, " ")))
		}
	})
	server := httptest.NewServer(services)
	t.Cleanup(server.Close)
	return server.URL
}

// TestWyoming places the same call with a Wyoming server, which has no sessions.
func TestWyoming(t *testing.T) {
	t.Parallel()
	ear := fitting(t, request1, request2, request3)
	var broken atomic.Bool
	address := enginetest.Wyoming(t, func(_ map[string]any, audio []int16) []byte {
		text := ear(audio, 16000)
		if text == request3 && broken.CompareAndSwap(false, true) {
			return nil
		}
		return enginetest.WyomingBytes("transcript", map[string]any{"text": text})
	})
	c := recognizerCase{stt: "wyoming", single: true, whole: true}
	r := callOf(t, c, nil, []string{"--stt", c.stt, "--stt-url", address})
	checkRecognized(t, c, nil, r)
}

// callOf places the call, and returns its record.
func callOf(t *testing.T, c recognizerCase, e *enginetest.Engine, flags []string) *callsoas.CallRecord {
	t.Helper()
	ca := authority(t)
	phone := baresip.Start(t, baresip.Config{CA: ca, User: theirs.String()})
	s := start(t, ca.CertFile(), flags...)
	s.AttachOutbound(t, ours.String(), phone.Server())
	request := appointment()
	request.Task = callsoas.NewOptString(fmt.Sprintf("Help the caller.\nwhen %q: say %q\nwhen %q: say %q and end\notherwise: say %q",
		"a question", counterQuestion, "how much", price, strings.Join(directions, " ")))
	id := s.Call(t, request)
	says(t, s, id, greeting)
	phone.Say(t, speak(t, callerVoice, request1))
	s.Until(t, id, "to hear the caller", func(r *callsoas.CallRecord) bool { return len(lines(r, callsoas.TranscriptLineUserUser)) > 0 })
	phone.HearsMore(t, 4*time.Second)
	phone.Say(t, speak(t, callerVoice, request2))
	says(t, s, id, counterQuestion)
	if c.alive {
		phone.Hold(t)
		before := e.Messages()
		await.That(t, "the session to be kept open", func() bool { return e.Messages() > before+1 })
		phone.Resume(t)
		phone.Await(t, "CALL_REMOTE_SDP", 3)
	}
	phone.Say(t, speak(t, callerVoice, request3))
	return s.Ended(t, id)
}

// checkRecognized checks the record of the call.
func checkRecognized(t *testing.T, c recognizerCase, e *enginetest.Engine, r *callsoas.CallRecord) {
	t.Helper()
	judged := false
	for _, l := range r.Transcripts {
		t.Logf("%s %q at %.2f to %.2f s, waited %+v, latency %+v, held %+v", l.User, l.Text, l.Start.Value, l.End.Value, l.Waited.Value, l.Latency.Value, l.Held)
		judged = judged || l.Waited.Value.Why.Value == "engine"
	}
	if said, want := strings.Join(lines(r, callsoas.TranscriptLineUserUser), " "), request1+" "+request2+" "+request3; said != want {
		t.Errorf("the caller said %q", said)
	}
	said := lines(r, callsoas.TranscriptLineUserAssistant)
	if len(said) != 4 || !strings.HasPrefix(strings.Join(directions, " "), strings.TrimRight(said[1], " .-–—…")) ||
		!slices.Equal(slices.Delete(slices.Clone(said), 1, 2), []string{greeting, counterQuestion, price}) {
		t.Errorf("the agent said %q", said)
	}
	if n := r.Conversation.Value; n.Interrupted != 1 || n.Turns != 3 {
		t.Errorf("the conversation is summarized as %+v", n)
	}
	if c.judges && !judged {
		t.Error("the recognizer's judgment has ended no turn")
	}
	if e == nil {
		return
	}
	t.Logf("%d sessions, %d messages, partial texts %q", e.Sessions(), e.Messages(), e.Partials())
	if !c.whole && !slices.Contains(e.Finals(), request3) && !slices.ContainsFunc(e.Partials(), func(p string) bool { return p == request3 }) {
		t.Errorf("the service has heard %q", e.Finals())
	}
	if !c.single && e.Sessions() != 2 {
		t.Errorf("there were %d sessions", e.Sessions())
	}
}

// envelopeTime is the duration of a step of an envelope.
const envelopeTime = 20 * time.Millisecond

// heardSentence is a sentence as it sounds.
type heardSentence struct {
	words  []string
	levels []float64 // loudness of each step
	starts []int     // steps at which the words start
	ends   []int
}

// fitting returns a recognizer of the caller's sentences. It returns the words of the sentence, from one of its words on, that fits the
// loudness of the audio best: all words that have ended in the audio.
func fitting(t *testing.T, sentences ...string) func(samples []int16, rate int) string {
	t.Helper()
	var known []heardSentence
	for _, text := range sentences {
		known = append(known, hearSentence(t, text))
	}
	return func(samples []int16, rate int) string {
		levels := levelsOf(samples, rate)
		for len(levels) > 0 && levels[0] < quiet {
			levels = levels[1:]
		}
		for len(levels) > 0 && levels[len(levels)-1] < quiet {
			levels = levels[:len(levels)-1]
		}
		if len(levels) < 10 {
			return "" // too short to be known
		}
		best, text := math.Inf(1), ""
		for _, s := range known {
			for i, start := range s.starts {
				unlikely := 0.0
				if i > 0 {
					unlikely = 3 // dB: the audio begins in the middle of a sentence
				}
				for at := max(0, start-5); at <= start+5; at++ {
					if d := distance(levels, s.levels[at:]) + unlikely; d < best {
						best, text = d, s.from(i, at+len(levels))
					}
				}
			}
		}
		return text
	}
}

// from returns the words from a word on of which more than half was spoken before a step: the end of a sentence may be too soft to hear.
func (s heardSentence) from(word, end int) string {
	last := word
	for last < len(s.words) && s.starts[last]+s.ends[last] <= 2*end {
		last++
	}
	return strings.Join(s.words[word:last], " ")
}

// quiet is the loudness below which there is no speech, in dBFS.
const quiet = -45.0

// levelsOf returns the loudness of each step of the audio, and quiet for softer steps.
func levelsOf(samples []int16, rate int) (levels []float64) {
	for step := range slices.Chunk(samples, pcm.Samples(envelopeTime, rate)) {
		level := pcm.Loudness(step)
		if !(level > quiet) {
			level = quiet - 1
		}
		levels = append(levels, level)
	}
	return levels
}

// distance returns the mean difference of two envelopes in dB. Audio that is longer than the sentence does not fit.
func distance(heard, known []float64) float64 {
	sum := 0.0
	for i, level := range heard {
		other := quiet - 1
		if i < len(known) {
			other = known[i]
		}
		sum += math.Abs(level - other)
	}
	return sum / float64(len(heard))
}

// hearSentence synthesizes a sentence with the caller's voice.
func hearSentence(t *testing.T, text string) heardSentence {
	t.Helper()
	synthesizer, err := flite.New(flite.Config{})
	if err != nil {
		t.Fatal(err)
	}
	stream, err := synthesizer.Synthesize(t.Context(), tts.Request{Text: text, Voice: callerVoice, Rate: speechRate})
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	audio := speak(t, callerVoice, text)
	for buffer := make([]int16, 4096); ; {
		if _, err := stream.Read(buffer); err != nil {
			break
		}
	}
	s := heardSentence{words: strings.Fields(text), levels: levelsOf(audio.Samples, audio.Rate)}
	step := pcm.Samples(envelopeTime, audio.Rate)
	for _, m := range tts.MarksOf(stream) {
		s.starts, s.ends = append(s.starts, m.Start/step), append(s.ends, m.End/step)
	}
	if len(s.starts) != len(s.words) {
		t.Fatalf("%q has %d marks", text, len(s.starts))
	}
	return s
}
