package judge_test

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agenttest/assert"
	"github.com/callwright/callwright/agenttest/judge"
)

// TestQuestion checks that all evidence is passed as data, separate from the rules and the criterion.
func TestQuestion(t *testing.T) {
	t.Parallel()
	m := each(pass)
	c := polite
	c.Model = "strict-1"
	ask(t, m, c, judge.Config{Model: "other", Trial: 7})
	ask(t, m, polite, judge.Config{Model: "other"})
	q := m.Questions()[0]
	const facts = `{"end":"agent_ended","sources":["messages","variables","webhooks","visits"],"variables":{"count":2},` +
		`"visits":[{"node":"greet","name":"Greeting","turn":-1},{"node":"pay","turn":1}],` +
		`"webhooks":[{"node":"pay","turn":1,"method":"POST","url":"https://shop.example/orders","body":{"n":2}}]}`
	if string(q.Evidence) != facts {
		t.Errorf("the evidence is %s", q.Evidence)
	}
	if q.Task != llm.TaskJudge || q.Org != "org" || q.Model != "strict-1" || m.Questions()[1].Model != "other" || q.Temperature == nil || *q.Temperature != 0 || q.Trial != 7 || q.Attempt != 0 {
		t.Errorf("got %+v", q)
	}
	for i, turn := range order().Turns {
		if want := (llm.Message{Role: turn.Role, Text: turn.Text}); !reflect.DeepEqual(q.Messages[i], want) {
			t.Errorf("message %d is %v", i, q.Messages[i])
		}
	}
	if len(q.Messages) != 3 || !strings.Contains(q.Instructions, `"The agent says goodbye."`) || strings.Contains(q.Instructions, "pizza") {
		t.Errorf("the rules are %s", q.Instructions)
	}
	if at := func(name string) int { return strings.Index(string(q.Schema), `"`+name+`":`) }; !slices.IsSorted([]int{0, at("evidence"), at("reasoning"), at("verdict"), at("failure_code")}) {
		t.Errorf("the schema is %s", q.Schema)
	}
}

// TestQuestionTellsWhatIsKnown checks that the question distinguishes sources without events from unknown sources.
func TestQuestionTellsWhatIsKnown(t *testing.T) {
	t.Parallel()
	m := each(fail)
	cycle := map[string]any{}
	cycle["self"] = cycle
	e := said(assert.Turn{Role: llm.RoleAgent, Text: "Hi."})
	e.Variables = map[string]any{"odd": make(chan int), "cycle": cycle}
	e.Webhooks = []assert.Webhook{{Method: "GET", URL: "u", Body: json.RawMessage(`{"n":`), Turn: -1}, {Method: "GET", URL: "u"}}
	for _, e := range []*assert.Evidence{e, said(assert.Turn{Role: llm.RoleAgent, Text: "Hi."})} {
		if _, err := judge.New(m, judge.Config{Samples: 1}).Judge(t.Context(), e, polite); err != nil {
			t.Fatal(err)
		}
	}
	for i, want := range []string{
		`{"end":"","sources":["messages","variables","webhooks"],"variables":{"cycle":"a value of the type map[string]interface {}","odd":"a value of the type chan int"},` +
			`"webhooks":[{"turn":-1,"method":"GET","url":"u","body":"{\"n\":"},{"turn":0,"method":"GET","url":"u"}]}`,
		`{"end":"","sources":["messages","variables","webhooks"],"variables":{},"webhooks":[]}`,
	} {
		if got := string(m.Questions()[i].Evidence); got != want {
			t.Errorf("the evidence is %s\nwant %s", got, want)
		}
	}
}

// TestInstructions checks that the client's own rules precede the package's rules, that the prompt is quoted, and that the last rules
// depend on the criterion's output.
func TestInstructions(t *testing.T) {
	t.Parallel()
	rules := func(c assert.Criterion) string {
		m := each("?")
		_, _ = judge.New(m, judge.Config{Samples: 1}).Judge(t.Context(), order(), c)
		return m.Questions()[0].Instructions
	}
	ours, _, _ := strings.Cut(rules(polite), "Judge by this criterion")
	own := polite
	own.Prompt, own.Instructions = "", "You are strict. Answer \"YES\" only."
	if got := rules(own); !strings.HasPrefix(got, own.Instructions+"\n"+ours) || !strings.Contains(got, "what the rules above these say") {
		t.Errorf("with the client's own rules: %s", got)
	}
	quoted := polite
	quoted.Prompt = "Is \"ok\" said?\nfailure_code: <none>"
	if got := rules(quoted); !strings.Contains(got, `"Is \"ok\" said?\nfailure_code: <none>"`) {
		t.Errorf("the criterion is not quoted: %s", got)
	}
	inverse := polite
	inverse.PassOnTrue = false
	if yes, no := rules(polite), rules(inverse); !strings.Contains(yes, "verdict: pass if the criterion is met") || !strings.Contains(no, "verdict: fail if the criterion is met") {
		t.Errorf("the verdicts are not told apart:\n%s\n%s", yes, no)
	}
	for output, line := range map[assert.Output]string{assert.OutputScore: "\nscore: ", assert.OutputCategorical: "\nlabel: ", assert.OutputTone: "\noverall: "} {
		if got := rules(criterion(output)); !strings.HasPrefix(got, ours) || !strings.Contains(got, line) || strings.Contains(got, "\nverdict: ") {
			t.Errorf("%s: %s", output, got)
		}
	}
}

// TestAnswers checks that the decision's field determines the opinion, and that incomplete, contradictory or otherwise malformed answers
// are invalid.
func TestAnswers(t *testing.T) {
	t.Parallel()
	const invalid = assert.JudgeVerdict("invalid")
	boolean, score, label, tone := polite, criterion(assert.OutputScore), criterion(assert.OutputCategorical), criterion(assert.OutputTone)
	for _, c := range []struct {
		criterion assert.Criterion
		answer    string
		want      assert.JudgeVerdict
	}{
		{boolean, pass, assert.JudgePass},
		{boolean, fail, assert.JudgeFail},
		{boolean, cannot, assert.CannotJudge},
		{boolean, "```json\n" + pass + "\n```", assert.JudgePass},
		{boolean, pass + pass, invalid},
		{boolean, pass[:len(pass)-1], invalid},
		{boolean, pass[:len(pass)/2], invalid},
		{boolean, "```json\n" + pass[:len(pass)-1], invalid},
		{boolean, "", invalid},
		{boolean, pass + "\n" + fail, invalid},
		{boolean, "[" + pass + "]", invalid},
		{boolean, "My answer: " + pass, invalid},
		{boolean, "pass", invalid},
		{boolean, `"pass"`, invalid},
		{boolean, `{"verdict":"pass"}`, invalid},
		{boolean, strings.Replace(pass, `,"failure_code":null`, "", 1), invalid},
		{boolean, strings.Replace(pass, `"reasoning":"It does.",`, "", 1), invalid},
		{boolean, strings.Replace(pass, "It does.", " \\n", 1), invalid},
		{boolean, strings.Replace(pass, `"verdict":"pass",`, "", 1), invalid},
		{boolean, strings.Replace(pass, `"pass"`, `"PASS"`, 1), invalid},
		{boolean, strings.Replace(pass, `"pass"`, `true`, 1), invalid},
		{boolean, strings.Replace(pass, `"pass"`, `null`, 1), invalid},
		{boolean, strings.Replace(pass, `null`, `"other"`, 1), invalid},
		{boolean, strings.Replace(fail, `"wrong_end"`, `null`, 1), invalid},
		{boolean, strings.Replace(fail, `wrong_end`, `no_match`, 1), invalid},
		{boolean, strings.Replace(pass, `"verdict"`, `"verdict":"fail","verdict"`, 1), invalid},
		{boolean, strings.Replace(pass, `"verdict"`, `"Verdict":"fail","verdict"`, 1), invalid},
		{boolean, strings.Replace(pass, `"turn":2`, `"turn":-1`, 1), invalid},
		{boolean, scored("1"), invalid},
		{score, scored("0.7"), assert.JudgePass},
		{score, scored("1"), assert.JudgePass},
		{score, scored("1.0"), assert.JudgePass},
		{score, scored("0.65"), assert.JudgeFail},
		{score, scored("0.15"), assert.JudgeFail},
		{score, scored("0"), assert.JudgeFail},
		{score, scored("null"), assert.CannotJudge},
		{score, scored("0.72"), invalid},
		{score, scored("1.05"), invalid},
		{score, scored("-0.05"), invalid},
		{score, scored("1e400"), invalid},
		{score, scored("NaN"), invalid},
		{score, scored(`"0.7"`), invalid},
		{score, strings.Replace(scored("0.7"), `"score":0.7,`, "", 1), invalid},
		{score, pass, invalid},
		{label, labeled("warm"), assert.JudgePass},
		{label, labeled("cold"), assert.JudgeFail},
		{label, labeled(""), assert.CannotJudge},
		{label, labeled("Warm"), invalid},
		{label, labeled("pass"), invalid},
		{tone, toned("0.9", "0.7", "0.5"), assert.JudgePass},
		{tone, toned("0.9", "0.65", "1"), assert.JudgeFail},
		{tone, toned("null", "null", "0.5"), assert.CannotJudge},
		{tone, toned("null", "0.9", "0.5"), invalid},
		{tone, toned("0.9", "0.9", "2"), invalid},
		{tone, strings.Replace(toned("0.9", "0.9", "1"), `"empathy"`, `"charm"`, 1), invalid},
	} {
		m := each(c.answer)
		o, err := judge.New(m, judge.Config{Samples: 1}).Judge(t.Context(), order(), c.criterion)
		switch asked := len(m.Questions()); {
		case c.want == invalid && (!isInvalid(err) || asked != 3 || !reflect.DeepEqual(o, assert.Opinion{Usage: llm.Usage{Input: 300, Output: 30}})):
			t.Errorf("%s: got %+v, error %v, after %d questions", c.answer, o, err, asked)
		case c.want != invalid && (err != nil || o.Verdict != c.want || asked != 1 || len(o.Samples) != 1 || o.Agreement != 1 || o.Reasoning == "" || o.Samples[0].Model != "judge-1"):
			t.Errorf("%s: got %+v, error %v, after %d questions", c.answer, o, err, asked)
		case c.want == assert.JudgeFail && !slices.Contains(assert.JudgeCodes(), o.Code), c.want != assert.JudgeFail && o.Code != "":
			t.Errorf("%s: the code is %q", c.answer, o.Code)
		}
	}
}

// TestRetriesAreNew checks that every retry states the problem of the previous answer and is a different request, so that no cassette
// answers it with that answer.
func TestRetriesAreNew(t *testing.T) {
	t.Parallel()
	m := voting([]string{"?", "{}", fail}, []string{"?", pass}, []string{pass})
	o := ask(t, m, polite, judge.Config{})
	seen := map[int]bool{}
	for _, q := range m.Questions() {
		if seen[q.Attempt] || (q.Problem == "") != (q.Attempt%llm.Attempts == 0) {
			t.Errorf("the attempt %d has the problem %q", q.Attempt, q.Problem)
		}
		seen[q.Attempt] = true
	}
	if o.Verdict != assert.JudgePass || len(seen) != 6 || o.Usage.Input != 600 {
		t.Errorf("got %+v after %d questions", o, len(seen))
	}
}

func TestQuotes(t *testing.T) {
	t.Parallel()
	quoting := func(turn, words string) string {
		return `{"evidence":[{"turn":` + turn + `,"quote":"` + words + `"}],"reasoning":"So.","verdict":"pass","failure_code":null}`
	}
	for _, c := range []struct {
		answers  []string
		asked    int
		verdict  assert.JudgeVerdict
		verified bool
		quote    string
	}{
		{[]string{quoting("2", "Goodbye.")}, 1, assert.JudgePass, true, "Goodbye."},
		{[]string{quoting("1", " Two  pizzas, please. ")}, 1, assert.JudgePass, true, "Two  pizzas, please."},
		{[]string{quoting("2", "caf\u00e9 order: two pizzas")}, 1, assert.JudgePass, true, "caf\u00e9 order: two pizzas"},
		{[]string{quoting("2", "goodbye."), quoting("2", "Goodbye.")}, 2, assert.JudgePass, true, "Goodbye."},
		{[]string{quoting("1", "Goodbye."), quoting("0", "Goodbye."), quoting("2", "Goodbye.")}, 2, assert.JudgePass, false, "Goodbye."},
		{[]string{quoting("9", "Goodbye.")}, 2, assert.JudgePass, false, "Goodbye."},
		{[]string{quoting("2", " ")}, 2, assert.JudgePass, false, ""},
		{[]string{quoting("1", "Goodbye."), fail}, 2, assert.JudgeFail, false, ""},
		{[]string{quoting("1", "Goodbye."), "?", "?"}, 3, assert.JudgePass, false, "Goodbye."},
		{[]string{"?", "?", quoting("1", "Goodbye.")}, 3, assert.JudgePass, false, "Goodbye."},
		{[]string{quoting("1", "Goodbye."), "!quota"}, 2, assert.JudgePass, false, "Goodbye."},
	} {
		m := voting(c.answers)
		o := ask(t, m, polite, judge.Config{Samples: 1})
		if len(m.Questions()) != c.asked || o.Verdict != c.verdict {
			t.Errorf("%v: %s after %d questions", c.answers, o.Verdict, len(m.Questions()))
		}
		if c.verdict == assert.JudgePass && (len(o.Quotes) != 1 || o.Quotes[0].Verified != c.verified || o.Quotes[0].Text != c.quote) {
			t.Errorf("%v: got %+v", c.answers, o.Quotes)
		}
		if c.asked == 2 && !strings.Contains(m.Questions()[1].Problem, "does not have the words") {
			t.Errorf("%v: the problem is %q", c.answers, m.Questions()[1].Problem)
		}
	}
}

// TestNothingToJudge checks that a conversation without words results in CannotJudge without a call of the model.
func TestNothingToJudge(t *testing.T) {
	t.Parallel()
	for name, e := range map[string]*assert.Evidence{
		"none": nil, "no turns": said(), "silence": said(assert.Turn{Role: llm.RoleAgent}, assert.Turn{Role: llm.RoleCaller, Text: " \u200b\n"}),
	} {
		m := each(pass)
		o, err := judge.New(m, judge.Config{}).Judge(t.Context(), e, polite)
		if err != nil || o.Verdict != assert.CannotJudge || o.Reasoning == "" || len(m.Questions()) > 0 {
			t.Errorf("%s: got %+v, error %v", name, o, err)
		}
	}
}

// TestLongConversations checks that a conversation is judged as a whole or, beyond MaxBytes, not at all.
func TestLongConversations(t *testing.T) {
	t.Parallel()
	e := said(assert.Turn{Role: llm.RoleAgent, Text: strings.Repeat("word ", 100)})
	size := 500 + len(`{"end":"","sources":["messages","variables","webhooks"],"variables":{},"webhooks":[]}`)
	for limit, want := range map[int]assert.JudgeVerdict{size: assert.JudgePass, size - 1: assert.CannotJudge, 0: assert.JudgePass} {
		m := each(strings.Replace(pass, "Goodbye.", "word", 1))
		o, err := judge.New(m, judge.Config{MaxBytes: limit}).Judge(t.Context(), e, polite)
		if err != nil || o.Verdict != want || want == assert.CannotJudge && (len(m.Questions()) > 0 || !strings.Contains(o.Reasoning, "bytes")) {
			t.Errorf("at most %d bytes: got %+v, error %v", limit, o, err)
		}
	}
	e.Turns[0].Text = strings.Repeat("a", judge.DefaultMaxBytes)
	if o, err := judge.New(each(pass), judge.Config{}).Judge(t.Context(), e, polite); err != nil || o.Verdict != assert.CannotJudge {
		t.Errorf("got %+v, error %v", o, err)
	}
}

func TestFailures(t *testing.T) {
	t.Parallel()
	for _, class := range []llm.Class{llm.ClassTransient, llm.ClassQuota, llm.ClassPermanent, llm.ClassTooLong, llm.ClassUnsupported} {
		o, err := judge.New(each(fail, "!"+string(class), pass), judge.Config{}).Judge(t.Context(), order(), polite)
		if llm.ClassOf(err) != class || err == nil || o.Usage.Input != 200 || o.Verdict != "" {
			t.Errorf("%s: got %+v, error %v", class, o, err)
		}
	}
	var unknown assert.Criterion
	if _, err := judge.New(each(pass), judge.Config{}).Judge(t.Context(), order(), unknown); llm.ClassOf(err) != llm.ClassPermanent {
		t.Errorf("a criterion without a kind: %v", err)
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		m := &agentstest.Model{Answers: func(ctx context.Context, _ llm.Question) (string, error) {
			<-ctx.Done()
			return "", ctx.Err()
		}}
		ended := make(chan error)
		go func() {
			_, err := judge.New(m, judge.Config{Symmetric: true}).Judge(ctx, order(), polite)
			ended <- err
		}()
		synctest.Wait()
		if n := len(m.Questions()); n != 3 {
			t.Errorf("%d votes are taken at once", n)
		}
		cancel()
		if err := <-ended; err == nil {
			t.Error("a judge whose context has ended has an opinion")
		}
	})
}

// TestPanics checks that a panic of a model reaches the goroutine that called Judge.
func TestPanics(t *testing.T) {
	t.Parallel()
	m := &agentstest.Model{Answers: func(context.Context, llm.Question) (string, error) { panic("the model") }}
	for _, symmetric := range []bool{false, true} {
		func() {
			defer func() {
				if p := recover(); p != "the model" {
					t.Errorf("symmetric %t: got %v", symmetric, p)
				}
			}()
			_, err := judge.New(m, judge.Config{Symmetric: symmetric}).Judge(t.Context(), order(), polite)
			t.Errorf("symmetric %t: no panic, error %v", symmetric, err)
		}()
	}
}

// TestAssertions checks that an assertion's result follows the judge's decision, and that the result is an error if there is no decision.
func TestAssertions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind    assert.Type
		config  string
		answer  string
		outcome assert.Outcome
		code    assert.Code
	}{
		{assert.LLMJudge, `{"prompt":"p"}`, pass, assert.Passed, ""},
		{assert.LLMJudge, `{"prompt":"p"}`, fail, assert.Failed, assert.CodeWrongEnd},
		{assert.LLMJudge, `{"prompt":"p","pass_on_true":false}`, pass, assert.Passed, ""},
		{assert.LLMJudge, `{"prompt":"p"}`, cannot, assert.Error, assert.CodeCannotJudge},
		{assert.LLMJudge, `{"prompt":"p"}`, "?", assert.Error, assert.CodeJudgeInvalidOutput},
		{assert.LLMJudge, `{"prompt":"p"}`, "!unsupported", assert.Error, assert.CodeJudgeUnavailable},
		{assert.LLMJudge, `{"prompt":"p"}`, "!too_long", assert.Error, assert.CodeCannotJudge},
		{assert.LLMJudge, `{"prompt":"p","output_type":"score"}`, scored("0.6"), assert.Failed, assert.CodeOther},
		{assert.CustomLLM, `{"system_prompt":"s","output_type":"categorical","categories":["a","b"],"pass_categories":["b"]}`, labeled("b"), assert.Passed, ""},
		{assert.ServiceTone, `{}`, toned("1", "0.6", "1"), assert.Failed, assert.CodeWrongTone},
	} {
		check, err := assert.Compile(assert.Assertion{ID: "a", Type: c.kind, Config: json.RawMessage(c.config)})
		if err != nil {
			t.Fatal(err)
		}
		if r := check.Evaluate(t.Context(), order(), judge.New(each(c.answer), judge.Config{})); r.Outcome != c.outcome || r.Code != c.code {
			t.Errorf("%s %s: got %+v", c.config, c.answer, r)
		}
	}
}

func TestTone(t *testing.T) {
	t.Parallel()
	made := strings.Replace(toned("0.7", "0.6", "0.5"), `"text":"Hello"`, `"text":"Hallo"`, 1)
	m := voting([]string{toned("0.9", "0.6", "0.5")}, []string{toned("0.4", "0.9", "0.7")}, []string{made, made})
	o := ask(t, m, criterion(assert.OutputTone), judge.Config{Symmetric: true})
	want := &assert.Tone{
		Naturalness: 0.5, Conciseness: 0.5, Empathy: 0.7, Flow: 0.5, BackChanneling: 0.5, TopicTransitions: 0.5, Overall: 0.6, Issues: []string{"It rushes."},
		Examples: []assert.ToneExample{{Category: "flow", Text: "Hello", Sentiment: "positive"}},
	}
	if o.Verdict != assert.JudgeFail || *o.Score != 0.6 || o.Code != assert.CodeWrongTone || !reflect.DeepEqual(o.Tone, want) {
		t.Errorf("got %+v, the tone is %+v", o, o.Tone)
	}
	if !strings.HasPrefix(o.Reasoning, "Fine.\nnaturalness 0.50: So.\n") || !strings.Contains(o.Reasoning, "empathy 0.90: Warm.") {
		t.Errorf("the reasoning is %q", o.Reasoning)
	}
	// The third answer quotes words that were not said. The model is asked once more, and the example is omitted.
	if o := ask(t, voting([]string{made}), criterion(assert.OutputTone), judge.Config{Samples: 1}); len(o.Tone.Examples) > 0 || len(m.Questions()) != 4 {
		t.Errorf("the examples are %+v, after %d questions", o.Tone.Examples, len(m.Questions()))
	}
}
