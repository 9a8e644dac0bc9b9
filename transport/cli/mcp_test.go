package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/callwright/callwright/transport/cli"
)

const toolCall = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"tts_speak","arguments":{"text":"Hello."}}}
`

func TestToolsOverStdio(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args []string
		env  map[string]string
		want any // the voice in the request to the server
	}{
		"flag":     {[]string{"--voice", "Ines"}, nil, "Ines"},
		"variable": {nil, map[string]string{"SERVICE_VOICE": "kal16"}, "kal16"},
		"server":   {[]string{"--server-voice"}, map[string]string{"SERVICE_VOICE": "kal16"}, nil},
	} {
		m := newMouth(t)
		env := map[string]string{"SERVICE_BASE_URL": m.url, "SERVICE_API_KEY": "cwk_secret"}
		maps.Copy(env, c.env)
		var out, errs bytes.Buffer
		code := cli.Run(t.Context(), cli.Config{Stdin: strings.NewReader(toolCall)}, append([]string{"mcp"}, c.args...),
			func(name string) string { return env[name] }, &out, &errs)
		if code != 0 || errs.Len() > 0 || strings.Count(out.String(), "\n") != 2 || !strings.Contains(out.String(), `"sample_id":"s1"`) || m.asked["voice"] != c.want {
			t.Errorf("%s: exit code %d, asked %v\n%s%s", name, code, m.asked, out.String(), errs.String())
		}
	}
}

func TestToolsUsage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"mcp"}, cli.ExitUnauthorized, "SERVICE_API_KEY"},
		{[]string{"mcp", "x"}, cli.ExitUsage, "no arguments"},
		{[]string{"mcp", "--addr", "0.0.0.0:8090"}, cli.ExitUsage, "a loopback address"},
		{[]string{"mcp", "--addr", ":8090"}, cli.ExitUsage, "a loopback address"},
		{[]string{"mcp", "--addr", "example.com:80"}, cli.ExitUsage, "a loopback address"},
		{[]string{"mcp", "--addr", "127.0.0.1"}, cli.ExitUsage, "and a port"},
		{[]string{"mcp", "--addr", "127.0.0.1:99999"}, cli.ExitRefused, "--addr"},
		{[]string{"mcp", "--addr", "127.0.0.1:0", "--base-url", "http://api.example.com"}, cli.ExitUsage, "unencrypted"},
		{[]string{"mcp", "--host", "tools.example.com"}, cli.ExitUsage, "--addr"},
		{[]string{"mcp", "--voice", "a", "--server-voice"}, cli.ExitUsage, "voice"},
	} {
		var out, errs bytes.Buffer
		code := cli.Run(t.Context(), cli.Config{}, c.args, func(string) string { return "" }, &out, &errs)
		if code != c.code || !strings.Contains(errs.String(), c.want) || out.Len() > 0 {
			t.Errorf("%v: exit code %d, %q", c.args, code, errs.String())
		}
	}
}

// TestToolsOverHTTP checks that the command, which has no key, passes each client's key to the API, and that the command exits when its
// context ends.
func TestToolsOverHTTP(t *testing.T) {
	t.Parallel()
	m := newMouth(t)
	ctx, cancel := context.WithCancel(t.Context())
	out, stdout := io.Pipe()
	var errs bytes.Buffer
	done := make(chan int, 1)
	go func() {
		done <- cli.Run(ctx, cli.Config{}, []string{"mcp", "--addr", "127.0.0.1:0", "--base-url", m.url, "--voice", "Ines", "--json"},
			func(string) string { return "" }, stdout, &errs)
	}()
	var at struct {
		URL string `json:"url"`
	}
	if err := json.NewDecoder(out).Decode(&at); err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	post := func(key string) (status int, body string) {
		message := strings.Split(toolCall, "\n")[2]
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, at.URL, strings.NewReader(message))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		r.Header.Set("Authorization", key)
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(text)
	}
	if status, body := post("Bearer cwk_secret"); status != 200 || !strings.Contains(body, `"sample_id":"s1"`) || m.asked["voice"] != "Ines" {
		t.Errorf("%d %s, asked %v", status, body, m.asked)
	}
	if status, body := post(""); status != 401 {
		t.Errorf("without a key: %d %s", status, body)
	}
	cancel()
	if code := <-done; code != 0 {
		t.Errorf("exit code %d: %s", code, errs.String())
	}
	_ = stdout.Close()
}
