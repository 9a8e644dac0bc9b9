//go:build aimock

// These tests query an independent mock of the service, an npm package, because our own fake repeats our own assumptions. They need Node.js
// 20.15 or newer with npm, which downloads the package once for each run. To run them:
//
//	go test -tags aimock -run AIMock ./adapters/openai
package openai_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright/adapters/openai"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/llm"
)

const aimockPackage = "@copilotkit/aimock"

// startAIMock installs the mock, starts it on a loopback port, and returns a client of it. It fails the test if the mock does not start
// within a minute.
func startAIMock(t *testing.T) *openai.Client {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	dir := t.TempDir()
	install := exec.CommandContext(ctx, "npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", dir, aimockPackage+"@1.43.0")
	if out, err := install.CombinedOutput(); err != nil {
		t.Fatalf("npm (install Node.js 20.15 or newer): %v\n%s", err, out)
	}
	server := exec.CommandContext(ctx, "node", filepath.Join(dir, "node_modules", aimockPackage, "dist", "cli.js"),
		"--port", "0", "--host", "127.0.0.1", "--chunk-size", "7", "--validate-on-load", "--fixtures", filepath.Join("testdata", "aimock.json"))
	out, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	server.Stderr = server.Stdout
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	})
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if _, address, found := strings.Cut(lines.Text(), "listening on "); found {
			go func() {
				for lines.Scan() { // otherwise the mock would block on its full log pipe
				}
			}()
			return client(t, openai.Config{BaseURL: address + "/v1", APIKey: key})
		}
		t.Log(lines.Text())
	}
	t.Fatalf("the mock does not start: %v", lines.Err())
	return nil
}

func TestAIMock(t *testing.T) { //nolint:paralleltest // one mock for all its steps
	c := startAIMock(t)
	say := func(text string) llm.ReplyRequest {
		return llm.ReplyRequest{Instructions: "Take orders.", CanEnd: true, Messages: []llm.Message{{Role: llm.RoleCaller, Text: text}}}
	}

	t.Run("Reply", func(t *testing.T) {
		got, err := agentstest.Collect(t.Context(), c, say("Good morning."))
		if err != nil || got.Text != "Which day suits you? Monday or Tuesday?" || got.Action != "" {
			t.Errorf("reply %+v, %v", got, err)
		}
		t.Logf("usage %+v", got.Usage)
	})
	t.Run("Ends", func(t *testing.T) {
		if got, err := agentstest.Collect(t.Context(), c, say("Goodbye.")); err != nil || got.Action != llm.ActionEnd || got.Text != "Goodbye." {
			t.Errorf("reply %+v, %v", got, err)
		}
	})
	t.Run("Tools", func(t *testing.T) {
		r := say("Look for a slot.")
		r.CanEnd, r.Tools = false, []llm.Tool{{Name: "find_slots"}}
		got, err := agentstest.Collect(t.Context(), c, r)
		if err != nil || got.Text != "Let me look." || len(got.Calls) != 1 || got.Action != "" || string(got.Calls[0].Arguments) != `{"day":"Tuesday","guests":2}` {
			t.Fatalf("reply %+v, %v", got, err)
		}
		r.Messages = append(r.Messages, llm.Message{Role: llm.RoleAgent, Text: got.Text, Calls: got.Calls},
			llm.Message{Role: llm.RoleTool, Call: got.Calls[0].ID, Text: "half past ten"})
		if got, err := agentstest.Collect(t.Context(), c, r); err != nil || got.Text != "Half past ten is free." {
			t.Errorf("with the answer of the tool: %+v, %v", got, err)
		}
	})
	t.Run("Questions", func(t *testing.T) {
		choice, usage, err := llm.Choose(t.Context(), c, llm.Question{Options: []llm.Option{{ID: "day"}, {ID: "none"}}})
		if err != nil || choice.Option != "day" || usage.Output == 0 {
			t.Errorf("choice %+v, %+v, %v", choice, usage, err)
		}
		found, _, err := llm.Extract(t.Context(), c, llm.Question{Fields: []llm.Field{{Name: "day", Type: llm.FieldString}, {Name: "guests", Type: llm.FieldInteger}}})
		if err != nil || fmt.Sprint(found) != "map[day:Tuesday guests:2]" {
			t.Errorf("found %v, %v", found, err)
		}
	})
	t.Run("Failures", func(t *testing.T) {
		for text, want := range map[string]llm.Failure{
			"Too often.":           {Class: llm.ClassRateLimited, RetryAfter: 2 * time.Second},
			"Too long.":            {Class: llm.ClassTooLong},
			"Cut me off.":          {Class: llm.ClassTransient},
			"What it doesn't know": {Class: llm.ClassPermanent},
		} {
			got, err := agentstest.Collect(t.Context(), c, say(text))
			if f, ok := errors.AsType[*llm.Failure](err); !ok || f.Class != want.Class || f.RetryAfter != want.RetryAfter {
				t.Errorf("%s: %q, %v", text, got.Text, err)
			}
		}
	})
	t.Run("StopsWithItsContext", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var text string
		var failure error
		for part, err := range c.Reply(ctx, say("Slowly.")) {
			text, failure = text+part.Text, err
			cancel()
		}
		if !errors.Is(failure, context.Canceled) || len(text) > 12 {
			t.Errorf("text %q, error %v", text, failure)
		}
	})
}
