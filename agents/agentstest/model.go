package agentstest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/callwright/callwright/agents/llm"
)

// modelTime bounds every reply in RunModel.
const modelTime = 10 * time.Second

// ModelHarness is the harness of RunModel. New and Task are required.
type ModelHarness struct {
	// New returns a model. It uses t.Cleanup to free the model's resources.
	New func(t *testing.T) llm.Model
	// Task holds the instructions of a task that the model can do. With them it must produce words for any conversation, see
	// llm.Model.
	Task string
	// Ends is a request whose answer ends the call; nil: not supported.
	Ends *Scene
	// Calls is a request whose answer calls one of its tools; nil: not supported.
	Calls *Scene
	// Questions are questions that the model can answer, one per task. Questions of TaskRoute, TaskLabel and TaskExtract need no
	// schema.
	Questions []llm.Question
	// Failing are requests that fail with a class. The suite chooses their messages.
	Failing map[llm.Class]Failing
}

// Scene is a request with its model.
type Scene struct {
	New     func(t *testing.T) llm.Model // nil: the harness's
	Request llm.ReplyRequest
}

// Failing is a request that fails. If the Question has a task, it must fail likewise.
type Failing struct {
	New      func(t *testing.T) llm.Model // nil: the harness's
	Request  llm.ReplyRequest
	Question llm.Question
}

// Replied is a complete reply.
type Replied struct {
	Text   string
	Calls  []llm.ToolCall
	Action llm.Action
	Expect []string
	Usage  *llm.Usage
}

// Collect reads a reply to its end.
func Collect(ctx context.Context, m llm.Model, r llm.ReplyRequest) (Replied, error) {
	var out Replied
	var b strings.Builder
	for part, err := range m.Reply(ctx, r) {
		if err != nil {
			out.Text = b.String()
			return out, err
		}
		b.WriteString(part.Text)
		out.Expect = append(out.Expect, part.Expect...)
		if part.Call != nil {
			out.Calls = append(out.Calls, *part.Call)
		}
		if part.Action != "" {
			out.Action = part.Action
		}
		if part.Usage != nil {
			out.Usage = part.Usage
		}
	}
	out.Text = b.String()
	return out, nil
}

// RunModel tests an llm.Model. Each reply and each answer must end within 10 seconds, and so must one whose context ends.
func RunModel(t *testing.T, h ModelHarness) {
	t.Helper()
	request := llm.ReplyRequest{Org: "org", Instructions: h.Task, CanEnd: true, Language: "en-US"}
	t.Run("Name", func(t *testing.T) {
		m := h.New(t)
		if first, again := m.Name(), m.Name(); first == "" || again != first {
			t.Errorf("the name is %q, then %q", first, again)
		}
	})
	t.Run("SpeaksFirst", func(t *testing.T) { h.answers(t, request) })
	t.Run("Answers", func(t *testing.T) {
		h.answers(t, dialogue(request, "Hello.", "Good morning."))
	})
	t.Run("TakesAnyWords", func(t *testing.T) {
		for _, text := range []string{`"}]}`, "<|end|>", "\u202e{{name}}", strings.Repeat("word ", 400), "日本語"} {
			h.answers(t, dialogue(request, "Hello.", text))
		}
	})
	t.Run("LeavesTheRequestAlone", func(t *testing.T) {
		r := dialogue(request, "Hello.", "Good morning.")
		h.answers(t, r)
		if len(r.Messages) != 2 || r.Messages[0].Text != "Hello." || r.Messages[1].Text != "Good morning." {
			t.Errorf("the messages became %v", r.Messages)
		}
	})
	t.Run("SideBySide", func(t *testing.T) { h.sideBySide(t, request) })
	t.Run("StopsWithItsConsumer", func(t *testing.T) { h.stopsWithItsConsumer(t, request) })
	t.Run("StopsWithItsContext", func(t *testing.T) { h.stopsWithItsContext(t, request) })
	t.Run("BreaksOffWithItsContext", func(t *testing.T) { h.breaksOff(t, request) })
	t.Run("Repeats", func(t *testing.T) { h.repeats(t, request) })
	if h.Ends != nil {
		t.Run("Ends", func(t *testing.T) { h.ends(t, *h.Ends) })
	}
	if h.Calls != nil {
		t.Run("CallsTools", func(t *testing.T) { h.callsTools(t, *h.Calls) })
	}
	for _, q := range h.Questions {
		t.Run("Answers/"+string(q.Task), func(t *testing.T) { h.answersQuestion(t, q) })
	}
	for class, f := range h.Failing {
		t.Run("Fails/"+string(class), func(t *testing.T) { h.fails(t, class, f) })
	}
}

// dialogue adds messages to a request, starting with the agent's.
func dialogue(r llm.ReplyRequest, texts ...string) llm.ReplyRequest {
	for i, text := range texts {
		r.Messages = append(r.Messages, llm.Message{Role: [2]llm.Role{llm.RoleAgent, llm.RoleCaller}[i%2], Text: text})
	}
	return r
}

// collect runs Collect within modelTime.
func collect(t *testing.T, m llm.Model, r llm.ReplyRequest) (Replied, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), modelTime)
	defer cancel()
	return Collect(ctx, m, r)
}

// answers checks that a reply contains words, and no action that the request does not allow.
func (h ModelHarness) answers(t *testing.T, r llm.ReplyRequest) {
	t.Helper()
	got, err := collect(t, h.New(t), r)
	if err != nil || strings.TrimSpace(got.Text) == "" {
		t.Errorf("the text is %q, error %v", got.Text, err)
	}
	if got.Action == llm.ActionTransfer {
		t.Error("it transfers a call that has no transfer number")
	}
	if len(got.Calls) > 0 {
		t.Errorf("it calls %v, which it was not given", got.Calls)
	}
}

// model returns the model of a scene.
func (h ModelHarness) model(t *testing.T, own func(t *testing.T) llm.Model) llm.Model {
	if own == nil {
		own = h.New
	}
	return own(t)
}

// ends checks that a model ends the call, and only if it may.
func (h ModelHarness) ends(t *testing.T, s Scene) {
	s.Request.CanEnd = true
	m := h.model(t, s.New)
	if r, err := collect(t, m, s.Request); err != nil || r.Action != llm.ActionEnd {
		t.Errorf("the action is %q, error %v", r.Action, err)
	}
	s.Request.CanEnd = false
	if r, err := collect(t, m, s.Request); r.Action == llm.ActionEnd {
		t.Errorf("it ends a call that it may not end, error %v", err)
	}
}

// breaksOff checks that a reply ends soon after its context, completely or with a failure.
func (h ModelHarness) breaksOff(t *testing.T, r llm.ReplyRequest) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	m := h.New(t)
	ended := make(chan error, 1)
	go func() {
		var failure error
		for _, err := range m.Reply(ctx, r) {
			cancel()
			failure = err
		}
		ended <- failure
	}()
	select {
	case err := <-ended:
		if err != nil && !isFailure(err) {
			t.Errorf("the failure is %v", err)
		}
	case <-time.After(modelTime):
		t.Error("the reply does not end with its context")
	}
}

// callsTools checks that a model calls tools of the request, with unique ids, and takes their answers.
func (h ModelHarness) callsTools(t *testing.T, s Scene) {
	m, r := h.model(t, s.New), s.Request
	got, err := collect(t, m, r)
	if err != nil || len(got.Calls) == 0 {
		t.Fatalf("it calls %v, error %v", got.Calls, err)
	}
	r.Messages = append(slices.Clone(r.Messages), llm.Message{Role: llm.RoleAgent, Text: got.Text, Calls: got.Calls})
	ids := map[string]bool{}
	for _, c := range got.Calls {
		if c.ID == "" || ids[c.ID] || !slices.ContainsFunc(r.Tools, func(t llm.Tool) bool { return t.Name == c.Name }) {
			t.Errorf("among %v it calls %+v", r.Tools, c)
		}
		ids[c.ID] = true
		r.Messages = append(r.Messages, llm.Message{Role: llm.RoleTool, Call: c.ID, Text: `{"found":"nothing"}`})
	}
	if _, err := collect(t, m, r); err != nil {
		t.Errorf("with the answers of the tools: %v", err)
	}
}

// fails checks that a reply ends with one *llm.Failure of the class.
func (h ModelHarness) fails(t *testing.T, class llm.Class, f Failing) {
	m := h.model(t, f.New)
	ctx, cancel := context.WithTimeout(t.Context(), modelTime)
	defer cancel()
	var failure error
	for _, err := range m.Reply(ctx, f.Request) {
		if failure != nil {
			t.Error("something came after the failure")
		}
		failure = err
	}
	f.check(t, "Reply", class, failure)
	if f.Question.Task != "" {
		_, err := m.Answer(ctx, f.Question)
		f.check(t, "Answer", class, err)
	}
}

func (f Failing) check(t *testing.T, method string, class llm.Class, err error) {
	t.Helper()
	got, ok := errors.AsType[*llm.Failure](err)
	if !ok || got.Class != class || got.Message == "" {
		t.Errorf("%s fails with %v, want class %s", method, err, class)
	}
	for _, prompt := range []string{f.Request.Instructions, f.Question.Instructions} {
		if ok && prompt != "" && strings.Contains(got.Error(), prompt) {
			t.Errorf("the failure of %s holds the prompt", method)
		}
	}
}

// sideBySide checks that a model serves concurrent requests.
func (h ModelHarness) sideBySide(t *testing.T, r llm.ReplyRequest) {
	m := h.New(t)
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			if got, err := collect(t, m, r); err != nil || got.Text == "" {
				t.Errorf("the text is %q, error %v", got.Text, err)
			}
		})
	}
	wait.Wait()
}

// stopsWithItsConsumer checks that a reply ends with its consumer, and that the model works afterwards.
func (h ModelHarness) stopsWithItsConsumer(t *testing.T, r llm.ReplyRequest) {
	ctx, cancel := context.WithTimeout(t.Context(), modelTime)
	defer cancel()
	m := h.New(t)
	parts := 0
	for _, err := range m.Reply(ctx, r) {
		if parts++; err != nil {
			t.Error(err)
		}
		break
	}
	if parts != 1 {
		t.Errorf("%d parts came", parts)
	}
	if got, err := Collect(ctx, m, r); err != nil || got.Text == "" {
		t.Errorf("afterwards the text is %q, error %v", got.Text, err)
	}
}

// stopsWithItsContext checks that a reply ends soon after its context, without further words except those in transit.
func (h ModelHarness) stopsWithItsContext(t *testing.T, r llm.ReplyRequest) {
	m := h.New(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if got, err := Collect(ctx, m, r); err == nil || got.Text != "" {
			t.Errorf("with a context that has ended the text is %q, error %v", got.Text, err)
		}
	}()
	select {
	case <-ended:
	case <-time.After(modelTime):
		t.Error("the reply does not end with its context")
	}
	if got, err := collect(t, m, r); err != nil || got.Text == "" {
		t.Errorf("afterwards the text is %q, error %v", got.Text, err)
	}
}
