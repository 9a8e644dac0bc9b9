package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/callwright/callwright/transport/cli"
	"github.com/callwright/callwright/transport/client"
)

// mouth is a server that answers with audio. It records the request for speech.
type mouth struct {
	t     *testing.T
	url   string
	audio string
	asked map[string]any
	hang  func() // called within the audio, which then never ends
	busy  bool   // answers 429 with a Retry-After of 600 s
}

func wav() string {
	return "RIFF\xec\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x80\x3e\x00\x00\x02\x00\x10\x00data\xc8\x00\x00\x00" + strings.Repeat("\x00", 200)
}

func newMouth(t *testing.T) *mouth {
	t.Helper()
	m := &mouth{t: t, audio: wav()}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/audio") {
			if r.Header.Get("Authorization") != "" {
				t.Error("the key goes to the address of the audio")
			}
			w.Header().Set("Content-Type", "audio/wav")
			if m.hang != nil {
				_, _ = io.WriteString(w, m.audio[:60])
				_ = http.NewResponseController(w).Flush()
				m.hang()
				<-r.Context().Done()
				return
			}
			_, _ = io.WriteString(w, m.audio)
			return
		}
		if m.busy {
			w.Header().Set("Retry-After", "600")
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		switch r.Method + " " + r.URL.Path {
		case "POST /v1/speak":
			m.asked = nil
			if err := json.NewDecoder(r.Body).Decode(&m.asked); err != nil {
				t.Error(err)
			}
			_, _ = fmt.Fprintf(w, `{"url":"http://%s/audio?signature=x","sample_id":"s1"}`, r.Host)
		case "GET /v1/voices":
			_, _ = io.WriteString(w, `{"voices":[{"id":"v1","name":"Ines","service":"flite"},{"id":"v2","name":"Otto\u001b[2J","service":"flite"}]}`)
		case "DELETE /v1/speak/samples/s1":
			_, _ = io.WriteString(w, `{"data":{"status":"success","message":"The sample is deleted."},"errors":null}`)
		case "DELETE /v1/voices/Ines":
			_, _ = io.WriteString(w, `{"data":{"status":"success","message":"Voice deleted."},"errors":null}`)
		default:
			_, _ = io.WriteString(w, `{"data":[],"errors":null,"total":0,"limit":20,"offset":0}`)
		}
	}))
	t.Cleanup(s.Close)
	m.url = s.URL
	return m
}

// run runs a command on the server. terminal names the stream that is a terminal: "in", "out" or "err". If it is empty, no stream is a
// terminal.
func (m *mouth) run(ctx context.Context, env map[string]string, stdin, terminal string, args ...string) (code int, stdout, stderr string) {
	m.t.Helper()
	var out, errs bytes.Buffer
	in := strings.NewReader(stdin)
	streams := map[string]any{"in": in, "out": &out, "err": &errs}
	look := func(name string) string {
		if v, ok := env[name]; ok {
			return v
		}
		return map[string]string{"SERVICE_API_KEY": "cw_key", "SERVICE_BASE_URL": m.url}[name]
	}
	c := cli.Config{Stdin: in, Terminal: func(s any) bool { return s == streams[terminal] }, Retry: client.Retry{Tries: 1}}
	code = cli.Run(ctx, c, args, look, &out, &errs)
	return code, out.String(), errs.String()
}

func TestSpeakTakesItsText(t *testing.T) {
	t.Parallel()
	m := newMouth(t)
	file := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(file, []byte("\ufeffFrom a file.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, args := range map[string][]string{
		"An argument.": {"speak", "An argument."},
		"From a file.": {"speak", "--file", file},
		"From a pipe.": {"speak"},
	} {
		code, out, errs := m.run(t.Context(), nil, "From a pipe.\n", "", args...)
		if code != 0 || errs != "" || m.asked["text"] != want || !strings.Contains(out, "s1") {
			t.Errorf("%v: exit code %d, %v, %q, %q", args, code, m.asked, out, errs)
		}
	}
	m.asked = nil
	for want, args := range map[string][]string{
		"the text is empty":         {"speak", "  "},
		"at most 5000 characters":   {"speak", strings.Repeat("é", 5001)},
		"must be one argument":      {"speak", "two", "words"},
		"an argument or in --file":  {"speak", "a", "--file", file},
		"no such file":              {"speak", "--file", file + "x"},
		"must be UTF-8":             {"speak", "\xff" + strings.Repeat("é", 2600)},
		"-o - both write":           {"speak", "a", "--json", "-o", "-"},
		"not written to a terminal": {"speak", "a", "-o", "-"},
		"is not a regular file":     {"speak", "a", "-o", t.TempDir()},
		"finds no player":           {"speak", "a", "--play"},
		"exclude each other":        {"speak", "a", "--voice", "v", "--server-voice"},
		"server.json of a running":  {"speak", "a", "--server", "nowhere.json"},
		"both name the server":      {"speak", "a", "--server", m.url, "--base-url", m.url},
		"the API key unencrypted":   {"speak", "a", "--base-url", "http://example.com"},
		"unknown command samples x": {"samples", "x"},
	} {
		code, out, errs := m.run(t.Context(), map[string]string{"PATH": ""}, "", "out", args...)
		if code != cli.ExitUsage || out != "" || !strings.Contains(errs, want) || m.asked != nil {
			t.Errorf("%v: exit code %d, %q, %q, want %q", args, code, out, errs, want)
		}
	}
	if code, _, errs := m.run(t.Context(), nil, "", "in", "speak"); code != cli.ExitUsage || !strings.Contains(errs, "a text is required") {
		t.Errorf("at a terminal without a text: exit code %d, %q", code, errs)
	}
	if code, _, errs := m.run(t.Context(), nil, strings.Repeat("x", 1<<20), "", "speak"); code != cli.ExitUsage || !strings.Contains(errs, "5000") {
		t.Errorf("an endless text: exit code %d, %q", code, errs)
	}
}

func TestSpeakChoosesAVoice(t *testing.T) {
	t.Parallel()
	m := newMouth(t)
	pinned := map[string]string{"SERVICE_VOICE": "pinned"}
	for _, c := range []struct {
		env  map[string]string
		args []string
		want any
	}{
		{nil, []string{"--voice", "Ines"}, "Ines"},
		{pinned, nil, "pinned"},
		{pinned, []string{"--voice", "Ines"}, "Ines"},
		{pinned, []string{"--server-voice"}, nil},
	} {
		code, out, errs := m.run(t.Context(), c.env, "", "", append([]string{"speak", "a", "--json"}, c.args...)...)
		var said map[string]any
		if err := json.Unmarshal([]byte(out), &said); err != nil || code != 0 || m.asked["voice"] != c.want || said["voice_used"] != c.want {
			t.Errorf("%v, %v: exit code %d, %v, %v, %s, %s", c.env, c.args, code, err, m.asked, out, errs)
		}
	}
	drawn := map[any]bool{}
	for range 60 {
		if code, _, errs := m.run(t.Context(), nil, "", "", "speak", "a"); code != 0 {
			t.Fatal(errs)
		}
		drawn[m.asked["voice"]] = true
	}
	if len(drawn) != 3 {
		t.Errorf("these voices were drawn: %v", drawn)
	}
}

// TestSpeakWritesWholeFiles checks that a body that is not audio or is incomplete does not replace an existing file.
func TestSpeakWritesWholeFiles(t *testing.T) {
	t.Parallel()
	m := newMouth(t)
	folder := t.TempDir()
	file := filepath.Join(folder, "out.wav")
	if err := os.WriteFile(file, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, audio := range []string{"<html>busy</html>", "", wav()[:60], "RIFF"} {
		m.audio = audio
		code, out, errs := m.run(t.Context(), nil, "", "", "speak", "a", "-o", file)
		if code == 0 || out != "" || !strings.Contains(errs, "stored as the sample s1") {
			t.Errorf("%q: exit code %d, %q, %q", audio, code, out, errs)
		}
		if raw, err := os.ReadFile(file); err != nil || string(raw) != "old" {
			t.Errorf("%q: the file has %q, %v", audio, raw, err)
		}
	}
	m.audio = wav()
	if code, _, errs := m.run(t.Context(), nil, "", "", "speak", "a", "-o", file); code != 0 {
		t.Errorf("exit code %d, %s", code, errs)
	}
	raw, err := os.ReadFile(file)
	if err != nil || string(raw) != wav() {
		t.Errorf("the file has %d bytes, %v", len(raw), err)
	}
	if files, err := os.ReadDir(folder); err != nil || len(files) != 1 {
		t.Errorf("the folder has %v, %v", files, err)
	}
	if code, out, errs := m.run(t.Context(), nil, "", "", "speak", "a", "-o", "-"); code != 0 || out != wav() || errs != "" {
		t.Errorf("to stdout: exit code %d, %d bytes, %q", code, len(out), errs)
	}
	code, _, errs := m.run(t.Context(), nil, "", "", "speak", "a", "-o", filepath.Join(folder, "none", "out.wav"), "--json")
	if code != cli.ExitRefused || !strings.Contains(errs, "cannot write") {
		t.Errorf("into a folder that is not there: exit code %d, %s", code, errs)
	}
}

// TestInterruptedDownload checks that an interrupted download leaves no file.
func TestInterruptedDownload(t *testing.T) {
	t.Parallel()
	m := newMouth(t)
	ctx, cancel := context.WithCancel(t.Context())
	m.hang = cancel
	folder := t.TempDir()
	code, out, errs := m.run(ctx, nil, "", "", "speak", "a", "-o", filepath.Join(folder, "out.wav"), "--json")
	if code != cli.ExitInterrupted || out != "" || !strings.Contains(errs, `"code":"INTERRUPTED"`) {
		t.Errorf("exit code %d, %q, %q", code, out, errs)
	}
	if files, err := os.ReadDir(folder); err != nil || len(files) != 0 {
		t.Errorf("the folder has %v, %v", files, err)
	}
}

// TestBusyServer checks that a notice explains the wait only if stderr is a terminal.
func TestBusyServer(t *testing.T) {
	t.Parallel()
	m := newMouth(t)
	m.busy = true
	for _, c := range []struct {
		terminal string
		want     bool
	}{{"err", true}, {"out", false}} {
		code, _, errs := m.run(t.Context(), nil, "", c.terminal, "voices")
		if code != cli.ExitUnavailable || strings.Contains(errs, "it asks to wait for 600 s") != c.want || !strings.Contains(errs, "try again in 10m0s") {
			t.Errorf("%+v: exit code %d, %q", c, code, errs)
		}
	}
}

func TestSpeakPlays(t *testing.T) {
	t.Parallel()
	m := newMouth(t)
	folder := t.TempDir()
	played := filepath.Join(folder, "played")
	script := "#!/bin/sh\n/bin/cat \"$2\" > '" + played + "'\n"
	if err := os.WriteFile(filepath.Join(folder, "aplay"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	code, out, errs := m.run(t.Context(), map[string]string{"PATH": folder}, "", "err", "speak", "a", "--play")
	if raw, err := os.ReadFile(played); code != 0 || err != nil || string(raw) != wav() || !strings.Contains(out, "s1") {
		t.Errorf("exit code %d, %v, %d bytes were played, %q, %q", code, err, len(raw), out, errs)
	}
	if !strings.Contains(errs, "speaking ...") {
		t.Errorf("people at a terminal see %q", errs)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if code, _, errs := m.run(ctx, nil, "", "", "speak", "a", "--json"); code != cli.ExitInterrupted || !strings.Contains(errs, `"INTERRUPTED"`) {
		t.Errorf("interrupted: exit code %d, %q", code, errs)
	}
}

func TestDeleteAsks(t *testing.T) {
	t.Parallel()
	m := newMouth(t)
	for _, c := range []struct {
		stdin, terminal string
		code            int
		want            string
	}{
		{"y\n", "in", 0, "[y/N]"}, {"n\n", "in", cli.ExitRefused, "nothing was done"}, {"", "in", cli.ExitRefused, "nothing was done"}, {"y\n", "", cli.ExitUsage, "--yes"},
	} {
		for _, args := range [][]string{{"delete", "Ines"}, {"samples", "delete", "s1"}} {
			code, _, errs := m.run(t.Context(), nil, c.stdin, c.terminal, args...)
			if code != c.code || !strings.Contains(errs, c.want) {
				t.Errorf("%q %q at %q: exit code %d, %q", args, c.stdin, c.terminal, code, errs)
			}
		}
	}
	code, out, errs := m.run(t.Context(), nil, "", "", "samples", "delete", "s1", "--yes", "--json")
	if code != 0 || !strings.Contains(out, `"sample_id": "s1"`) || !strings.Contains(out, "The sample is deleted.") {
		t.Errorf("without a question: exit code %d, %q, %q", code, out, errs)
	}
}

// TestCompletion checks that the names of voices and formats are completed, and that nothing is completed without a key.
func TestCompletion(t *testing.T) {
	t.Parallel()
	m := newMouth(t)
	for _, args := range [][]string{{"speak", "--voice", ""}, {"voice", ""}, {"rename", "i"}, {"delete", ""}, {"samples", "list", "--voice", "I"}} {
		code, out, _ := m.run(t.Context(), nil, "", "", append([]string{"__complete"}, args...)...)
		if code != 0 || !strings.HasPrefix(out, "Ines\tflite\n") || !strings.HasSuffix(out, "\n:4\n") || strings.Contains(out, "\x1b") {
			t.Errorf("%v: exit code %d, %q", args, code, out)
		}
	}
	code, out, _ := m.run(t.Context(), map[string]string{"SERVICE_API_KEY": ""}, "", "", "__complete", "voice", "")
	if code != 0 || out != ":4\n" {
		t.Errorf("without a key: exit code %d, %q", code, out)
	}
	if code, out, _ := m.run(t.Context(), nil, "", "", "__complete", "speak", "--format", "u"); code != 0 || !strings.Contains(out, "ulaw_8000\n") {
		t.Errorf("formats: exit code %d, %q", code, out)
	}
}

// TestServerFile checks that --server reads the address and the key file's name from a server.json. A relative key file must be looked for
// in the folder of the server.json, by the last element of its path. The test also checks the other sources of the key, and the errors
// without an address or a key.
func TestServerFile(t *testing.T) {
	t.Parallel()
	m := newMouth(t)
	folder := t.TempDir()
	for name, text := range map[string]string{
		"api-key": "cw_key\n", "server.json": `{"api_url": "` + m.url + `", "api_key_file": "data/api-key"}`, "other.json": `{}`,
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	env := map[string]string{"SERVICE_API_KEY": "", "SERVICE_BASE_URL": "http://127.0.0.1:1"}
	if code, out, errs := m.run(t.Context(), env, "", "", "voices", "--server", filepath.Join(folder, "server.json")); code != 0 || !strings.Contains(out, `Otto\u001b[2J`) {
		t.Errorf("exit code %d, %q, %q", code, out, errs)
	}
	env = map[string]string{"SERVICE_API_KEY": "", "SERVICE_API_KEY_FILE": filepath.Join(folder, "api-key")}
	if code, _, errs := m.run(t.Context(), env, "", "", "voices"); code != 0 {
		t.Errorf("with a file of the key: exit code %d, %q", code, errs)
	}
	if code, _, errs := m.run(t.Context(), nil, "", "", "voices", "--server", filepath.Join(folder, "other.json")); code != cli.ExitUsage || !strings.Contains(errs, "no api_url") {
		t.Errorf("another file: exit code %d, %q", code, errs)
	}
	if code, _, errs := m.run(t.Context(), map[string]string{"SERVICE_API_KEY": ""}, "", "", "voices"); code != cli.ExitUnauthorized || !strings.Contains(errs, "the API key is missing") {
		t.Errorf("without a key: exit code %d, %q", code, errs)
	}
}
