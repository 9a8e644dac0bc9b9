package engine_test

import (
	"context"
	"encoding/json"
	"iter"
	"reflect"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agenttest/engine"
)

// change replaces the value of a field by another value.
func change(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(v.String() + "x")
	case reflect.Int:
		v.SetInt(v.Int() + 1)
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.Float64:
		v.SetFloat(v.Float() + 1)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
	case reflect.Slice:
		v.Set(reflect.Append(v, reflect.Zero(v.Type().Elem())))
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf("k"), reflect.ValueOf("v"))
	default:
		panic(v.Kind())
	}
}

// changed changes each field of the struct to which the pointer at refers, one at a time, calls the function see, and undoes the change. It
// includes the fields of the first elements of lists.
func changed(name string, at reflect.Value, see func(field string)) {
	v := at.Elem()
	for i := range v.NumField() {
		f, field := v.Field(i), name+"."+v.Type().Field(i).Name
		before := reflect.New(f.Type()).Elem()
		before.Set(f)
		change(f)
		see(field)
		f.Set(before)
		if f.Kind() == reflect.Slice && f.Type().Elem().Kind() == reflect.Struct {
			f.Set(reflect.MakeSlice(f.Type(), 1, 1))
			changed(field, f.Index(0).Addr(), see)
			f.Set(before)
		}
	}
}

// TestEveryFieldIsInTheDigest checks by reflection that each field of a request changes its digest. Reflection makes the test include
// fields that are added later.
func TestEveryFieldIsInTheDigest(t *testing.T) {
	t.Parallel()
	seen := map[[32]byte]string{}
	add := func(field string, d [32]byte) {
		if other, twice := seen[d]; twice {
			t.Errorf("%s and %s make no difference", field, other)
		}
		seen[d] = field
	}
	var r llm.ReplyRequest
	add("nothing", engine.ReplyDigest(r))
	changed("reply", reflect.ValueOf(&r), func(field string) { add(field, engine.ReplyDigest(r)) })
	var q llm.Question
	add("no question", engine.QuestionDigest(q))
	changed("question", reflect.ValueOf(&q), func(field string) { add(field, engine.QuestionDigest(q)) })
	if len(seen) < 50 {
		t.Errorf("only %d forms were seen", len(seen))
	}
}

func TestDigestTellsWhereTextsEnd(t *testing.T) {
	t.Parallel()
	if engine.ReplyDigest(llm.ReplyRequest{Facts: []string{"ab", "c"}}) == engine.ReplyDigest(llm.ReplyRequest{Facts: []string{"a", "bc"}}) {
		t.Error("lists with the same letters have one digest")
	}
	with := func(v map[string]any) [32]byte { return engine.QuestionDigest(llm.Question{Variables: v}) }
	if with(map[string]any{"f": func() {}}) == with(nil) || with(map[string]any{"a": 1, "b": 2}) != with(map[string]any{"b": 2, "a": 1}) {
		t.Error("variables do not count, or not always alike")
	}
}

// TestRepliesAreTheSameWhenTheyAreRead checks that a resumed run reads the same reply from the journal as before, for any model output.
func TestRepliesAreTheSameWhenTheyAreRead(t *testing.T) {
	t.Parallel()
	text := rapid.OneOf(rapid.String(), rapid.Just("\xff\xfe"), rapid.Just("<b>\u2028&"), rapid.Just(""))
	rapid.Check(t, func(rt *rapid.T) {
		parts := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) llm.ReplyPart {
			p := llm.ReplyPart{Text: text.Draw(rt, "text")}
			switch rapid.IntRange(0, 4).Draw(rt, "kind") {
			case 1:
				p.Action = llm.ActionEnd
			case 2:
				p.Call = &llm.ToolCall{ID: text.Draw(rt, "id"), Name: "f", Arguments: json.RawMessage(text.Draw(rt, "arguments"))}
			case 3:
				p.Expect = []string{text.Draw(rt, "phrase")}
			case 4:
				p.Usage = &llm.Usage{Input: rapid.Int().Draw(rt, "input")}
			}
			return p
		}), 0, 8).Draw(rt, "parts")
		live, read, err := engine.Recorded(stream(parts...))
		if err != nil {
			rt.Fatal(err)
		}
		if !reflect.DeepEqual(live, read) {
			rt.Fatalf("live %+v, read %+v", live, read)
		}
		var said, want strings.Builder
		calls := 0
		for _, p := range live {
			said.WriteString(p.Text)
			if p.Call != nil {
				calls++
			}
		}
		for _, p := range parts {
			want.WriteString(p.Text)
			if p.Call != nil {
				calls--
			}
		}
		if strings.ToValidUTF8(want.String(), "\uFFFD") != said.String() && !strings.Contains(said.String(), "\uFFFD") || calls != 0 {
			rt.Fatalf("said %q, want %q, calls %d", said.String(), want.String(), calls)
		}
	})
}

// stream returns a reply that consists of these parts.
func stream(parts ...llm.ReplyPart) iter.Seq2[llm.ReplyPart, error] {
	return func(yield func(llm.ReplyPart, error) bool) {
		for _, p := range parts {
			if !yield(p, nil) {
				return
			}
		}
	}
}

func TestRepliesAreBounded(t *testing.T) {
	t.Parallel()
	endless := func(p llm.ReplyPart) iter.Seq2[llm.ReplyPart, error] {
		return func(yield func(llm.ReplyPart, error) bool) {
			for yield(p, nil) {
			}
		}
	}
	for name, p := range map[string]llm.ReplyPart{
		"text": {Text: strings.Repeat("x", 1000)}, "actions": {Action: llm.ActionEnd}, "phrases": {Expect: []string{""}},
		"calls": {Call: &llm.ToolCall{Arguments: make([]byte, 100_000)}}, "usage": {Usage: &llm.Usage{}},
	} {
		if _, _, err := engine.Recorded(endless(p)); llm.ClassOf(err) != llm.ClassInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestEqualQuestionsSideBySide checks that a run pays for each of its concurrent equal questions once, and that the resumed run pays for
// none again.
func TestEqualQuestionsSideBySide(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	paid := 0
	m := model(2)
	m.Answers = func(context.Context, llm.Question) (string, error) {
		mu.Lock()
		defer mu.Unlock()
		paid++
		return `{"pass":true}`, nil
	}
	s := played()
	for range 20 {
		s.Assertions = append(s.Assertions, judged("same", "same"))
	}
	c := engine.Case{Run: "r", Scenario: s, Journal: &engine.MemoryJournal{}}
	for range 2 {
		o, err := newEngine(t, engine.Config{Runner: agent{}, Model: m, Judge: newJudge}).Run(t.Context(), c)
		if err != nil || o.Verdict != engine.Passed || paid != 40 {
			t.Fatalf("%s %q, %d were paid, error %v", o.Verdict, o.Error, paid, err)
		}
	}
}

// TestModelOfARun runs the conformance suite of models on a Limiter around the model that a run passes to its agent.
func TestModelOfARun(t *testing.T) {
	t.Parallel()
	agentstest.RunModel(t, agentstest.ModelHarness{
		Task: "Answer.",
		New: func(t *testing.T) llm.Model {
			m := model(100)
			m.Answers = func(context.Context, llm.Question) (string, error) { return `{"reason":"","option":"a"}`, nil }
			return engine.NewLimiter(engine.Inside(t, m), engine.LimiterConfig{})
		},
		Questions: []llm.Question{{Task: llm.TaskRoute, Options: []llm.Option{{ID: "a"}}}},
	})
}
