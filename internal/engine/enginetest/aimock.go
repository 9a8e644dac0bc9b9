package enginetest

import (
	"bufio"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/llm"
)

// fixtures are the answers of the mock.
//
//go:embed testdata/aimock.json
var fixtures []byte

// Node returns a command that runs a script with Node.js. The script is a path below internal/tools/engines, whose packages
// scripts/install-deps.sh installs for tests. The test must belong to a package two folders below the root.
func Node(ctx context.Context, script string, args ...string) *exec.Cmd {
	return exec.CommandContext(ctx, "node", append([]string{filepath.Join("..", "..", "internal", "tools", "engines", script)}, args...)...)
}

// StartAIMock starts the npm package @copilotkit/aimock, a mock of the services of several vendors, on a loopback port, and returns its
// address. The mock answers from the given fixtures, which are JSON in its own form. It has the given further flags, and ends after two
// minutes at the latest. StartAIMock fails the test if the mock does not start.
func StartAIMock(t *testing.T, fixtures []byte, flags ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	answers := filepath.Join(t.TempDir(), "aimock.json")
	if err := os.WriteFile(answers, fixtures, 0o600); err != nil {
		t.Fatal(err)
	}
	server := Node(ctx, "node_modules/@copilotkit/aimock/dist/cli.js", append([]string{
		"--port", "0", "--host", "127.0.0.1", "--validate-on-load", "--fixtures", answers,
	}, flags...)...)
	out, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	server.Stderr = server.Stdout
	if err := server.Start(); err != nil {
		t.Fatalf("node (run scripts/install-deps.sh test): %v", err)
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
			return address
		}
		t.Log(lines.Text())
	}
	t.Fatalf("the mock does not start (run scripts/install-deps.sh test): %v", lines.Err())
	return ""
}

// RunAIMock tests a model against a mock of its service that others wrote, because a fake of our own repeats our own assumptions. open
// returns a client of the service at an address, which has no path.
func RunAIMock(t *testing.T, open func(t *testing.T, address string) llm.Model) {
	t.Helper()
	c := open(t, StartAIMock(t, fixtures, "--chunk-size", "7"))
	say := func(text string) llm.ReplyRequest {
		return llm.ReplyRequest{Instructions: "Take orders.", CanEnd: true, Messages: []llm.Message{{Role: llm.RoleCaller, Text: text}}}
	}
	t.Run("Reply", func(t *testing.T) {
		got, err := agentstest.Collect(t.Context(), c, say("Good morning."))
		if err != nil || got.Text != "Which day suits you? Monday or Tuesday?" || got.Action != "" {
			t.Errorf("reply %+v, %v", got, err)
		}
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
		choice, _, err := llm.Choose(t.Context(), c, llm.Question{Options: []llm.Option{{ID: "day"}, {ID: "none"}}})
		if err != nil || choice.Option != "day" {
			t.Errorf("choice %+v, %v", choice, err)
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
