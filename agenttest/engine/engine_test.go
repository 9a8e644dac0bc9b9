package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agenttest/assert"
	"github.com/callwright/callwright/agenttest/engine"
	"github.com/callwright/callwright/agenttest/scenario"
)

func TestNewNeedsARunner(t *testing.T) {
	t.Parallel()
	if _, err := engine.New(engine.Config{}); err == nil || !strings.Contains(err.Error(), "Config.Runner") {
		t.Error(err)
	}
}

func TestRun(t *testing.T) {
	t.Parallel()
	s := played(judged("a", "be kind"), reached("b", "2"))
	s.RequestData, s.Assertions[0].Order = map[string]any{"a": 1, "b": 2}, 3
	s.StartNode, s.Webhooks = "n", []scenario.WebhookMock{{URL: "x"}}
	var spec engine.SessionSpec
	e := newEngine(t, engine.Config{Judge: newJudge, Model: model(3), Runner: agent{start: func(s engine.SessionSpec) error {
		spec = s
		return nil
	}}})
	o, err := e.Run(t.Context(), engine.Case{Run: "r", Scenario: s, Version: 4, Trial: 2, Variables: map[string]any{"b": 3, "c": 4}})
	if err != nil || o.Verdict != engine.Passed || o.Error != "" {
		t.Fatalf("%s %q, error %v", o.Verdict, o.Error, err)
	}
	if fmt.Sprint(spec.Variables) != "map[a:1 b:3 c:4]" || spec.Version != 4 || spec.Trial != 2 || spec.Org != "org" ||
		spec.Pathway != "p" || spec.StartNode != "n" || len(spec.Webhooks) != 1 {
		t.Errorf("the session is about %+v", spec)
	}
	ev := o.Evidence
	var said []string
	for _, turn := range ev.Turns {
		said = append(said, fmt.Sprint(turn.Role, "@", turn.Node, ": ", turn.Text))
	}
	want := "agent@1: Agent line 0|caller@1: Caller line 1|agent@2: Agent line 2|caller@2: Caller line 3|agent@3: Goodbye."
	if got := strings.Join(said, "|"); got != want {
		t.Errorf("the transcript is %s", got)
	}
	if fmt.Sprint(ev.Visits) != "[{1 -1} {2 1} {3 3}]" || fmt.Sprint(ev.Variables) != "map[turns:3]" || ev.End != assert.EndByAgent ||
		ev.Graph["1"].Name != "node" || ev.Org != "org" || ev.Run != "r" {
		t.Errorf("the evidence is %+v", ev)
	}
	if len(o.Results) != 2 || o.Results[0].Assertion != "b" || o.Results[1].Assertion != "a" {
		t.Errorf("the results are %+v", o.Results)
	}
	if u := o.Usage; u.Caller.Input != 20 || u.Agent.Input != 30 || u.Judge.Input != 20 {
		t.Errorf("the usage is %+v", u)
	}
	if o.Models != (engine.Models{Caller: "fake", Agent: "fake", Judge: "fake"}) {
		t.Errorf("the models are %+v", o.Models)
	}
	if len(o.Turns) != 3 || o.Turns[1].Index != 2 || o.Turns[1].Node != "2" || o.Turns[1].Usage.Caller.Input != 10 || o.Turns[2].Usage.Agent.Input != 10 {
		t.Errorf("the turns are %+v", o.Turns)
	}
	if s.RequestData["b"] != 2 {
		t.Error("the scenario was changed")
	}
}

// says returns a runner whose agent says these words, one text per turn, and then repeats the last text. The suffix "<end>" ends the
// conversation.
func says(words ...string) agent {
	return agent{reply: func(_ context.Context, turn int, _ engine.CallerTurn) (engine.AgentTurn, error) {
		text, ended := strings.CutSuffix(words[min(turn, len(words))-1], "<end>")
		return engine.AgentTurn{Text: text, Ended: ended}, nil
	}}
}

// fails returns a runner whose agent fails in turn 2 with err.
func fails(err error) agent {
	return agent{reply: func(_ context.Context, turn int, _ engine.CallerTurn) (engine.AgentTurn, error) {
		if turn == 2 {
			return engine.AgentTurn{Text: "Half a", Visits: []string{"broken"}, Node: "broken"}, err
		}
		return engine.AgentTurn{Text: "Hello."}, nil
	}}
}

func TestEnds(t *testing.T) {
	t.Parallel()
	five := scripted("a", "b", "c", "d", "e", "f")
	bye := played()
	byeModel := &agentstest.Model{Says: func(context.Context, llm.ReplyRequest) ([]llm.ReplyPart, error) {
		return append(agentstest.Texts("It is 5, bye."), llm.ReplyPart{Action: llm.ActionEnd}), nil
	}}
	off := &agentstest.Model{Says: func(context.Context, llm.ReplyRequest) ([]llm.ReplyPart, error) {
		return agentstest.Texts("How can I help you?"), nil
	}}
	for name, tt := range map[string]struct {
		runner  agent
		s       scenario.Scenario
		model   llm.Model
		end     assert.EndReason
		verdict engine.Verdict
		turns   int
		problem string
	}{
		"agent":           {says("a", "b<end>"), five, nil, assert.EndByAgent, engine.Passed, 3, ""},
		"silent agent":    {says("", "b<end>"), five, nil, assert.EndByAgent, engine.Passed, 2, ""},
		"caller":          {says("a"), scripted("b"), nil, assert.EndByCaller, engine.Passed, 3, ""},
		"caller's words":  {says("a"), bye, byeModel, assert.EndByCaller, engine.Passed, 3, ""},
		"max turns":       {says("a"), five, nil, assert.EndMaxTurns, engine.Passed, 11, ""},
		"loop":            {says("a"), scripted("b", "b", "b", "b"), nil, assert.EndLoop, engine.Passed, 7, ""},
		"agent's loop":    {agent{reply: loops}, five, nil, assert.EndLoop, engine.Passed, 1, ""},
		"failing agent":   {fails(&llm.Failure{Class: llm.ClassPermanent, Message: "key"}), five, nil, assert.EndAgentError, engine.Error, 3, "the agent failed: llm: permanent: key"},
		"no start":        {agent{start: refuse(errors.New("no graph"))}, five, nil, assert.EndAgentError, engine.Error, 0, "the conversation cannot begin: internal error"},
		"no version":      {agent{start: refuse(callwright.NotFound("version"))}, five, nil, assert.EndAgentError, engine.Error, 0, "the conversation cannot begin: version not found"},
		"bad start node":  {agent{start: refuse(callwright.Invalid("start_node_id", "no"))}, five, nil, assert.EndAgentError, engine.Error, 0, "start_node_id must be the id of a node of the tested version"},
		"no model":        {agent{}, five, nil, assert.EndAgentError, engine.Error, 0, "no language model is configured"},
		"caller's model":  {says("a"), played(), nil, assert.EndCallerInvalid, engine.Error, 1, "the simulated caller failed"},
		"off script":      {says("a"), played(), off, assert.EndCallerInvalid, engine.Error, 1, "How can I help you?"},
		"silent caller":   {says("a"), scripted("", "b"), nil, assert.EndCallerInvalid, engine.Error, 1, "said nothing"},
		"caller too long": {says("a"), scripted(strings.Repeat("x", engine.MaxMessage+1)), nil, assert.EndCallerInvalid, engine.Error, 1, "16 KB"},
	} {
		o, err := newEngine(t, engine.Config{Runner: tt.runner, Model: tt.model}).Run(t.Context(), engine.Case{Run: "r", Scenario: tt.s})
		if err != nil || o.Evidence.End != tt.end || o.Verdict != tt.verdict || len(o.Evidence.Turns) != tt.turns {
			t.Errorf("%s: %s %s after %v, error %v", name, o.Evidence.End, o.Verdict, o.Evidence.Turns, err)
		}
		if !strings.Contains(o.Error, tt.problem) || (o.Error == "") != (tt.problem == "") {
			t.Errorf("%s: the problem is %q", name, o.Error)
		}
	}
}

func loops(context.Context, int, engine.CallerTurn) (engine.AgentTurn, error) {
	return engine.AgentTurn{Text: "again", Loop: true}, nil
}

func refuse(err error) func(engine.SessionSpec) error {
	return func(engine.SessionSpec) error { return err }
}

func TestVerdicts(t *testing.T) {
	t.Parallel()
	optional := judged("a", "x")
	optional.Required = false
	for name, tt := range map[string]struct {
		assertions []assert.Assertion
		judge      func(llm.Model) assert.Judge
		runner     agent
		want       engine.Verdict
		problem    string
	}{
		"passed":               {[]assert.Assertion{judged("a", "x"), reached("b", "1")}, newJudge, agent{}, engine.Passed, ""},
		"failed":               {[]assert.Assertion{judged("a", "fail")}, newJudge, agent{}, engine.Failed, ""},
		"failed and an error":  {[]assert.Assertion{judged("a", "fail"), judged("b", "broken")}, newJudge, agent{}, engine.Failed, ""},
		"no judge":             {[]assert.Assertion{judged("a", "x")}, nil, agent{}, engine.Error, "the assertion a cannot be evaluated"},
		"broken judge":         {[]assert.Assertion{judged("a", "broken")}, newJudge, agent{}, engine.Error, "the assertion a cannot be evaluated"},
		"bad assertion":        {[]assert.Assertion{{ID: "a", Type: "X", Required: true}}, newJudge, agent{}, engine.Error, "the assertion a"},
		"infrastructure":       {[]assert.Assertion{reached("b", "1")}, newJudge, fails(errors.New("x")), engine.Error, "the agent failed"},
		"no assertions at all": {nil, newJudge, agent{}, engine.Passed, ""},
	} {
		m := model(3)
		fine := m.Answers
		m.Answers = func(ctx context.Context, q llm.Question) (string, error) {
			if strings.Contains(q.Instructions, "broken") {
				return "no JSON", nil
			}
			return fine(ctx, q)
		}
		o, err := newEngine(t, engine.Config{Runner: tt.runner, Model: m, Judge: tt.judge}).
			Run(t.Context(), engine.Case{Run: "r", Scenario: played(tt.assertions...)})
		if err != nil || o.Verdict != tt.want || !strings.Contains(o.Error, tt.problem) || (o.Error == "") != (tt.problem == "") {
			t.Errorf("%s: %s %q, error %v", name, o.Verdict, o.Error, err)
		}
		if name == "infrastructure" && len(o.Results) > 0 {
			t.Error("assertions are evaluated after a failure")
		}
	}
}

func TestTone(t *testing.T) {
	t.Parallel()
	s := played()
	s.ScoreTone = true
	o, err := newEngine(t, engine.Config{Runner: agent{}, Model: model(2), Judge: newJudge}).Run(t.Context(), engine.Case{Run: "r", Scenario: s})
	if err != nil || o.Tone == nil || o.Tone.Overall != 0.5 || o.Tone.WordsPerTurn == 0 {
		t.Errorf("the tone is %+v, error %v", o.Tone, err)
	}
	undecided := func(llm.Model) assert.Judge {
		return asking(func(assert.Criterion) assert.Opinion {
			return assert.Opinion{Verdict: assert.CannotJudge, Reasoning: "It is too long."}
		})
	}
	o, err = newEngine(t, engine.Config{Runner: agent{}, Model: model(2), Judge: undecided}).Run(t.Context(), engine.Case{Run: "r", Scenario: s})
	if err != nil || o.Tone != nil || !strings.Contains(fmt.Sprint(o.Warnings), "too long") {
		t.Errorf("without an opinion: %+v, error %v", o, err)
	}
	o, err = newEngine(t, engine.Config{Runner: agent{}, Model: model(2)}).Run(t.Context(), engine.Case{Run: "r", Scenario: s})
	if err != nil || o.Tone != nil || o.Verdict != engine.Passed || !strings.Contains(fmt.Sprint(o.Warnings), "tone") {
		t.Errorf("without a judge: %+v, error %v", o, err)
	}
}

// TestPromotionsAreJudgedSymmetrically checks that a judge takes symmetric votes only for scenarios that are required for promotion.
func TestPromotionsAreJudgedSymmetrically(t *testing.T) {
	t.Parallel()
	for _, required := range []bool{false, true} {
		s := played(judged("a", "x"), judged("b", "y"))
		s.Required, s.ScoreTone = required, true
		var asked atomic.Int32
		newJudge := func(llm.Model) assert.Judge {
			return asking(func(c assert.Criterion) assert.Opinion {
				if c.Symmetric {
					asked.Add(1)
				}
				return assert.Opinion{Verdict: assert.JudgePass}
			})
		}
		o, err := newEngine(t, engine.Config{Runner: agent{}, Model: model(2), Judge: newJudge}).Run(t.Context(), engine.Case{Run: "r", Scenario: s})
		if err != nil || o.Verdict != engine.Passed || asked.Load() != map[bool]int32{true: 2}[required] {
			t.Errorf("required %t: %d criteria are judged symmetrically: %+v, error %v", required, asked.Load(), o, err)
		}
	}
}

func TestCheckCaller(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]engine.Verdict{
		`{"reasoning":"It offered help.","verdict":"off_script"}`: engine.Error,
		`{"reasoning":"Fine.","verdict":"in_persona"}`:            engine.Passed,
		`no JSON`: engine.Passed,
	} {
		m := model(3)
		m.Answers = func(context.Context, llm.Question) (string, error) { return answer, nil }
		o, err := newEngine(t, engine.Config{Runner: agent{}, Model: m, CheckCaller: true}).
			Run(t.Context(), engine.Case{Run: "r", Scenario: played()})
		if err != nil || o.Verdict != want || (want == engine.Error) != (o.Evidence.End == assert.EndCallerInvalid) {
			t.Errorf("%s: %s %s, error %v", answer, o.Verdict, o.Evidence.End, err)
		}
		if (answer == "no JSON") != strings.Contains(fmt.Sprint(o.Warnings), "persona") {
			t.Errorf("%s: the warnings are %q", answer, o.Warnings)
		}
	}
	m := model(3)
	o, err := newEngine(t, engine.Config{Runner: agent{}, Model: m, CheckCaller: true}).
		Run(t.Context(), engine.Case{Run: "r", Scenario: scripted("a", "b", "c")})
	if err != nil || o.Verdict != engine.Passed || len(m.Questions()) > 0 || o.Models != (engine.Models{Agent: "fake"}) {
		t.Errorf("a scripted caller is checked: %s, models %+v, error %v", o.Verdict, o.Models, err)
	}
}

func TestTimeouts(t *testing.T) {
	t.Parallel()
	slow := func(after int, took time.Duration) agent {
		return agent{reply: func(ctx context.Context, turn int, _ engine.CallerTurn) (engine.AgentTurn, error) {
			if turn >= after {
				select {
				case <-ctx.Done():
					return engine.AgentTurn{Visits: []string{"slow"}}, ctx.Err()
				case <-time.After(took):
				}
			}
			return engine.AgentTurn{Text: "a"}, nil
		}}
	}
	for name, tt := range map[string]struct {
		runner agent
		end    assert.EndReason
		took   time.Duration
	}{
		"turn": {slow(2, time.Hour), assert.EndTurnTimeout, 20 * time.Second},
		"run":  {slow(1, 15*time.Second), assert.EndRunTimeout, time.Minute},
	} {
		synctest.Test(t, func(t *testing.T) {
			e := newEngine(t, engine.Config{Runner: tt.runner, TurnTime: 20 * time.Second, RunTime: time.Minute})
			o, err := e.Run(t.Context(), engine.Case{Run: "r", Scenario: scripted("1", "2", "3", "4", "5")})
			if err != nil || o.Evidence.End != tt.end || o.Verdict != engine.Error || o.Took != tt.took || o.Error == "" {
				t.Errorf("%s: %s %s %q after %s, error %v", name, o.Verdict, o.Evidence.End, o.Error, o.Took, err)
			}
			if last := o.Turns[len(o.Turns)-1]; name == "turn" && (last.Took != 20*time.Second || len(o.Evidence.Visits) != 1) {
				t.Errorf("the last turn is %+v", last)
			}
		})
	}
}

// TestCancel checks that a run that is canceled in the agent's turn, in the caller's turn or in its evaluation ends immediately, with its
// transcript.
func TestCancel(t *testing.T) {
	t.Parallel()
	for name, task := range map[string]llm.Task{"agent": "", "caller": llm.TaskCaller, "judge": llm.TaskJudge} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			var asked atomic.Bool
			m := model(3)
			fine, answers := m.Says, m.Answers
			block := func(ctx context.Context) error {
				asked.Store(true)
				<-ctx.Done()
				return ctx.Err()
			}
			m.Says = func(ctx context.Context, r llm.ReplyRequest) ([]llm.ReplyPart, error) {
				if len(r.Messages) > 1 && r.Task == task {
					return nil, block(ctx)
				}
				return fine(ctx, r)
			}
			m.Answers = func(ctx context.Context, q llm.Question) (string, error) {
				if q.Task == task {
					return "", block(ctx)
				}
				return answers(ctx, q)
			}
			go func() {
				time.Sleep(time.Second)
				cancel()
			}()
			e := newEngine(t, engine.Config{Runner: agent{}, Model: m, Judge: newJudge})
			o, err := e.Run(ctx, engine.Case{Run: "r", Scenario: played(judged("a", "x"), judged("b", "y")), Journal: &engine.MemoryJournal{}})
			if err != nil || o.Verdict != engine.Cancelled || o.Took != time.Second || !asked.Load() {
				t.Errorf("%s: %s after %s, error %v", name, o.Verdict, o.Took, err)
			}
			if len(o.Evidence.Turns) < 2 || len(o.Results) > 0 || o.Error != "" {
				t.Errorf("%s: the outcome is %+v", name, o)
			}
		})
	}
}

func TestCancelBeforeTheStart(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	m := model(3)
	for _, j := range []engine.Journal{nil, &engine.MemoryJournal{}} {
		o, err := newEngine(t, engine.Config{Runner: agent{}, Model: m}).Run(ctx, engine.Case{Run: "r", Scenario: played(), Journal: j})
		if err != nil || o.Verdict != engine.Cancelled || o.Evidence.End != assert.EndCancelled || len(m.Requests()) > 0 {
			t.Errorf("%s %s, error %v", o.Verdict, o.Evidence.End, err)
		}
	}
}

func TestBudgetOfARun(t *testing.T) {
	t.Parallel()
	m := model(5)
	m.Usage = llm.Usage{Input: 300, Output: 20}
	shared := engine.NewBudget(engine.Limit{Tokens: 10_000}, nil)
	o, err := newEngine(t, engine.Config{Runner: agent{}, Model: m, Limit: engine.Limit{Tokens: 2500}}).
		Run(t.Context(), engine.Case{Run: "r", Scenario: played(judged("a", "x")), Budget: shared})
	if err != nil || o.Verdict != engine.Error || o.Evidence.End != assert.EndBudget || len(o.Results) > 0 || o.Quota {
		t.Fatalf("%s %s %q, error %v", o.Verdict, o.Evidence.End, o.Error, err)
	}
	if used := o.Usage.Sum(); used.Input+used.Output > 2500 || shared.Used().Tokens != used.Input+used.Output || shared.Used().Tokens < 1200 || shared.Used() != o.Spend {
		t.Errorf("the usage is %+v, of the shared budget %+v", used, shared.Used())
	}
}

func TestAgentsTurnIsBounded(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ä", engine.MaxMessage)
	runner := agent{reply: func(context.Context, int, engine.CallerTurn) (engine.AgentTurn, error) {
		return engine.AgentTurn{
			Text: long, Visits: make([]string, 6000), Webhooks: make([]assert.Webhook, 700), Notes: make([]engine.Note, 700), Ended: false,
		}, nil
	}}
	o, err := newEngine(t, engine.Config{Runner: runner}).Run(t.Context(), engine.Case{Run: "r", Scenario: scripted("a", "b", "c")})
	if err != nil || len(o.Evidence.Visits) != engine.MaxVisits || len(o.Evidence.Webhooks) != engine.MaxWebhooks || o.Evidence.End != assert.EndLoop {
		t.Fatalf("%d visits, %d webhooks, %s, error %v", len(o.Evidence.Visits), len(o.Evidence.Webhooks), o.Evidence.End, err)
	}
	if text := o.Evidence.Turns[0].Text; len(text) != engine.MaxMessage || !strings.HasPrefix(long, text) {
		t.Errorf("the turn has %d bytes", len(text))
	}
	if notes := o.Turns[0].Notes; len(notes) != 701 || notes[700].Kind != "error" {
		t.Errorf("there are %d notes", len(notes))
	}
}

func TestWebhooksGetTheirPlace(t *testing.T) {
	t.Parallel()
	runner := agent{reply: func(_ context.Context, turn int, _ engine.CallerTurn) (engine.AgentTurn, error) {
		return engine.AgentTurn{
			Text: "a", Visits: []string{"x", "y"}, Webhooks: []assert.Webhook{{Node: "y", Visit: 1}}, Ended: turn == 2,
		}, nil
	}}
	o, err := newEngine(t, engine.Config{Runner: runner}).Run(t.Context(), engine.Case{Run: "r", Scenario: scripted("b")})
	if err != nil || len(o.Evidence.Webhooks) != 2 {
		t.Fatal(o.Evidence.Webhooks, err)
	}
	if w := o.Evidence.Webhooks; w[0].Turn != -1 || w[0].Visit != 1 || w[1].Turn != 1 || w[1].Visit != 3 {
		t.Errorf("the webhooks are %+v", w)
	}
}

func TestRunRefuses(t *testing.T) {
	t.Parallel()
	many := scripted("a")
	many.Assertions = make([]assert.Assertion, assert.MaxAssertions+1)
	long, wrong := scripted("a"), scripted("a")
	long.MaxTurns, wrong.Kind = scenario.MaxTurns+1, "X"
	for field, c := range map[string]engine.Case{
		"run": {Scenario: scripted("a")}, "max_turns": {Run: "r", Scenario: long}, "assertions": {Run: "r", Scenario: many},
		"scenario_type": {Run: "r", Scenario: wrong},
	} {
		_, err := newEngine(t, engine.Config{Runner: says("a")}).Run(t.Context(), c)
		if e, ok := errors.AsType[*callwright.Error](err); !ok || e.Field != field || e.Code != callwright.CodeBadRequest {
			t.Errorf("%s: %v", field, err)
		}
	}
}
