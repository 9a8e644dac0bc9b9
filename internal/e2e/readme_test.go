package e2e_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright/internal/await"
	"github.com/callwright/callwright/internal/browser"
	"github.com/callwright/callwright/internal/e2e/process"
	"github.com/callwright/callwright/internal/guide"
	"github.com/callwright/callwright/speech/pcm"
)

// walkHeading is the heading of the walk through the dashboard in the README.
const walkHeading = "### A walk in the browser"

// lasting maps the commands of the README that run until they are stopped to the output after which the reader can continue.
var lasting = map[string]string{"make run": "callwright is ready", "go run ./examples/softphone": "listening at"}

// TestReadme runs the unchanged commands of the README, and then of the pages in docs, in a clean copy of the tree. The ports 8080, 5061
// and 5071 of 127.0.0.1 must be free.
func TestReadme(t *testing.T) {
	t.Parallel()
	tree := copied(t)
	readme, blocks := pageOf(t, tree, "README.md")
	steps := guide.Steps(readme, walkHeading)
	if len(steps) == 0 {
		t.Fatalf("the README has no steps below %q", walkHeading)
	}
	var p *browser.Page
	var commands []string
	for _, b := range blocks {
		if b.Why != "" || b.RunBy != "" {
			continue
		}
		if p == nil && b.Line > steps[0].Line {
			p = take(t, tree, steps)
		}
		if ready, ok := lastingBy(b.Code); ok {
			c := shell(t, tree, b.Code)
			running := process.Start(t, b.Code, c, polling)
			if !await.Within(t.Context(), compilation, func() bool { return strings.Contains(running.Log(), ready) }) {
				t.Fatalf("%q did not say %q", b.Code, ready)
			}
			continue
		}
		commands = append(commands, b.Code)
	}
	execute(t, tree, "README.md", commands)
	pages, err := guide.Pages(tree)
	if err != nil {
		t.Fatal(err)
	}
	const first = "docs/pathways.md" // creates the pathway that other pages use
	for _, page := range append([]string{first}, slices.DeleteFunc(pages, func(p string) bool { return p == first || p == "README.md" })...) {
		_, blocks := pageOf(t, tree, page)
		commands = nil
		for _, b := range blocks {
			if b.Why == "" && b.RunBy == "" {
				commands = append(commands, b.Code)
			}
		}
		if len(commands) > 0 {
			execute(t, tree, page, commands)
		}
	}
}

// compilation is the time limit of a command that first compiles, on a slow and busy machine.
const compilation = 8 * time.Minute

// polling occurs in the log lines of the server that a failure does not print.
const polling = "method=GET"

// lastingBy returns the output after which a lasting command is ready, and whether code is a lasting command.
func lastingBy(code string) (ready string, lasts bool) {
	for begin, ready := range lasting {
		if strings.HasPrefix(code, begin) {
			return ready, true
		}
	}
	return "", false
}

// pageOf returns the text and the code blocks of a page.
func pageOf(t *testing.T, tree, page string) (string, []guide.Block) {
	t.Helper()
	text, err := guide.Read(tree, page)
	if err != nil {
		t.Fatal(err)
	}
	blocks, err := guide.Blocks(text)
	if err != nil {
		t.Fatalf("%s: %v", page, err)
	}
	return text, blocks
}

// copied returns a folder with the files of this tree that git tracks or would add, like a clone. The folder always has the same name, so
// that Go's build cache applies.
func copied(t *testing.T) string {
	t.Helper()
	const root = "../.."
	list := exec.CommandContext(t.Context(), "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	list.Dir = root
	names, err := list.Output()
	if err != nil {
		t.Fatalf("listing the files of the tree: %v", err)
	}
	tree := filepath.Join(os.TempDir(), fmt.Sprintf("callwright-readme-%d", os.Getuid()))
	if err := os.RemoveAll(tree); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(tree) })
	for name := range strings.SplitSeq(strings.TrimSuffix(string(names), "\x00"), "\x00") {
		from, to := filepath.Join(root, name), filepath.Join(tree, name)
		info, err := os.Stat(from)
		if errors.Is(err, fs.ErrNotExist) {
			continue // deleted, but the deletion is not committed
		}
		var text []byte
		if err == nil {
			text, err = os.ReadFile(from)
		}
		if err == nil {
			err = os.MkdirAll(filepath.Dir(to), 0o750)
		}
		if err == nil {
			err = os.WriteFile(to, text, info.Mode().Perm())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return tree
}

// shell returns a command that runs a script in the tree. curl fails if the server refuses a request.
func shell(t *testing.T, tree, script string) *exec.Cmd {
	t.Helper()
	bin := t.TempDir()
	curl := process.Find(t, "curl", "curl")
	if err := os.WriteFile(filepath.Join(bin, "curl"), []byte("#!/bin/sh\nexec "+curl+" --fail-with-body \"$@\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), "bash", "-c", script)
	c.Dir = tree
	c.Env = append(withoutSettings(), "PATH="+bin+string(filepath.ListSeparator)+tree+string(filepath.ListSeparator)+os.Getenv("PATH"))
	return c
}

// withoutSettings returns the environment without the variables of the server.
func withoutSettings() []string {
	return slices.DeleteFunc(os.Environ(), func(variable string) bool { return strings.HasPrefix(variable, "CALLWRIGHT_") })
}

// execute runs the commands of a page one after another in one shell, and checks that all of them succeed.
func execute(t *testing.T, tree, page string, commands []string) {
	t.Helper()
	c := shell(t, tree, "set -eux -o pipefail\n"+strings.Join(commands, "\n"))
	said, err := c.CombinedOutput()
	if err != nil {
		t.Errorf("%s: %v\n%s", page, err, said)
	}
}

// take performs the steps of the walk in a browser, and checks the call that results. It returns the page of the call.
func take(t *testing.T, tree string, steps []guide.Step) *browser.Page {
	t.Helper()
	key, err := os.ReadFile(filepath.Join(tree, "data", "api-key"))
	if err != nil {
		t.Fatal(err)
	}
	p := browser.Open(t, true)
	p.Resize(t, 1280, 900)
	p.Go(t, "http://127.0.0.1:8080/")
	for _, s := range steps {
		switch {
		case s.Appear != "":
			p.AwaitText(t, s.Appear)
		case s.Value != "":
			p.Fill(t, s.Label, strings.Replace(s.Value, guide.Key, strings.TrimSpace(string(key)), 1))
		default:
			p.ClickText(t, s.Label)
		}
	}
	p.Await(t, "audio#recording")
	hasBothSides(t, tree)
	p.Picture(t, "walk-call")
	if found := p.Errors(t); len(found) > 0 {
		t.Errorf("the browser reports %q", found)
	}
	return p
}

// hasBothSides checks that the recording of the walk's call contains both sides.
func hasBothSides(t *testing.T, tree string) {
	t.Helper()
	var recordings []string
	err := filepath.WalkDir(filepath.Join(tree, "data", "recordings"), func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() {
			recordings = append(recordings, path)
		}
		return err
	})
	if err != nil || len(recordings) == 0 {
		t.Fatalf("there are no recordings in the data folder: %v", err)
	}
	text, err := os.ReadFile(recordings[0])
	if err != nil {
		t.Fatal(err)
	}
	audio, err := pcm.ReadWAV(bytes.NewReader(text), 60_000_000)
	if err != nil {
		t.Fatal(err)
	}
	for channel, side := range []string{"the softphone", "the agent"} {
		if loudness := pcm.Loudness(audio.Channel(channel)); loudness < -40 {
			t.Errorf("%s is at %.0f dBFS in the recording", side, loudness)
		}
	}
}
