package cassette_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/cassette"
	"github.com/callwright/callwright/adapters/scripted"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/llm"
)

func open(t *testing.T, c cassette.Config) *cassette.Model {
	t.Helper()
	m, err := cassette.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// talker returns a model whose answers contain their own number, so that a replayed answer can be distinguished from a new one.
func talker() *agentstest.Model {
	m := &agentstest.Model{Usage: llm.Usage{Input: 7, Output: 2}}
	m.Says = func(context.Context, llm.ReplyRequest) ([]llm.ReplyPart, error) {
		parts := agentstest.Texts("Take ", fmt.Sprint(len(m.Requests())))
		return append(parts, llm.ReplyPart{Call: &llm.ToolCall{ID: "c", Name: "look", Arguments: json.RawMessage(`{"a":`)}}, llm.ReplyPart{Expect: []string{"yes"}, Action: llm.ActionEnd}), nil
	}
	m.Answers = func(context.Context, llm.Question) (string, error) {
		return fmt.Sprintf("take %d {", len(m.Questions())), nil
	}
	return m
}

func say(t *testing.T, m llm.Model, r llm.ReplyRequest) string {
	t.Helper()
	got, err := agentstest.Collect(t.Context(), m, r)
	if err != nil {
		return err.Error()
	}
	return got.Text
}

func TestModel(t *testing.T) {
	t.Parallel()
	end := &agentstest.Scene{Request: llm.ReplyRequest{
		Instructions: `when "table": say "Noted. Goodbye." and end`,
		Messages:     []llm.Message{{Role: llm.RoleAgent, Text: "Yes?"}, {Role: llm.RoleCaller, Text: "A table for two."}},
	}}
	questions := []llm.Question{
		{Task: llm.TaskRoute, Options: []llm.Option{{ID: "a", Label: `"monday"`}, {ID: "b", Otherwise: true}}},
		{Task: llm.TaskExtract, Fields: []llm.Field{{Name: "n", Type: llm.FieldInteger}}},
		{Task: llm.TaskJudge, Schema: json.RawMessage(`{"type":"boolean"}`)},
	}
	judge := scripted.New(scripted.Rule{Task: llm.TaskJudge, Answer: "true"})
	path := filepath.Join(t.TempDir(), "suite.jsonl")
	for _, mode := range []cassette.Mode{cassette.Off, cassette.Record, cassette.RecordMissing} {
		agentstest.RunModel(t, agentstest.ModelHarness{
			New: func(t *testing.T) llm.Model {
				return open(t, cassette.Config{Mode: mode, Path: path, Model: judge})
			},
			Task: "Note what the caller wants.", Ends: end, Questions: questions,
			Failing: map[llm.Class]agentstest.Failing{llm.ClassUnsupported: {
				Request: llm.ReplyRequest{Instructions: `when "a" say "b"`}, Question: llm.Question{Task: llm.TaskFix, Instructions: "Fix it."},
			}},
		})
	}
	agentstest.RunModel(t, agentstest.ModelHarness{
		New: func(t *testing.T) llm.Model {
			return open(t, cassette.Config{Mode: cassette.Replay, Path: path, Called: scripted.Name})
		},
		Task: "Note what the caller wants.", Ends: end, Questions: questions,
		Failing: map[llm.Class]agentstest.Failing{llm.ClassPermanent: {
			Request: llm.ReplyRequest{Instructions: "Never asked."}, Question: llm.Question{Task: llm.TaskFix, Instructions: "Never asked."},
		}},
	})
}

func TestModes(t *testing.T) {
	t.Parallel()
	ask := llm.ReplyRequest{Instructions: "Talk."}
	for mode, want := range map[cassette.Mode]string{
		cassette.RecordMissing: "Take 1 Take 1 Take 1 Take 1",
		cassette.Record:        "Take 1 Take 2 Take 3 Take 2", // a model that is opened after two recordings replays the second
		cassette.Off:           "Take 1 Take 2 Take 3 failed",
	} {
		path := filepath.Join(t.TempDir(), "c.jsonl")
		inner := talker()
		m := open(t, cassette.Config{Mode: mode, Path: path, Model: inner})
		got := []string{say(t, m, ask), say(t, m, ask)}
		before := "failed"
		if later, err := cassette.New(cassette.Config{Mode: cassette.Replay, Path: path, Called: "fake"}); err == nil {
			before = say(t, later, ask)
		}
		got = append(got, say(t, m, ask), before)
		if strings.Join(got, " ") != want {
			t.Errorf("%s: got %v, want %s", mode, got, want)
		}
	}
}

// TestReplays checks that replies are replayed part by part, and that answers are replayed with their usage.
func TestReplays(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "c.jsonl")
	recorder := open(t, cassette.Config{Mode: cassette.Record, Path: path, Model: talker()})
	ask, q := llm.ReplyRequest{Instructions: "Talk."}, llm.Question{Task: llm.TaskJudge}
	written, err := recorder.Answer(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	say(t, recorder, ask)
	m := open(t, cassette.Config{Mode: cassette.Replay, Path: path, Called: "fake"})
	var parts []llm.ReplyPart
	for p, err := range m.Reply(t.Context(), ask) {
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, p)
	}
	if len(parts) != 5 || parts[0].Text != "Take " || parts[1].Text != "1" {
		t.Fatalf("the parts are %+v", parts)
	}
	if c := parts[2].Call; c == nil || c.ID != "c" || c.Name != "look" || string(c.Arguments) != `{"a":` {
		t.Errorf("the call is %+v", c)
	}
	if p := parts[3]; p.Action != llm.ActionEnd || fmt.Sprint(p.Expect) != "[yes]" || *parts[4].Usage != (llm.Usage{Input: 7, Output: 2}) {
		t.Errorf("the last parts are %+v", parts[3:])
	}
	if a, err := m.Answer(t.Context(), q); err != nil || string(a.JSON) != "take 1 {" || a.Usage != written.Usage || a.Model != written.Model {
		t.Errorf("the answer is %s %+v, %v", a.JSON, a, err)
	}
}

// TestKey checks that every field of a request except the organization changes the key, and that the order of JSON members does not.
func TestKey(t *testing.T) {
	t.Parallel()
	zero := 0.0
	base := llm.Question{
		Task: llm.TaskJudge, Instructions: "a", Schema: json.RawMessage(`{"a":1,"b":[2]}`), Variables: map[string]any{"x": 1},
		Messages: []llm.Message{{Role: llm.RoleCaller, Text: "Hi.", Calls: []llm.ToolCall{{Arguments: json.RawMessage("{")}}}},
	}
	tests := map[string]struct {
		change func(q *llm.Question)
		same   bool
	}{
		"nothing":      {func(*llm.Question) {}, true},
		"organization": {func(q *llm.Question) { q.Org = "other" }, true},
		"order":        {func(q *llm.Question) { q.Schema = json.RawMessage(` {"b": [2], "a": 1}`) }, true},
		"number":       {func(q *llm.Question) { q.Variables = map[string]any{"x": int64(1)} }, true},
		"no options":   {func(q *llm.Question) { q.Options, q.Evidence = []llm.Option{}, json.RawMessage{} }, true},
		"task":         {func(q *llm.Question) { q.Task = llm.TaskFix }, false},
		"model":        {func(q *llm.Question) { q.Model = "other" }, false},
		"schema":       {func(q *llm.Question) { q.Schema = json.RawMessage(`{"a":1,"b":[3]}`) }, false},
		"no schema":    {func(q *llm.Question) { q.Schema = nil }, false},
		"variables":    {func(q *llm.Question) { q.Variables = map[string]any{"x": 2} }, false},
		"temperature":  {func(q *llm.Question) { q.Temperature = &zero }, false},
		"trial":        {func(q *llm.Question) { q.Trial = 1 }, false},
		"attempt":      {func(q *llm.Question) { q.Attempt = 1 }, false},
		"problem":      {func(q *llm.Question) { q.Problem = "x" }, false},
		"messages":     {func(q *llm.Question) { q.Messages = nil }, false},
		"text":         {func(q *llm.Question) { q.Messages = []llm.Message{{Role: llm.RoleCaller, Text: "Ho."}} }, false},
		"options":      {func(q *llm.Question) { q.Options = []llm.Option{{ID: "a"}} }, false},
		"evidence":     {func(q *llm.Question) { q.Evidence = json.RawMessage(`1`) }, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := open(t, cassette.Config{Mode: cassette.RecordMissing, Path: filepath.Join(t.TempDir(), "c.jsonl"), Model: talker()})
			q := base
			tt.change(&q)
			first, err := m.Answer(t.Context(), base)
			second, errSecond := m.Answer(t.Context(), q)
			if err != nil || errSecond != nil || (string(first.JSON) == string(second.JSON)) != tt.same {
				t.Errorf("first %s, then %s, errors %v, %v", first.JSON, second.JSON, err, errSecond)
			}
		})
	}
}

// TestMissNamesTheNearest checks that the error for a missing recording names the most similar recording and the difference, without
// private text.
func TestMissNamesTheNearest(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "c.jsonl")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	replay := func() *cassette.Model {
		return open(t, cassette.Config{Mode: cassette.Replay, Path: path, Called: "fake"})
	}
	r := llm.ReplyRequest{Instructions: "Talk.", Messages: []llm.Message{{Role: llm.RoleCaller, Text: "A secret."}}}
	if _, err := agentstest.Collect(t.Context(), replay(), r); err == nil || !strings.Contains(err.Error(), "empty") {
		t.Errorf("error %v", err)
	}
	recorder := open(t, cassette.Config{Mode: cassette.Record, Path: path, Model: talker()})
	say(t, recorder, llm.ReplyRequest{Instructions: "Something else", Language: "de", CanEnd: true, Trial: 1})
	say(t, recorder, r)
	other := r
	other.Trial, other.Messages = 2, []llm.Message{{Role: llm.RoleCaller, Text: "Another secret."}, {Role: llm.RoleAgent, Text: "x"}}
	_, err := agentstest.Collect(t.Context(), replay(), other)
	const want = "which differs in request.Messages[0].Text, request.Messages[1].Role, request.Messages[1].Text, request.Trial"
	if llm.ClassOf(err) != llm.ClassPermanent || err == nil || !strings.HasSuffix(err.Error(), want) || strings.Contains(err.Error(), "secret") {
		t.Errorf("error %v", err)
	}
	if _, err := replay().Answer(t.Context(), llm.Question{Instructions: "Talk.", Language: "fr", Model: "m", Trial: 5, Attempt: 3, Problem: "p", Task: "judge", Options: []llm.Option{{ID: "o"}}}); err == nil || !strings.Contains(err.Error(), " more") {
		t.Errorf("error %v", err)
	}
}

func TestFailuresAndBrokenOffRepliesAreNotRecorded(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "c.jsonl")
	down := &agentstest.Model{Says: func(context.Context, llm.ReplyRequest) ([]llm.ReplyPart, error) {
		return agentstest.Texts("Half a"), &llm.Failure{Class: llm.ClassTransient, Message: "down"}
	}}
	for _, inner := range []*agentstest.Model{down, talker()} {
		m := open(t, cassette.Config{Mode: cassette.Record, Path: path, Model: inner})
		parts := 0
		for range m.Reply(t.Context(), llm.ReplyRequest{}) { //nolint:errcheck // only that it is not recorded matters
			if parts++; inner != down {
				break
			}
		}
		if _, err := m.Answer(t.Context(), llm.Question{}); inner == down && llm.ClassOf(err) != llm.ClassUnsupported {
			t.Errorf("error %v", err)
		}
	}
	content, err := os.ReadFile(path)
	if err != nil || strings.Count(string(content), "\n") != 1 { // only the answer of the second model
		t.Errorf("recorded %s, %v", content, err)
	}
}

func TestSecretsAreTakenOut(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "c.jsonl")
	secrets := []string{
		"Bearer abcdef123456", "sk-proj-1234567890abcdef", "eyJhbGciOiJI.eyJzdWIiOiIx.c2lnbmF0dXJl", "api_key=hush-hush-1", `"x-api-key": "hush-hush-2"`,
		"https://user:hushhush3@example.com/", "password: hush-hush-4", "card 4111111111111111",
	}
	all := strings.Join(secrets, " and ")
	inner := &agentstest.Model{Says: func(context.Context, llm.ReplyRequest) ([]llm.ReplyPart, error) {
		parts := agentstest.Texts("Your key is sk-proj-12345", "67890abcdef", ".")
		return append(parts, llm.ReplyPart{Expect: []string{all}, Call: &llm.ToolCall{Arguments: json.RawMessage(`{"token":"hush-hush-5"}`)}}), nil
	}}
	inner.Answers = func(context.Context, llm.Question) (string, error) { return `{"api_key":"hush-hush-6","a":1}`, nil }
	config := cassette.Config{Mode: cassette.Record, Path: path, Model: inner, Redact: func(text string) string {
		return strings.ReplaceAll(text, "4111111111111111", "[card]")
	}}
	m := open(t, config)
	r := llm.ReplyRequest{
		Instructions: all, Knowledge: []string{all}, Messages: []llm.Message{{Text: all}},
		Tools: []llm.Tool{{Parameters: json.RawMessage(`{"api_key":"hush-hush-7"}`)}},
	}
	q := llm.Question{Variables: map[string]any{"api_key": "hush-hush-8", "inner": map[string]any{"client_secret": "hush-hush-9"}}}
	if got := say(t, m, r); got != "Your key is sk-proj-1234567890abcdef." {
		t.Errorf("who is recorded hears %q", got)
	}
	if _, err := m.Answer(t.Context(), q); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{"abcdef", "1234567890", "eyJ", "hush", "4111"} {
		if strings.Contains(string(content), s) {
			t.Errorf("the file holds %q:\n%s", s, content)
		}
	}
	config.Mode = cassette.Replay
	again := open(t, config)
	if got := say(t, again, r); got != "Your key is [redacted]." {
		t.Errorf("replayed %q", got)
	}
	if a, err := again.Answer(t.Context(), q); err != nil || string(a.JSON) != `{"api_key":"[redacted]","a":1}` {
		t.Errorf("replayed %s, %v", a.JSON, err)
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, tt := range []struct {
		config cassette.Config
		want   callwright.Code
	}{
		{cassette.Config{Model: talker(), Path: "x"}, callwright.CodeBadRequest},
		{cassette.Config{Mode: cassette.Record, Path: "x"}, callwright.CodeBadRequest},
		{cassette.Config{Mode: cassette.Replay, Path: "x"}, callwright.CodeBadRequest},
		{cassette.Config{Mode: cassette.Record, Model: talker()}, callwright.CodeBadRequest},
		{cassette.Config{Mode: cassette.Replay, Called: "x", Path: filepath.Join(dir, "absent")}, callwright.CodeUnavailable},
		{cassette.Config{Mode: cassette.Record, Model: talker(), Path: filepath.Join(dir, "absent", "c")}, callwright.CodeUnavailable},
	} {
		if _, err := cassette.New(tt.config); callwright.CodeOf(err) != tt.want || err == nil {
			t.Errorf("%+v: error %v", tt.config, err)
		}
	}
}

func TestHints(t *testing.T) {
	t.Parallel()
	rules := llm.ReplyRequest{Instructions: `when "a": say "b"`}
	if got := open(t, cassette.Config{Mode: cassette.Off, Model: scripted.New()}).Hints(rules, nil); fmt.Sprint(got) != "[a]" {
		t.Errorf("hints %v", got)
	}
	if got := open(t, cassette.Config{Mode: cassette.Off, Model: talker()}).Hints(rules, nil); got != nil {
		t.Errorf("hints %v of a model that has none", got)
	}
}

func ExampleNew() {
	dir, err := os.MkdirTemp("", "cassette")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	path, question := filepath.Join(dir, "day.jsonl"), llm.Question{
		Messages: []llm.Message{{Role: llm.RoleCaller, Text: "Tuesday, please."}},
		Fields:   []llm.Field{{Name: "day", Type: llm.FieldString, Description: "weekday"}},
	}
	for _, config := range []cassette.Config{
		{Mode: cassette.RecordMissing, Path: path, Model: scripted.New()}, // can be any model
		{Mode: cassette.Replay, Path: path, Called: scripted.Name},        // needs no model
	} {
		model, err := cassette.New(config)
		if err != nil {
			fmt.Println(err)
			return
		}
		found, _, err := llm.Extract(context.Background(), model, question)
		fmt.Println(found, err)
	}
	// Output:
	// map[day:Tuesday] <nil>
	// map[day:Tuesday] <nil>
}

func BenchmarkReplay(b *testing.B) {
	m, err := cassette.New(cassette.Config{Mode: cassette.RecordMissing, Path: filepath.Join(b.TempDir(), "c.jsonl"), Model: scripted.New()})
	if err != nil {
		b.Fatal(err)
	}
	q := llm.Question{
		Messages: []llm.Message{{Role: llm.RoleAgent, Text: "Which day?"}, {Role: llm.RoleCaller, Text: "On Tuesday, please."}}, Variables: map[string]any{"day": "Tuesday"},
		Options: []llm.Option{{ID: "way 1", Label: "day is known"}, {ID: "way 2", Label: "none of the others", Otherwise: true}},
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := llm.Choose(b.Context(), m, q); err != nil {
			b.Fatal(err)
		}
	}
}
