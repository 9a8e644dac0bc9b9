package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/transport/client"
	"github.com/callwright/callwright/transport/mcp"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var update = flag.Bool("update", false, "write the golden files")

// api is an API that answers with its fields, and records the requests.
type api struct {
	mu      sync.Mutex
	asked   []string
	audio   []byte
	err     error
	loadErr error
	server  bool // leave VoiceUsed empty if the request names no voice
	voices  int  // number of additional voices
}

func (a *api) ask(format string, args ...any) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked = append(a.asked, fmt.Sprintf(format, args...))
	return a.err
}

// last returns the requests since the previous call, separated by semicolons.
func (a *api) last() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	text := strings.Join(a.asked, "; ")
	a.asked = nil
	return text
}

var made = time.Date(2026, 3, 2, 9, 15, 0, 0, time.UTC)

func (a *api) Speak(_ context.Context, q client.SpeakRequest) (client.Speech, error) {
	s := client.Speech{URL: "https://api.example.com/s-1", SampleID: "s-1", VoiceUsed: q.Voice}
	if q.Voice == "" && !a.server {
		s.VoiceUsed = "slt"
	}
	return s, a.ask("speak %s %s %s", q.Text, q.Voice, q.Language)
}

func (a *api) Download(_ context.Context, w io.Writer, link string) (int64, error) {
	_ = a.ask("download %s", link)
	return a.load(w)
}

func (a *api) load(w io.Writer) (int64, error) {
	if a.loadErr != nil {
		return 0, a.loadErr
	}
	return io.Copy(w, bytes.NewReader(a.audio))
}

func (a *api) SampleAudio(_ context.Context, w io.Writer, id string) (int64, error) {
	_ = a.ask("audio %s", id)
	return a.load(w)
}

func voice(id, name string, public bool) client.Voice {
	return client.Voice{ID: id, Name: name, Public: public, Service: "flite"}
}

func (a *api) ListVoices(_ context.Context, f client.VoiceFilter) ([]client.Voice, error) {
	voices := []client.Voice{voice("v-1", "Ines", false), voice("slt", "slt", true)}
	for i := range a.voices {
		voices = append(voices, voice(fmt.Sprint("v", i), fmt.Sprint("voice ", i), true))
	}
	return voices, a.ask("voices %v", f.Custom)
}

func (a *api) GetVoice(_ context.Context, id string) (client.Voice, error) {
	v := voice(id, "Ines", false)
	v.CreatedAt, v.Tags, v.Kind = &made, []string{"calm"}, "profile"
	return v, a.ask("voice %s", id)
}

func (a *api) RenameVoice(_ context.Context, id, name string) (client.VoiceName, error) {
	return client.VoiceName{VoiceID: id, Name: name}, a.ask("rename %s %s", id, name)
}

func (a *api) DeleteVoice(_ context.Context, id string) (string, error) {
	return "Voice deleted.", a.ask("delete %s", id)
}

func pastSample(id string) client.Sample {
	return client.Sample{ID: id, Text: "Hello there.", VoiceID: "slt", Format: "pcm_8000", URL: "https://api.example.com/" + id, CreatedAt: made}
}

func (a *api) ListSamples(_ context.Context, f client.SampleFilter) (client.SampleList, error) {
	list := client.SampleList{Samples: []client.Sample{pastSample("s-1"), pastSample("s-0")}, Total: 2, Limit: 20, Offset: f.Offset}
	return list, a.ask("samples %+v", f)
}

func (a *api) SampleInfo(_ context.Context, id string) (client.Sample, error) {
	return pastSample(id), a.ask("sample %s", id)
}

// session connects a client of the SDK to ServeStdio over pipes.
func session(t *testing.T, a *api, cfg mcp.Config) *sdk.ClientSession {
	t.Helper()
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- mcp.ServeStdio(context.WithoutCancel(t.Context()), a, cfg, in, out)
		_ = out.Close()
	}()
	s, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).
		Connect(t.Context(), &sdk.IOTransport{Reader: fromServer, Writer: toServer}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = s.Close()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return s
}

// call calls a tool with arguments in JSON, and returns its result.
func call(t *testing.T, s *sdk.ClientSession, name, arguments string) *sdk.CallToolResult {
	t.Helper()
	result, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: name, Arguments: json.RawMessage(arguments)})
	if err != nil {
		t.Fatalf("%s %s: %v", name, arguments, err)
	}
	return result
}

func text(t *testing.T, r *sdk.CallToolResult) string {
	t.Helper()
	first, ok := r.Content[0].(*sdk.TextContent)
	if !ok {
		t.Fatalf("the first content is %T", r.Content[0])
	}
	return first.Text
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	out, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// TestToolList compares the listed tools with a golden file. The flag -update writes the file.
func TestToolList(t *testing.T) {
	t.Parallel()
	s := session(t, new(api), mcp.Config{})
	list, err := s.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	got := asJSON(t, list.Tools) + "\n"
	golden := filepath.Join("testdata", "tools.json")
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil || string(want) != got {
		t.Errorf("the tools are not those of %s (%v):\n%s", golden, err, got)
	}
	if list.NextCursor != "" {
		t.Error("the list goes on")
	}
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
	}
	if fmt.Sprint(names) != "[tts_sample_get tts_samples_list tts_speak tts_voice_delete tts_voice_get tts_voice_rename tts_voices_list]" {
		t.Errorf("got %v", names)
	}
}

func TestTools(t *testing.T) {
	t.Parallel()
	a := &api{audio: make([]byte, 100)}
	s := session(t, a, mcp.Config{SmallAudio: -1})
	for _, c := range []struct{ tool, arguments, asked, text, structured string }{
		{"tts_speak", `{"text":"Hi."}`, "speak Hi.  ", "Spoken by slt as sample s-1: https://api.example.com/s-1",
			`{"audio_included":false,"sample_id":"s-1","url":"https://api.example.com/s-1","voice_used":"slt"}`},
		{"tts_speak", `{"text":"Hi.","voice":"Ines","language":"en","include_audio":true}`, "speak Hi. Ines en; download https://api.example.com/s-1",
			"Spoken by Ines", `{"audio_included":true,"sample_id":"s-1","url":"https://api.example.com/s-1","voice_used":"Ines"}`},
		{"tts_speak", `{"text":"` + strings.Repeat("é", 5000) + `"}`, "speak " + strings.Repeat("é", 5000) + "  ", "Spoken", ""},
		{"tts_voices_list", `{}`, "voices false", "2 of 2 voices\nInes  v-1  custom\n", ""},
		{"tts_voices_list", `{"custom_only":true}`, "voices true", "2 of 2 voices", ""},
		{"tts_voice_get", `{"voice":"v-1"}`, "voice v-1", "Ines  v-1  custom, engine flite",
			`{"voice":{"created_at":"2026-03-02T09:15:00Z","description":null,"kind":"profile","language":null,"name":"Ines","public":false,"service":"flite","tags":["calm"],"voice_id":"v-1"}}`},
		{"tts_voice_rename", `{"voice_id":"v-1","name":"Ina"}`, "rename v-1 Ina", "Voice v-1 is now named Ina.", `{"name":"Ina","voice_id":"v-1"}`},
		{"tts_voice_delete", `{"voice_id":"v-1"}`, "delete v-1", "v-1: Voice deleted.", `{"message":"Voice deleted.","voice_id":"v-1"}`},
		{"tts_samples_list", `{"voice_id":"slt","limit":5,"offset":2}`, "samples {VoiceID:slt Limit:5 Offset:2}", `2 of 2 samples` + "\n" + `s-1  2026-03-02T09:15:00Z  slt  "Hello there."`, ""},
		{"tts_samples_list", `{}`, "samples {VoiceID: Limit:0 Offset:0}", "2 of 2 samples", ""},
		// Arguments as some clients and models write them.
		{"tts_samples_list", `{"limit":"5"}`, "samples {VoiceID: Limit:5 Offset:0}", "2 of 2 samples", ""},
		{"tts_samples_list", `{"limit":null,"voice_id":null}`, "samples {VoiceID: Limit:0 Offset:0}", "2 of 2 samples", ""},
		{"tts_samples_list", `"{\"limit\": 5}"`, "samples {VoiceID: Limit:5 Offset:0}", "2 of 2 samples", ""},
		{"tts_voices_list", `{"custom_only":"true"}`, "voices true", "2 of 2 voices", ""},
		{"tts_speak", `{"text":"Hi.","voice":"","language":""}`, "speak Hi.  ", "Spoken by slt", ""},
		{"tts_sample_get", `{"sample_id":"s-1"}`, "sample s-1", "Sample s-1, spoken by slt: https://api.example.com/s-1", ""},
		{"tts_sample_get", `{"sample_id":"s-1","include_audio":true}`, "sample s-1; audio s-1", "Sample s-1", ""},
	} {
		r := call(t, s, c.tool, c.arguments)
		structured, err := json.Marshal(r.StructuredContent)
		if r.IsError || err != nil || !strings.HasPrefix(text(t, r), c.text) || c.structured != "" && string(structured) != c.structured {
			t.Errorf("%s %.80s: %s\n%s", c.tool, c.arguments, asJSON(t, r), structured)
		}
		if asked := a.last(); asked != c.asked {
			t.Errorf("%s asked the API for %q", c.tool, asked)
		}
	}
}

func TestBadArguments(t *testing.T) {
	t.Parallel()
	a := new(api)
	s := session(t, a, mcp.Config{})
	long := func(n int) string { return strings.Repeat("x", n) }
	for tool, bad := range map[string][]string{
		"tts_speak": {
			`{}`, `{"text":""}`, `{"text":5}`, `{"text":null}`, `{"text":"` + long(5001) + `"}`,
			`{"text":"x","language":"e"}`, `{"text":"x","colour":1}`, `{"text":"x","include_audio":"yes"}`, `[]`, `"x"`,
		},
		"tts_voices_list":  {`{"custom_only":1}`, `{"all":true}`},
		"tts_voice_get":    {`{}`, `{"voice":""}`, `{"voice_id":"x"}`, `{"voice":"` + long(129) + `"}`},
		"tts_voice_rename": {`{}`, `{"voice_id":"v"}`, `{"name":"x"}`, `{"voice_id":"v","name":""}`, `{"voice_id":"v","name":"` + long(31) + `"}`},
		"tts_voice_delete": {`{}`, `{"voice_id":""}`, `{"voice_id":["v"]}`},
		"tts_samples_list": {`{"limit":0}`, `{"limit":101}`, `{"limit":1.5}`, `{"offset":-1}`, `{"limit":"five"}`, `{"limit":"5 6"}`},
		"tts_sample_get":   {`{}`, `{"sample_id":""}`, `{"sample_id":7}`},
	} {
		for _, arguments := range bad {
			r := call(t, s, tool, arguments)
			var f struct {
				Code    string `json:"code"`
				Message string `json:"message"`
			}
			if err := json.Unmarshal([]byte(text(t, r)), &f); err != nil || !r.IsError || f.Code != "BAD_REQUEST" || f.Message == "" {
				t.Errorf("%s %.60s: %s", tool, arguments, asJSON(t, r))
			}
			if asked := a.last(); asked != "" {
				t.Errorf("%s %.60s asked the API for %s", tool, arguments, asked)
			}
		}
	}
	if _, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "tts_voice_clone"}); err == nil {
		t.Error("a tool that is not there was called")
	}
}

func TestErrorsOfTheAPI(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]error{
		`{"status":404,"code":"NOT_FOUND","message":"voice not found","field":"voice"}`: &client.Error{Status: 404, Code: "NOT_FOUND", Message: "voice not found", Field: "voice"},
		`{"status":429,"code":"TOO_MANY_REQUESTS","message":"slow down","retry_after":7}`: fmt.Errorf("wrapped: %w",
			&client.Error{Status: 429, Code: "TOO_MANY_REQUESTS", Message: "slow down", RetryAfter: 7 * time.Second}),
		`{"status":400,"code":"BAD_REQUEST","message":"x","field":"a","body":{"data":null,"errors":[{"error":"BAD_REQUEST","message":"x","path":"a"},{"error":"BAD_REQUEST","message":"y","path":"b"}]}}`: &client.Error{
			Status: 400, Code: "BAD_REQUEST", Message: "x", Field: "a",
			Body: []byte(`{"data":null,"errors":[{"error":"BAD_REQUEST","message":"x","path":"a"},{"error":"BAD_REQUEST","message":"y","path":"b"}]}`),
		},
		`{"status":502,"message":"Bad Gateway","body":"\u003chtml\u003ebad gateway"}`: &client.Error{Status: 502, Message: "Bad Gateway", Body: []byte("<html>bad gateway")},
		`{"code":"SERVICE_UNAVAILABLE","message":"no answer"}`:                        callwright.Errorf(callwright.CodeUnavailable, "no answer"),
	} {
		s := session(t, &api{err: err}, mcp.Config{})
		for tool, arguments := range map[string]string{
			"tts_speak": `{"text":"x"}`, "tts_voices_list": `{}`, "tts_voice_get": `{"voice":"x"}`, "tts_voice_rename": `{"voice_id":"x","name":"y"}`,
			"tts_voice_delete": `{"voice_id":"x"}`, "tts_samples_list": `{}`, "tts_sample_get": `{"sample_id":"x"}`,
		} {
			if r := call(t, s, tool, arguments); !r.IsError || text(t, r) != want || r.StructuredContent != nil {
				t.Errorf("%s: %s", tool, asJSON(t, r))
			}
		}
	}
}

func TestAudio(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		size  int
		err   error
		asked bool
		cfg   mcp.Config
		has   bool
		note  string
	}{
		"small":            {64 << 10, nil, false, mcp.Config{}, true, ""},
		"not small":        {64<<10 + 1, nil, false, mcp.Config{}, false, ""},
		"asked for":        {4 << 20, nil, true, mcp.Config{}, true, ""},
		"too large":        {4<<20 + 1, nil, true, mcp.Config{}, false, "more than 4194304 bytes"},
		"bounds":           {11, nil, true, mcp.Config{MaxAudio: 10}, false, "more than 10 bytes"},
		"small, bounds":    {11, nil, false, mcp.Config{MaxAudio: 10}, false, ""},
		"never small":      {1, nil, false, mcp.Config{SmallAudio: -1}, false, ""},
		"broken":           {0, errors.New("cut off"), false, mcp.Config{}, false, ""},
		"broken, asked":    {0, &client.Error{Status: 404, Message: "sample not found"}, true, mcp.Config{}, false, "sample not found"},
		"asked, not small": {100, nil, true, mcp.Config{SmallAudio: -1}, true, ""},
	} {
		a := &api{audio: bytes.Repeat([]byte{7}, c.size), loadErr: c.err}
		s := session(t, a, c.cfg)
		for tool, argument := range map[string]string{"tts_speak": "text", "tts_sample_get": "sample_id"} {
			r := call(t, s, tool, fmt.Sprintf(`{%q:"s-1","include_audio":%v}`, argument, c.asked))
			link, ok := r.Content[1].(*sdk.ResourceLink)
			if r.IsError || !ok || link.URI != "https://api.example.com/s-1" || link.MIMEType != "audio/wav" {
				t.Fatalf("%s, %s: %.2000s", name, tool, asJSON(t, r))
			}
			has := false
			if len(r.Content) == 3 {
				audio, ok := r.Content[2].(*sdk.AudioContent)
				has = ok && bytes.Equal(audio.Data, a.audio) && audio.MIMEType == "audio/wav"
			}
			structured, _ := r.StructuredContent.(map[string]any)
			if _, note, _ := strings.Cut(text(t, r), "\n"); has != c.has || structured["audio_included"] != c.has || !strings.Contains(note, c.note) || note != "" && c.note == "" {
				t.Errorf("%s, %s: %.2000s", name, tool, asJSON(t, r))
			}
		}
	}
}

func TestListsAreBounded(t *testing.T) {
	t.Parallel()
	r := call(t, session(t, &api{voices: 500}, mcp.Config{}), "tts_voices_list", `{}`)
	structured, _ := r.StructuredContent.(map[string]any)
	if list, _ := structured["voices"].([]any); len(list) != 200 || structured["total"] != 502.0 || !strings.HasPrefix(text(t, r), "200 of 502 voices") {
		t.Errorf("got %d voices of %v", len(list), structured["total"])
	}
}

func TestServerChoosesTheVoice(t *testing.T) {
	t.Parallel()
	r := call(t, session(t, &api{server: true}, mcp.Config{}), "tts_speak", `{"text":"x"}`)
	structured, _ := r.StructuredContent.(map[string]any)
	if used, has := structured["voice_used"]; used != nil || !has {
		t.Errorf("got %v", structured)
	}
}
