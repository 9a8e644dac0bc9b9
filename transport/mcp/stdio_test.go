package mcp_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/transport/mcp"
)

const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}` + "\n"

func TestStdioEndsWithItsInput(t *testing.T) {
	t.Parallel()
	for name, in := range map[string]string{"nothing": "", "initialized": initialize} {
		var out bytes.Buffer
		if err := mcp.ServeStdio(t.Context(), new(api), mcp.Config{}, strings.NewReader(in), &out); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if lines := strings.Count(out.String(), "\n"); lines != strings.Count(in, "\n") {
			t.Errorf("%s: %s", name, out.String())
		}
	}
}

// TestStdioAnswersWhatWasAsked checks that a client that sends requests and closes its end immediately, like a pipe in a shell, still
// receives all answers.
func TestStdioAnswersWhatWasAsked(t *testing.T) {
	t.Parallel()
	var calls strings.Builder
	for i := range 50 {
		fmt.Fprintf(&calls, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"tts_speak","arguments":{"text":"x"}}}`+"\n", i+2)
	}
	var out bytes.Buffer
	if err := mcp.ServeStdio(t.Context(), new(api), mcp.Config{}, strings.NewReader(initialize+calls.String()), &out); err != nil {
		t.Error(err)
	}
	if n := strings.Count(out.String(), "\n"); n != 51 || strings.Count(out.String(), "resource_link") != 50 {
		t.Errorf("%d answers: %.2000s", n, out.String())
	}
}

func TestStdioEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- mcp.ServeStdio(ctx, new(api), mcp.Config{}, in, out) }()
	if _, err := io.WriteString(toServer, initialize); err != nil {
		t.Fatal(err)
	}
	if _, err := fromServer.Read(make([]byte, 10)); err != nil { // the request is running
		t.Fatal(err)
	}
	_ = fromServer.Close()
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestStdioRefuses(t *testing.T) {
	t.Parallel()
	in := `{"jsonrpc":"2.0","id":1,"method":"` + strings.Repeat("x", 300<<10) + `"}` + "\n"
	var out bytes.Buffer
	if err := mcp.ServeStdio(t.Context(), new(api), mcp.Config{}, strings.NewReader(in), &out); !errors.Is(err, callwright.ErrBadRequest) {
		t.Errorf("a line that is too long: %v, %.200s", err, out.String())
	}
	if err := mcp.ServeStdio(t.Context(), new(api), mcp.Config{MaxAudio: -1}, strings.NewReader(""), io.Discard); err == nil {
		t.Error("a negative bound was taken")
	}
}

// TestStdioGoesOnAfterBadLines checks that a line that is not a message is answered with an error, that blank lines are ignored, and that
// the next line is served.
func TestStdioGoesOnAfterBadLines(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"hello": `"code":-32700`, `{"jsonrpc":"2.0",`: `"code":-32700`, "\xff\xfe": `"code":-32700`, `{"id":7}`: `"id":7`, `"x"`: `"code":-32600`,
		`{"id":"q"}`: `"id":"q"`, "[]": `"code":-32600`, "[" + strings.TrimSpace(initialize) + "]": `"code":-32600`, "42": `"id":null`,
		`{"jsonrpc":"1.0","id":{},"method":"ping"}`: `"id":null`, "": "", "  \r": "",
	} {
		var out bytes.Buffer
		in := line + "\n" + strings.TrimSpace(initialize) + " \r\n" + line
		if err := mcp.ServeStdio(t.Context(), new(api), mcp.Config{}, strings.NewReader(in), &out); err != nil {
			t.Errorf("%q: %v", line, err)
		}
		bad := 2
		if want == "" {
			bad = 0
		}
		text := out.String()
		if strings.Count(text, want) < bad || strings.Count(text, "\n") != bad+1 || strings.Count(text, "serverInfo") != 1 {
			t.Errorf("%q: %s", line, text)
		}
	}
}
