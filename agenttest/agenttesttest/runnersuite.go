package agenttesttest

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agenttest/engine"
	"github.com/callwright/callwright/agenttest/scenario"
)

// turnTime is the time limit of each turn in RunRunner.
const turnTime = 10 * time.Second

// RunRunner tests an engine.PathwayRunner with the pathway Shop. newRunner returns a runner that contains only the given versions, and no
// drafts. The agent must say the same words as in a call. Each turn must end within 10 seconds, and no test may leak a goroutine.
func RunRunner(t *testing.T, newRunner func(t *testing.T, versions ...Version) engine.PathwayRunner) {
	t.Helper()
	for _, test := range []struct {
		name string
		test func(*testing.T, engine.PathwayRunner)
	}{
		{"SaysNothingAtTheStart", saysNothing},
		{"KnowsItsVersionsOnly", knowsVersions},
		{"BeginsAtANode", beginsAtNode},
		{"SpeaksFirst", speaksFirst},
		{"TellsItsWay", tellsWay},
		{"CollectsVariables", collects},
		{"KeepsItsVariables", keepsVariables},
		{"HearsKeysAndSilence", hearsKeys},
		{"CatchesWebhooks", catches},
		{"AnswersFromMocks", mocks},
		{"CatchesToolsInOrder", catchesTools},
		{"Ends", ends},
		{"GoesRound", goesRound},
		{"FailsWithItsModel", failsWithModel},
		{"EndsWithItsContext", endsWithContext},
		{"EndsWhileAWebhookWaits", endsInDelay},
		{"DoesTheSameAgain", doesTheSame},
		{"HoldsManySessions", holdsMany},
		{"ClosesTwice", closesTwice},
		{"TellsItsGraph", tellsGraph},
	} {
		t.Run(test.name, func(t *testing.T) {
			before := goleak.IgnoreCurrent()
			t.Cleanup(func() { goleak.VerifyNone(t, before) })
			test.test(t, newRunner(t, Version{Org: "a", Pathway: "shop", Number: 2, Document: Shop()}))
		})
	}
}

// spec returns the specification of a session that runs version 2 of the shop with the model Literal.
func spec() engine.SessionSpec {
	return engine.SessionSpec{
		Org: "a", Pathway: "shop", Version: 2, Variables: map[string]any{"name": "Ada"}, Model: Literal(),
	}
}

// talk is a session under test. Its methods fail the test if the session returns an unexpected error.
type talk struct {
	testing.TB
	engine.Session
}

// begin starts a session, and closes it when the test ends.
func begin(t *testing.T, r engine.PathwayRunner, s engine.SessionSpec) talk {
	t.Helper()
	session, err := r.Start(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := session.Close(); err != nil {
			t.Error(err)
		}
	})
	return talk{t, session}
}

// open executes the first turn, in which the caller says nothing.
func (c talk) open() engine.AgentTurn {
	c.Helper()
	return c.reply(engine.CallerTurn{})
}

// say executes a turn with the caller's words.
func (c talk) say(text string) engine.AgentTurn {
	c.Helper()
	return c.reply(engine.CallerTurn{Text: text})
}

func (c talk) reply(in engine.CallerTurn) engine.AgentTurn {
	c.Helper()
	ctx, cancel := context.WithTimeout(c.Context(), turnTime)
	defer cancel()
	out, err := c.Reply(ctx, in)
	if err != nil {
		c.Fatalf("a turn with %+v: %v", in, err)
	}
	return out
}

func wantCode(t *testing.T, what string, err error, code callwright.Code, field string) {
	t.Helper()
	if e, ok := errors.AsType[*callwright.Error](err); !ok || e.Code != code || e.Field != field {
		t.Errorf("%s: error %v, want %s about %q", what, err, code, field)
	}
}

func saysNothing(t *testing.T, r engine.PathwayRunner) {
	s, model := spec(), Literal()
	s.Model, s.StartNode = model, "talk"
	c := begin(t, r, s)
	if n := len(model.Requests()) + len(model.Questions()); n != 0 {
		t.Errorf("the start asks the model %d times", n)
	}
	if c.open(); len(model.Requests()) != 1 {
		t.Errorf("the first turn asks the model for %d replies", len(model.Requests()))
	}
}

func knowsVersions(t *testing.T, r engine.PathwayRunner) {
	for name, test := range map[string]struct {
		change func(*engine.SessionSpec)
		field  string // field of the error; empty means CodeNotFound
	}{
		"an absent version":         {func(s *engine.SessionSpec) { s.Version = 1 }, ""},
		"a draft":                   {func(s *engine.SessionSpec) { s.Version = 0 }, ""},
		"an absent pathway":         {func(s *engine.SessionSpec) { s.Pathway = "x" }, ""},
		"another organization's":    {func(s *engine.SessionSpec) { s.Org = "b" }, ""},
		"another's, with its start": {func(s *engine.SessionSpec) { s.Org, s.StartNode = "b", "talk" }, ""},
		"an absent node":            {func(s *engine.SessionSpec) { s.StartNode = "x" }, "start_node_id"},
		"the name of a node":        {func(s *engine.SessionSpec) { s.StartNode = "The talk" }, "start_node_id"},
	} {
		s := spec()
		test.change(&s)
		if _, err := r.Start(t.Context(), s); test.field != "" {
			wantCode(t, name, err, callwright.CodeBadRequest, test.field)
		} else if callwright.CodeOf(err) != callwright.CodeNotFound {
			t.Errorf("%s: error %v, want %s", name, err, callwright.CodeNotFound)
		}
	}
}

func beginsAtNode(t *testing.T, r engine.PathwayRunner) {
	s := spec()
	s.StartNode = "full"
	if got := begin(t, r, s).open(); got.Text != "All is taken." || got.Node != "full" || !slices.Equal(got.Visits, []string{"full"}) {
		t.Errorf("it begins with %+v", got)
	}
}

func speaksFirst(t *testing.T, r engine.PathwayRunner) {
	got := begin(t, r, spec()).open()
	if got.Text != "Hello Ada." || got.Node != "welcome" || !slices.Equal(got.Visits, []string{"welcome"}) || got.Ended || got.Loop {
		t.Errorf("it begins with %+v", got)
	}
	if !reflect.DeepEqual(got.Variables, map[string]any{"name": "Ada"}) || len(got.Webhooks) != 0 {
		t.Errorf("it begins with %+v", got)
	}
}

func tellsWay(t *testing.T, r engine.PathwayRunner) {
	c := begin(t, r, spec())
	c.open()
	for _, turn := range []struct {
		said, text, node string
		visits           []string
	}{
		{"what is the cost", "It is thirty. Hello Ada.", "welcome", []string{"cost", "welcome"}},
		{"hm", "Hello Ada.", "welcome", nil},
		{"tones", "Tones. Talk.", "talk", []string{"tones", "talk"}},
		{"and the cost", "It is thirty. Talk.", "talk", []string{"cost", "talk"}},
	} {
		got := c.say(turn.said)
		if got.Text != turn.text || got.Node != turn.node || !slices.Equal(got.Visits, turn.visits) || got.Ended {
			t.Errorf("%q: %+v, want %+v", turn.said, got, turn)
		}
		if len(turn.visits) > 0 && !slices.ContainsFunc(got.Notes, func(n engine.Note) bool { return n.Kind == "decision" && n.Text != "" }) {
			t.Errorf("%q: the notes %+v have no decision", turn.said, got.Notes)
		}
		pressed := slices.Contains(got.Notes, engine.Note{Kind: "action", Node: "tones", Text: "presses •••"})
		if pressed != slices.Contains(turn.visits, "tones") {
			t.Errorf("%q: the notes are %+v", turn.said, got.Notes)
		}
	}
}

func collects(t *testing.T, r engine.PathwayRunner) {
	c := begin(t, r, spec())
	c.open()
	got := c.say("day=Tuesday bicycles=2")
	if want := map[string]any{"name": "Ada", "day": "Tuesday", "bicycles": int64(2)}; !reflect.DeepEqual(got.Variables, want) {
		t.Errorf("the variables are %#v, want %#v", got.Variables, want)
	}
	if !slices.ContainsFunc(got.Notes, func(n engine.Note) bool { return n.Kind == "variables" && n.Node == "welcome" }) {
		t.Errorf("the notes are %+v", got.Notes)
	}
}

// keepsVariables checks that a session copies the variables of its SessionSpec, and that it returns copies of its own variables.
func keepsVariables(t *testing.T, r engine.PathwayRunner) {
	s := spec()
	c := begin(t, r, s)
	s.Variables["name"] = "Eve"
	first := c.open()
	if first.Text != "Hello Ada." {
		t.Errorf("it begins with %+v", first)
	}
	first.Variables["name"] = "Eve"
	if got := c.say("hm"); got.Text != "Hello Ada." || got.Variables["name"] != "Ada" {
		t.Errorf("it goes on with %+v", got)
	}
}

func hearsKeys(t *testing.T, r engine.PathwayRunner) {
	s, model := spec(), Literal()
	s.Model = model
	c := begin(t, r, s)
	c.open()
	c.reply(engine.CallerTurn{Text: "12", Digits: true})
	questions := model.Questions()
	if last := questions[len(questions)-1].Messages; last[len(last)-1].Text != "(pressed 12)" {
		t.Errorf("the model sees %+v", last)
	}
	for range 2 {
		if got := c.say(" "); got.Text == "" || got.Ended || got.Node != "welcome" {
			t.Errorf("silence is answered with %+v", got)
		}
	}
	if n := len(model.Questions()); n != len(questions) {
		t.Errorf("silence asks the model %d times", n-len(questions))
	}
	if got := c.say(""); !got.Ended {
		t.Errorf("after the third silence it goes on: %+v", got)
	}
}

func ends(t *testing.T, r engine.PathwayRunner) {
	for word, action := range map[string]string{
		"bye": "ends the conversation", "person": "transfers the call to +15550100",
	} {
		c := begin(t, r, spec())
		c.open()
		got := c.say(word)
		if !got.Ended || got.Node != word {
			t.Errorf("%q: %+v", word, got)
		}
		if !slices.ContainsFunc(got.Notes, func(n engine.Note) bool {
			return n.Kind == "action" && n.Node == word && strings.HasPrefix(n.Text, action)
		}) {
			t.Errorf("%q: the notes are %+v", word, got.Notes)
		}
		_, err := c.Reply(t.Context(), engine.CallerTurn{Text: "And?"})
		wantCode(t, "a turn after "+word, err, callwright.CodeInvalidState, "")
	}
}

func goesRound(t *testing.T, r engine.PathwayRunner) {
	c := begin(t, r, spec())
	if c.open().Loop {
		t.Error("the first turn has a loop")
	}
	got := c.say("round")
	if !got.Loop || !slices.ContainsFunc(got.Notes, func(n engine.Note) bool { return n.Kind == "loop" }) {
		t.Errorf("the turn is %+v", got)
	}
}

func failsWithModel(t *testing.T, r engine.PathwayRunner) {
	s, model := spec(), Literal()
	s.Model = model
	c := begin(t, r, s)
	c.open()
	model.Answers = func(context.Context, llm.Question) (string, error) {
		return "", &llm.Failure{Class: llm.ClassPermanent, Message: "no"}
	}
	got, err := c.Reply(t.Context(), engine.CallerTurn{Text: "bye"})
	if f, ok := errors.AsType[*llm.Failure](err); !ok || f.Class != llm.ClassPermanent {
		t.Errorf("the error is %v", err)
	}
	if got.Text == "" || got.Node != "welcome" || !got.Ended {
		t.Errorf("the turn is %+v", got)
	}
}

func endsWithContext(t *testing.T, r engine.PathwayRunner) {
	s, model := spec(), Literal()
	s.Model = model
	c := begin(t, r, s)
	c.open()
	ctx, cancel := context.WithCancel(t.Context())
	model.Answers = func(ctx context.Context, _ llm.Question) (string, error) {
		cancel()
		<-ctx.Done()
		return "", &llm.Failure{Class: llm.ClassTransient, Message: "the request has ended", Cause: ctx.Err()}
	}
	c.fails(ctx, "bye")
	c.fails(ctx, "bye") // the context is done before this turn
}

func endsInDelay(t *testing.T, r engine.PathwayRunner) {
	s := spec()
	s.Webhooks = []scenario.WebhookMock{{Delay: 14 * time.Second}}
	c := begin(t, r, s)
	c.open()
	ctx, cancel := context.WithCancel(t.Context())
	defer time.AfterFunc(10*time.Millisecond, cancel).Stop()
	c.fails(ctx, "slots")
}

// fails checks that a turn ends within turnTime, with the error of its canceled context.
func (c talk) fails(ctx context.Context, text string) {
	c.Helper()
	ended := make(chan error, 1)
	go func() {
		_, err := c.Reply(ctx, engine.CallerTurn{Text: text})
		ended <- err
	}()
	select {
	case err := <-ended:
		if !errors.Is(err, context.Canceled) {
			c.Errorf("the error is %v, want that of the context", err)
		}
	case <-time.After(turnTime):
		c.Fatal("the turn does not end with its context")
	}
}

func closesTwice(t *testing.T, r engine.PathwayRunner) {
	c := begin(t, r, spec()) // begin also closes the session
	c.open()
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	_, err := c.Reply(t.Context(), engine.CallerTurn{Text: "And?"})
	wantCode(t, "a turn of a closed session", err, callwright.CodeInvalidState, "")
}
