package cassette_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/cassette"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/llm"
)

// TestManyRecorders writes from several independent recorders into one file, as separate processes would: all recordings can be replayed.
func TestManyRecorders(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "c.jsonl")
	const recorders, each = 4, 10
	long := strings.Repeat("word ", 1000)
	var wait sync.WaitGroup
	for i := range recorders {
		m := open(t, cassette.Config{Mode: cassette.RecordMissing, Path: path, Model: talker()})
		for j := range each {
			wait.Go(func() { say(t, m, llm.ReplyRequest{Instructions: fmt.Sprint(i, " ", j, " ", long)}) })
		}
	}
	wait.Wait()
	m := open(t, cassette.Config{Mode: cassette.Replay, Path: path, Called: "fake"})
	for i := range recorders {
		for j := range each {
			if got := say(t, m, llm.ReplyRequest{Instructions: fmt.Sprint(i, " ", j, " ", long)}); !strings.HasPrefix(got, "Take ") {
				t.Fatalf("recording %d %d: %.300s", i, j, got)
			}
		}
	}
}

// TestTornLine truncates the last line of a file, as a crash does, and continues recording: earlier and later recordings can be replayed.
func TestTornLine(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "c.jsonl")
	config := cassette.Config{Mode: cassette.RecordMissing, Path: path, Model: talker()}
	m := open(t, config)
	first, second := llm.ReplyRequest{Instructions: "1"}, llm.ReplyRequest{Instructions: "2"}
	say(t, m, first)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	say(t, m, second)
	both, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for cut := len(whole); cut < len(both); cut += 13 {
		if err := os.WriteFile(path, both[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		config.Model = talker()
		m := open(t, config)
		if got := say(t, m, first) + say(t, m, second); got != "Take 1Take 1" {
			t.Fatalf("cut at %d: %s", cut, got)
		}
		config.Model = talker()
		if got := say(t, open(t, config), second); got != "Take 1" {
			t.Fatalf("cut at %d, then: %s", cut, got)
		}
	}
}

// TestChangedLine checks that a recording whose request was changed by hand is not replayed.
func TestChangedLine(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "c.jsonl")
	config := cassette.Config{Mode: cassette.RecordMissing, Path: path, Model: talker()}
	r := llm.ReplyRequest{Instructions: "First."}
	say(t, open(t, config), r)
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(string(content), "First.", "Other.", 1)
	if err := os.WriteFile(path, []byte(changed), 0o600); err != nil || changed == string(content) {
		t.Fatal(changed, err)
	}
	if got := say(t, open(t, config), r); got != "Take 2" {
		t.Errorf("said %s", got)
	}
}

// TestDiskFails checks that a caller receives llm.ClassPermanent if a reply or an answer cannot be recorded.
func TestDiskFails(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "c.jsonl")
	m := open(t, cassette.Config{Mode: cassette.Record, Path: path, Model: talker()})
	if err := errors.Join(os.Remove(path), os.Mkdir(path, 0o700)); err != nil {
		t.Fatal(err)
	}
	if got, err := agentstest.Collect(t.Context(), m, llm.ReplyRequest{}); llm.ClassOf(err) != llm.ClassPermanent || err == nil || got.Text != "Take 1" {
		t.Errorf("%+v, error %v", got, err)
	}
	if _, err := m.Answer(t.Context(), llm.Question{}); llm.ClassOf(err) != llm.ClassPermanent || err == nil {
		t.Errorf("error %v", err)
	}
}

// slow is a clock that advances by a quarter of a second at each call of Now.
type slow struct {
	mu  sync.Mutex
	now time.Time
}

func (s *slow) Now() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = s.now.Add(250 * time.Millisecond)
	return s.now
}

func TestLineForPeople(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "c.jsonl")
	m := open(t, cassette.Config{Mode: cassette.Record, Path: path, Model: talker(), Runtime: callwright.Runtime{Clock: &slow{}}})
	if _, err := m.Answer(t.Context(), llm.Question{Task: llm.TaskJudge, Trial: 2}); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	const want = `{"key":"58f2","took_ms":250,"answer":{"text":"take 1 {","model":"fake","usage":{"input":7,"output":2}},"request":{"by":"fake","kind":"answer","request":{"Task":"judge","Trial":2}}}` + "\n"
	if text := string(got); err != nil || len(text) < 80 || text[:8]+text[72:] != want[:8]+want[12:] {
		t.Errorf("the line is\n%s, %v", got, err)
	}
}

// FuzzLoad checks that a recorder works with any existing file.
func FuzzLoad(f *testing.F) {
	f.Add([]byte(`{"key":"a","parts":[{"text":"x"}],"request":{"kind":"reply"}}` + "\n"))
	f.Add([]byte(`{"key":"a","answer":null,"request":{"kind":"answer"}}` + "\n{"))
	f.Fuzz(func(t *testing.T, content []byte) {
		path := filepath.Join(t.TempDir(), "c.jsonl")
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		m := open(t, cassette.Config{Mode: cassette.RecordMissing, Path: path, Model: talker()})
		if got := say(t, m, llm.ReplyRequest{}) + say(t, m, llm.ReplyRequest{}); got != "Take 1Take 1" {
			t.Errorf("said %s", got)
		}
		say(t, open(t, cassette.Config{Mode: cassette.Replay, Path: path, Called: "fake"}), llm.ReplyRequest{Instructions: "x"})
	})
}
