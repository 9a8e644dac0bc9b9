package llm_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/llm"
)

// answering returns a model that returns the answers in order, each a text or an error, and then repeats the last answer.
func answering(answers ...any) *agentstest.Model {
	m := &agentstest.Model{Usage: llm.Usage{Input: 3, Output: 1}}
	m.Answers = func(context.Context, llm.Question) (string, error) {
		a := answers[min(len(m.Questions()), len(answers))-1]
		if err, ok := a.(error); ok {
			return "", err
		}
		return a.(string), nil
	}
	return m
}

func fail(class llm.Class, after time.Duration) error {
	return &llm.Failure{Class: class, Message: "no", RetryAfter: after}
}

var verdict = llm.Question{
	Task: llm.TaskJudge, Instructions: "Judge.",
	Schema: json.RawMessage(`{"type":"object","properties":{"score":{"type":"integer","minimum":0,"maximum":5}},"required":["score"],"additionalProperties":false}`),
}

type score struct{ Score int8 }

func TestAskTakesOneValue(t *testing.T) {
	t.Parallel()
	for answer, fine := range map[string]bool{
		`{"score":3}`:                      true,
		" \n{\"score\":3}\t":               true,
		"```json\n{\"score\":3}\n```":      true,
		"```\n{\"score\":3}```\n":          true,
		"```JSON\r\n{\"score\":3}\n```":    true,
		"```yaml\n{\"score\":3}\n```":      false,
		"```json\n{\"score\":3}":           false,
		"```json\n{\"score\":3}\n``` ok":   false,
		"``````json\n{\"score\":3}\n```":   false,
		"Here: {\"score\":3}":              false,
		`{"score":3} That is it.`:          false,
		`{"score":3}{"score":5}`:           false,
		"{\"score\":3}\n{\"score\":5}":     false,
		`[{"score":3}]`:                    false,
		`{"score":3,"score":5}`:            false,
		`{"score":3,"Score":5}`:            false,
		`{"score":3,"why":"x"}`:            false,
		`{"score":6}`:                      false,
		`{"score":"3"}`:                    false,
		`{"score":3.5}`:                    false,
		`{"score":null}`:                   false,
		`{}`:                               false,
		`{"score":3`:                       false,
		`{"score":3]`:                      false,
		`{score:3}`:                        false,
		`{1:3}`:                            false,
		``:                                 false,
		"```":                              false,
		"```\n```":                         false,
		"null":                             false,
		strings.Repeat("[", 5000):          false,
		`"` + strings.Repeat("x", 1<<20):   false,
		`{"score":3,"` + "\xff" + `":0}`:   false,
		`{"score":1e400}`:                  false,
		`{"score":` + "\u200b" + `3}`:      false,
		"\ufeff{\"score\":3}":              false,
		"{\"score\":3}\x00":                false,
		"~~~json\n{\"score\":3}\n~~~":      false,
		"```json\n```\n{\"score\":3}\n":    false,
		"```json{\"score\":3}\n```":        false,
		"```\n```json\n{\"score\":3}```":   false,
		"```json\n{\"score\":3}\n```\n```": false,
	} {
		m := answering(answer)
		got := score{Score: 9}
		usage, err := llm.Ask(t.Context(), m, verdict, &got)
		switch {
		case fine && (err != nil || got.Score != 3 || len(m.Questions()) != 1):
			t.Errorf("%.50q: got %v, error %v after %d questions", answer, got, err, len(m.Questions()))
		case !fine && (llm.ClassOf(err) != llm.ClassInvalid || err == nil || got.Score != 9 || len(m.Questions()) != 3):
			t.Errorf("%.50q: got %v, error %v after %d questions", answer, got, err, len(m.Questions()))
		case usage.Input != 3*len(m.Questions()):
			t.Errorf("%.50q: usage %v", answer, usage)
		}
	}
}

// TestAskSaysWhatWasWrong checks that each further question contains the problem of the last answer and the number of the attempt.
func TestAskSaysWhatWasWrong(t *testing.T) {
	t.Parallel()
	m := answering(`{"score":7,"`+strings.Repeat("é", 400)+`":1}`, "no idea", `{"score":2}`)
	var got score
	if _, err := llm.Ask(t.Context(), m, verdict, &got); err != nil || got.Score != 2 {
		t.Fatalf("got %v, %v", got, err)
	}
	for i, q := range m.Questions() {
		if q.Attempt != i || (q.Problem == "") != (i == 0) || len(q.Problem) > 500 || strings.ContainsRune(q.Problem, '\ufffd') {
			t.Errorf("question %d has the attempt %d and the problem %q", i, q.Attempt, q.Problem)
		}
	}
	if p := m.Questions()[1].Problem; !strings.Contains(p, "schema") || !strings.Contains(p, "maximum") {
		t.Errorf("the problem is %q", p)
	}
}

// TestAskTellsSchemasApart checks that each answer is checked by its own question's schema, although concurrent questions have more schemas
// than the cache holds.
func TestAskTellsSchemasApart(t *testing.T) {
	t.Parallel()
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			for n := range 300 {
				q := verdict
				q.Schema = fmt.Appendf(nil, `{"const":%d}`, n)
				var got int
				if _, err := llm.Ask(t.Context(), answering(fmt.Sprint(n)), q, &got); err != nil || got != n {
					t.Errorf("%d, %d: got %d, %v", i, n, got, err)
				}
				if _, err := llm.Ask(t.Context(), answering("-1"), q, &got); llm.ClassOf(err) != llm.ClassInvalid {
					t.Errorf("%d, %d: another answer: %v", i, n, err)
				}
			}
		})
	}
	all.Wait()
}

// TestAskCheckedChecksWhatASchemaCannot checks that an answer that the given function refuses is never returned, and that the model is
// asked again.
func TestAskCheckedChecksWhatASchemaCannot(t *testing.T) {
	t.Parallel()
	even := func(s score) error {
		if s.Score%2 != 0 {
			return errors.New("the score must be even")
		}
		return nil
	}
	m := answering(`{"score":3}`, `{"score":7}`, `{"score":4}`)
	got, usage, err := llm.AskChecked(t.Context(), m, verdict, even)
	if err != nil || got.Score != 4 || usage.Input != 9 || m.Questions()[1].Problem != "the score must be even" {
		t.Errorf("got %v, usage %v, error %v", got, usage, err)
	}
	m = answering(`{"score":3}`)
	if got, _, err := llm.AskChecked(t.Context(), m, verdict, even); llm.ClassOf(err) != llm.ClassInvalid || got.Score != 0 || len(m.Questions()) != llm.Attempts {
		t.Errorf("got %v, error %v after %d questions", got, err, len(m.Questions()))
	}
	q := verdict
	q.Schema = nil
	if _, _, err := llm.AskChecked(t.Context(), m, q, even); llm.ClassOf(err) != llm.ClassPermanent {
		t.Errorf("without a schema: %v", err)
	}
}

func TestAskRefusesTheTypeThatDoesNotHoldTheAnswer(t *testing.T) {
	t.Parallel()
	q := verdict
	q.Schema = json.RawMessage(`true`)
	var got score
	if _, err := llm.Ask(t.Context(), answering(`{"score":300}`), q, &got); llm.ClassOf(err) != llm.ClassInvalid || err == nil {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestAskRefusesSchemas(t *testing.T) {
	t.Parallel()
	for _, schema := range []string{
		"", "{", `{"type":"nothing"}`, `[]`, `"x"`, `{"$ref":"#/$defs/absent"}`, `{"pattern":"("}`,
		`{"$ref":"https://example.com/schema.json"}`, `{"$ref":"file:///etc/passwd"}`, `{"$ref":"other.json"}`, `{"$schema":"https://example.com/draft"}`,
		`{"properties":{"a":{"$ref":"http://127.0.0.1:1/x"}}}`, `{"$id":"https://example.com/a","$ref":"b"}`,
	} {
		m := answering(`1`)
		q := verdict
		q.Schema = json.RawMessage(schema)
		var got any
		if _, err := llm.Ask(t.Context(), m, q, &got); llm.ClassOf(err) != llm.ClassPermanent || len(m.Questions()) > 0 {
			t.Errorf("%s: %v after %d questions", schema, err, len(m.Questions()))
		}
	}
	q := verdict
	q.Schema = json.RawMessage(`{"$defs":{"list":{"type":"array","items":{"$ref":"#/$defs/list"}}},"$ref":"#/$defs/list"}`)
	var got []any
	if _, err := llm.Ask(t.Context(), answering(`[[],[[]]]`), q, &got); err != nil || len(got) != 2 {
		t.Errorf("a schema that refers to itself: %v, %v", got, err)
	}
}

func TestAskTriesOnceMore(t *testing.T) {
	t.Parallel()
	const fine = `{"score":3}`
	for name, c := range map[string]struct {
		answers []any
		class   llm.Class // empty means no error
		asked   int
		took    time.Duration
	}{
		"transient":            {[]any{fail(llm.ClassTransient, 0), fine}, "", 2, 0},
		"unknown":              {[]any{errors.New("?"), fine}, "", 2, 0},
		"transient twice":      {[]any{fail(llm.ClassTransient, 0), fail(llm.ClassTransient, 0), fine}, llm.ClassTransient, 2, 0},
		"over the rate":        {[]any{fail(llm.ClassRateLimited, 2*time.Second), fine}, "", 2, 2 * time.Second},
		"far over the rate":    {[]any{fail(llm.ClassRateLimited, 2001*time.Millisecond), fine}, llm.ClassRateLimited, 1, 0},
		"used up":              {[]any{fail(llm.ClassQuota, 0), fine}, llm.ClassQuota, 1, 0},
		"wrong":                {[]any{fail(llm.ClassPermanent, 0), fine}, llm.ClassPermanent, 1, 0},
		"too long":             {[]any{fail(llm.ClassTooLong, 0), fine}, llm.ClassTooLong, 1, 0},
		"a stand-in can't":     {[]any{fail(llm.ClassUnsupported, 0), fine}, llm.ClassUnsupported, 1, 0},
		"nonsense, then down":  {[]any{"?", fail(llm.ClassTransient, 0), fine}, "", 3, 0},
		"down, then nonsense":  {[]any{fail(llm.ClassTransient, 0), "?", "?", fine}, "", 4, 0},
		"down between answers": {[]any{fail(llm.ClassTransient, 0), "?", fail(llm.ClassTransient, 0), fine}, llm.ClassTransient, 3, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				m := answering(c.answers...)
				began := time.Now()
				var got score
				_, err := llm.Ask(t.Context(), m, verdict, &got)
				if (err != nil) != (c.class != "") || err != nil && llm.ClassOf(err) != c.class || err == nil && got.Score != 3 {
					t.Errorf("got %v, error %v", got, err)
				}
				if len(m.Questions()) != c.asked || time.Since(began) != c.took {
					t.Errorf("asked %d times in %s", len(m.Questions()), time.Since(began))
				}
			})
		})
	}
}

func TestAskEndsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		m := answering(fail(llm.ClassRateLimited, 2*time.Second))
		began := time.Now()
		_, err := llm.Ask(ctx, m, verdict, new(score))
		if f, ok := errors.AsType[*llm.Failure](err); !ok || !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != time.Second {
			t.Errorf("error %v (%v) after %s", err, f, time.Since(began))
		}
		m = answering("?")
		if _, err := llm.Ask(ctx, m, verdict, new(score)); !errors.Is(err, context.DeadlineExceeded) || len(m.Questions()) != 1 {
			t.Errorf("with a context that has ended: %v after %d questions", err, len(m.Questions()))
		}
	})
}

// FuzzAsk checks that any answer is either refused with ClassInvalid, or decoded as encoding/json decodes it after the removal of a code
// fence.
func FuzzAsk(f *testing.F) {
	for _, seed := range []string{`{"score":3}`, "```json\n[1,{\"a\":null}]\n```", `{"a":1,"a":2}`, `1 2`, "```\n```", `"\ud800"`, `[[[[`, `-0.0e-1`} {
		f.Add(seed)
	}
	q := verdict
	q.Schema = json.RawMessage(`true`)
	f.Fuzz(func(t *testing.T, answer string) {
		var got, same any
		_, err := llm.Ask(t.Context(), answering(answer), q, &got)
		if err != nil {
			if llm.ClassOf(err) != llm.ClassInvalid || got != nil {
				t.Errorf("got %v, error %v", got, err)
			}
			return
		}
		bare := strings.TrimSpace(answer)
		if fenced, ok := strings.CutPrefix(bare, "```"); ok {
			_, fenced, _ = strings.Cut(fenced, "\n")
			bare = strings.TrimSuffix(fenced, "```")
		}
		if err := json.Unmarshal([]byte(bare), &same); err != nil || fmt.Sprint(got) != fmt.Sprint(same) {
			t.Errorf("took %q as %v, which is %v (%v)", answer, got, same, err)
		}
	})
}
