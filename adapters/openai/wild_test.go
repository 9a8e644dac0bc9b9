package openai_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/openai"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/internal/engine/enginetest"
	"github.com/callwright/callwright/speech/pcm"
	"github.com/callwright/callwright/speech/speechtest"
	"github.com/callwright/callwright/speech/tts"
)

// wild returns a client of a fake that answers with a file in testdata/wild.
func wild(t *testing.T, name string) llm.Model {
	return (&fake{chat: func(w http.ResponseWriter) { enginetest.Wild(t, w, name) }}).start(t)
}

// TestWildStreams checks streams as servers of many kinds send them.
func TestWildStreams(t *testing.T) {
	t.Parallel()
	const slots = `[find_slots {"day":"Tue"}]`
	enginetest.RunStreams(t, map[string]enginetest.Stream{
		"S04.sse":  {Text: "Hi"},                                                  // lines end with CR
		"S05.sse":  {Text: "Hi there"},                                            // a byte order mark
		"S10.sse":  {Text: "Hi"},                                                  // no empty lines between events
		"S11.sse":  {Text: "Hi"},                                                  // [DONE] without a finish reason
		"S13.sse":  {Text: "Hi", Class: llm.ClassTransient},                       // finish reason "error"
		"S13b.sse": {Text: "Hi", Class: llm.ClassTransient},                       // the same with an error in the choice
		"S14.sse":  {Class: llm.ClassTransient},                                   // thoughts up to the maximum length
		"S14b.sse": {Class: llm.ClassTransient},                                   // an empty answer
		"S15.sse":  {Text: "Hi", Class: llm.ClassRateLimited},                     // codes that are numbers
		"S15b.sse": {Class: llm.ClassQuota},                                       //
		"S15c.sse": {Class: llm.ClassTooLong},                                     //
		"S15f.sse": {Class: llm.ClassTooLong},                                     // an event "error" without the member "error"
		"S19.sse":  {Calls: slots},                                                // the name again in each piece
		"S23.sse":  {Calls: `[find_slots {"day":"Mon"} weather {"city":"Rome"}]`}, // two calls without index and id
		"S25.sse":  {Calls: slots},                                                // arguments as an object
		"S26.sse":  {Calls: "[weather ]"},                                         // arguments null
		"S28.sse":  {Text: "Hi"},                                                  // parts with thoughts
		"S30.sse":  {Text: "Hi"},                                                  // thoughts in the text
		"S31.sse":  {Text: "I can't help with that."},                             // a refusal
		"S36.sse":  {Text: "Hi"},                                                  // a server that does not stream
		"S39.sse":  {Calls: `[find_slots {"day": "Tue"}]`},                        // a tool call in the text
		"S49.sse":  {Calls: "[find_slots {}]"},                                    // function_call
		"S50.sse":  {Calls: "[find_slots {}]"},                                    // a prefix before the name
		"S51.sse":  {Class: llm.ClassTransient},                                   // a tool that does not exist
		"S52.sse":  {Calls: "[find_slots {}]"},                                    // a signature
	}, wild)
}

// TestWildRefusals checks the class and the wait of error responses as services of many kinds send them.
func TestWildRefusals(t *testing.T) {
	t.Parallel()
	enginetest.RunRefusals(t, map[string]llm.Failure{
		"R01.http":  {Class: llm.ClassRateLimited, RetryAfter: 30 * time.Second}, // a date
		"R03.http":  {Class: llm.ClassRateLimited, RetryAfter: 45837906927},      // google.rpc.RetryInfo
		"R07.http":  {Class: llm.ClassPermanent},
		"R12.http":  {Class: llm.ClassTooLong},
		"R12b.http": {Class: llm.ClassTooLong},
		"R16.http":  {Class: llm.ClassTransient},
		"A06.http":  {Class: llm.ClassRateLimited}, // an error with the status 200
		"A10.http":  {Class: llm.ClassInvalid},     // cut off at the maximum length
	}, wild)
}

// TestWildAnswers checks that the thoughts of a model are no part of its answer.
func TestWildAnswers(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"A01.http", "A04.http"} {
		c := (&fake{chat: func(w http.ResponseWriter) { enginetest.Wild(t, w, name) }}).start(t)
		if a, err := c.Answer(t.Context(), llm.Question{}); err != nil || string(a.JSON) != `{"verdict":"pass"}` {
			t.Errorf("%s: answer %s, %v", name, a.JSON, err)
		}
	}
}

// TestRefusalsAreLogged checks that the log has the status, the code and the parameter of a refusal, and not the service's text.
func TestRefusalsAreLogged(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { enginetest.Wild(t, w, "R06.http") }))
	t.Cleanup(server.Close)
	var log bytes.Buffer
	c := client(t, openai.Config{
		BaseURL: server.URL, Runtime: callwright.Runtime{Logger: slog.New(slog.NewTextHandler(&log, nil))},
	})
	if _, err := c.Answer(t.Context(), llm.Question{}); err == nil {
		t.Fatal("there was an answer")
	}
	if !strings.Contains(log.String(), "status 400, code unsupported_value, parameter temperature") || strings.Contains(log.String(), "Only the default") {
		t.Errorf("the log is %s", &log)
	}
}

// TestRefusedMembers checks that a member that a service refuses is left out, at once and in later requests.
func TestRefusedMembers(t *testing.T) {
	t.Parallel()
	for name, member := range map[string]string{"R05.http": "stream_options", "R06.http": "temperature"} {
		t.Run(member, func(t *testing.T) {
			t.Parallel()
			var refused atomic.Int32
			f := &fake{}
			f.chat = func(w http.ResponseWriter) {
				if f.request[member] != nil {
					refused.Add(1)
					enginetest.Wild(t, w, name)
					return
				}
				events(w, delta(`"content":"Hi"`, `"stop"`), "[DONE]")
			}
			c, zero := f.start(t), 0.0
			for range 2 {
				if got, err := agentstest.Collect(t.Context(), c, llm.ReplyRequest{Temperature: &zero}); err != nil || got.Text != "Hi" {
					t.Errorf("reply %q, %v", got.Text, err)
				}
			}
			if refused.Load() != 1 {
				t.Errorf("%d refused requests", refused.Load())
			}
		})
	}
}

// TestRefusedSchemas checks what is asked again after a refusal in the JSON schema mode, and what is remembered.
func TestRefusedSchemas(t *testing.T) {
	t.Parallel()
	for name, strict := range map[string]int32{
		"A09.http": 1, // a grammar that cannot be compiled is remembered with its schema
		"A14.http": 2, // one answer has failed
		"A15.http": 1,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var requests, other atomic.Int32
			f := &fake{}
			f.chat = func(w http.ResponseWriter) {
				format, _ := f.request["response_format"].(map[string]any)
				if format == nil {
					complete(w, `{"why":"x","pass":true}`)
					return
				}
				if strings.Contains(f.raw, `"other"`) {
					other.Add(1)
					complete(w, `{"other":1}`)
					return
				}
				requests.Add(1)
				enginetest.Wild(t, w, name)
			}
			c := f.start(t)
			for range 2 {
				if a, err := c.Answer(t.Context(), verdict); err != nil || string(a.JSON) != `{"why":"x","pass":true}` {
					t.Errorf("answer %s, %v", a.JSON, err)
				}
			}
			if _, err := c.Answer(t.Context(), llm.Question{Schema: json.RawMessage(`{"type":"object","properties":{"other":{"type":"number"}}}`)}); err != nil {
				t.Error(err)
			}
			if requests.Load() != strict || other.Load() != 1 {
				t.Errorf("%d requests with the schema, %d with another one", requests.Load(), other.Load())
			}
		})
	}
}

// TestHistories checks the messages that are sent for a conversation that services would refuse: neighbours of one role, tool calls with
// broken arguments, and a signature of a service.
func TestHistories(t *testing.T) {
	t.Parallel()
	f := &fake{}
	_, err := agentstest.Collect(t.Context(), f.start(t), llm.ReplyRequest{
		Arriving: true, Facts: []string{"The caller is Ada."}, Tools: []llm.Tool{{Name: "find"}},
		Messages: []llm.Message{
			{Role: llm.RoleCaller, Text: "Hi"}, {Role: llm.RoleCaller, Text: "Are you there?"},
			{Role: llm.RoleAgent, Text: "Yes."}, {Role: llm.RoleAgent, Calls: []llm.ToolCall{
				{ID: "a", Name: "find", Arguments: json.RawMessage(`{"day": `), Extra: json.RawMessage(`{"google":{"thought_signature":"S"}}`)},
				{ID: "b", Name: "find", Arguments: json.RawMessage{}},
			}},
			{Role: llm.RoleTool, Call: "a", Text: "no JSON"}, {Role: llm.RoleTool, Call: "b", Text: "nothing"},
			{Role: llm.RoleAgent, Text: "One moment."}, {Role: llm.RoleCaller, Text: "Fine."},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for _, m := range f.request["messages"].([]any) {
		m := m.(map[string]any)
		fmt.Fprint(&got, m["role"], " ")
		if calls, err := json.Marshal(m["tool_calls"]); err != nil || string(calls) != "null" {
			fmt.Fprintf(&got, "%s ", calls)
		}
	}
	const want = `system user assistant ` +
		`[{"extra_content":{"google":{"thought_signature":"S"}},"function":{"arguments":"{}","name":"find"},"id":"a","type":"function"},{"function":{"arguments":"{}","name":"find"},"id":"b","type":"function"}] ` +
		`tool ` + `tool assistant user `
	if got.String() != want {
		t.Errorf("the messages are\n%s\nwant\n%s", &got, want)
	}
}

// tone returns a WAV file with 300 ms of a tone. size is the length of the audio that the file states; 0 means the right one.
func tone(t *testing.T, rate, channels int, size uint32) []byte {
	t.Helper()
	samples := make([]int16, rate*channels*3/10)
	for i := range samples {
		samples[i] = int16(8000 * math.Sin(2*math.Pi*440*float64(i/channels)/float64(rate)))
	}
	var file bytes.Buffer
	if err := pcm.WriteWAV(&file, pcm.Audio{Rate: rate, Channels: channels, Samples: samples}); err != nil {
		t.Fatal(err)
	}
	out := file.Bytes()
	if head, _, _ := bytes.Cut(out, []byte("data")); size > 0 {
		binary.LittleEndian.PutUint32(out[len(head)+4:], size)
	}
	return out
}

// TestWildAudio checks audio in other formats than the requested one: it is played as what it is, or is an error.
func TestWildAudio(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		media string
		body  []byte
		tone  bool
	}{
		"WAV":                {"audio/wav", tone(t, 24000, 1, 0), true},
		"WAV as PCM":         {"audio/pcm", tone(t, 24000, 1, 0), true},
		"44.1 kHz, stereo":   {"audio/wav", tone(t, 44100, 2, 0), true},
		"without a length":   {"audio/wav", tone(t, 24000, 1, math.MaxUint32), true},
		"a list after it":    {"audio/wav", append(tone(t, 24000, 1, 0), "LIST\x04\x00\x00\x00INFO"...), true},
		"PCM at 16 kHz":      {"audio/L16; rate=16000", make([]byte, 2*16000*3/10), true},
		"MP3":                {"audio/pcm", []byte("\xff\xfb\x90\x64\x00\x0f\xf0\x00\x00\x69"), false},
		"MP3 with a tag":     {"audio/pcm", []byte("ID3\x04\x00\x00\x00\x00\x00\x23TSSE"), false},
		"Ogg":                {"audio/ogg", []byte("OggS\x00\x02"), false},
		"a page":             {"text/html", []byte("<html>Welcome</html>"), false},
		"nothing":            {"audio/pcm", nil, false},
		"an error":           {"application/json", []byte(`{"error":{"message":"model is loading"}}`), false},
		"half a WAV header":  {"audio/wav", []byte("RIFF\x00\x00"), false},
		"an error, no media": {"", []byte(`{"error":{"message":"model is loading"}}`), false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := (&fake{speech: func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", tt.media)
				_, _ = w.Write(tt.body)
			}}).start(t)
			heard, err := speechtest.Speak(t.Context(), c, tts.Request{Text: "Hello.", Rate: 8000})
			if length := pcm.Duration(len(heard), 8000); tt.tone && (err != nil || length < 280*time.Millisecond || length > 320*time.Millisecond) {
				t.Errorf("%v of audio, %v", length, err)
			}
			if e, ok := errors.AsType[*callwright.Error](err); !tt.tone && (!ok || e.Code != callwright.CodeUnavailable || len(heard) > 0) {
				t.Errorf("%d samples, %v", len(heard), err)
			}
		})
	}
}

// decoder decodes a file to a tone, unless the file is damaged.
type decoder struct{}

func (decoder) Decode(_ context.Context, src io.ReadSeeker, _ time.Duration) (pcm.Audio, error) {
	file, err := io.ReadAll(src)
	if err == nil && bytes.Contains(file, []byte("damaged")) {
		err = callwright.Errorf(callwright.CodeUnsupportedMedia, "damaged")
	}
	return pcm.Audio{Rate: 16000, Channels: 1, Samples: make([]int16, 16000*3/10)}, err
}

// TestCompressedAudio checks that audio in compressed formats is decoded and converted to the requested rate, by the content type or by the
// first bytes, and that nothing of a damaged file is heard.
func TestCompressedAudio(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		media, body string
		want        int
	}{
		"MP3": {"audio/mpeg", "\xff\xfb\x90\x64", 2400}, "MP3 as PCM": {"audio/pcm", "ID3\x04\x00", 2400}, "MP3 that starts within": {"audio/mpeg", "\x00\x01\x02\x03", 2400},
		"Ogg": {"", "OggS\x00\x02", 2400}, "damaged": {"audio/mpeg", "\xff\xfbdamaged", 0}, "too long": {"audio/mpeg", strings.Repeat("\xff\xfb\x90\x64", 3<<20), 0},
		"a page": {"audio/mpeg", "<html>", 0},
	} {
		f := &fake{decoder: decoder{}, speech: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", tt.media)
			_, _ = io.WriteString(w, tt.body)
		}}
		heard, err := speechtest.Speak(t.Context(), f.start(t), tts.Request{Text: "Hello.", Rate: 8000})
		if len(heard) != tt.want || (err == nil) != (tt.want > 0) || err != nil && callwright.CodeOf(err) != callwright.CodeUnavailable {
			t.Errorf("%s: %d samples, %v", name, len(heard), err)
		}
	}
}

// TestRefusedPCM checks that WAV is requested from a service that refuses PCM, and that a refusal for an unpaid invoice is not one of a voice.
func TestRefusedPCM(t *testing.T) {
	t.Parallel()
	var formats []string
	f := &fake{}
	f.speech = func(w http.ResponseWriter, _ *http.Request) {
		format := f.request["response_format"].(string)
		if formats = append(formats, format); format == "pcm" {
			enginetest.Wild(t, w, "T10.http")
			return
		}
		w.Header().Set("Content-Type", "audio/wav")
		_, _ = w.Write(tone(t, 24000, 1, 0))
	}
	c := f.start(t)
	for range 2 {
		if _, err := speechtest.Speak(t.Context(), c, tts.Request{Text: "Hello.", Rate: 8000}); err != nil {
			t.Error(err)
		}
	}
	if fmt.Sprint(formats) != "[pcm wav wav]" {
		t.Errorf("the formats are %v", formats)
	}
	unpaid := (&fake{speech: func(w http.ResponseWriter, _ *http.Request) { enginetest.Wild(t, w, "T16.http") }}).start(t)
	_, err := speechtest.Speak(t.Context(), unpaid, tts.Request{Text: "Hello.", Rate: 8000})
	if e, ok := errors.AsType[*callwright.Error](err); !ok || e.Field != "" {
		t.Errorf("error %v", err)
	}
}

// TestWildTranscripts checks that what a model invents for noise is no words.
func TestWildTranscripts(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{"text":" [BLANK_AUDIO] "}`:                                                            "",
		`{"text":"(wind blowing) Hello  there ♪"}`:                                              "Hello there",
		`{"text":"Yes.","segments":[{"text":" Yes.","no_speech_prob":0.9,"avg_logprob":-0.2}]}`: "Yes.",
		`E01.http`: "",
		`E07.http`: "!",
	} {
		f := &fake{transcript: func(w http.ResponseWriter) {
			if strings.HasSuffix(body, ".http") {
				enginetest.Wild(t, w, body)
				return
			}
			_, _ = w.Write([]byte(body))
		}}
		u, err := f.start(t).Listen(t.Context(), conversation.Hearing{Rate: 16000})
		if err != nil {
			t.Fatal(err)
		}
		if err := u.Write(agentstest.Voice("hello", 16000)); err != nil {
			t.Fatal(err)
		}
		if got, err := u.Finish(t.Context()); want == "!" && err == nil || want != "!" && (err != nil || got.Text != want) {
			t.Errorf("%s: %q, %v", body, got.Text, err)
		}
	}
}
