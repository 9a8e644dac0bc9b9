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
	// Task contains the instructions of a task that the model can perform. With these instructions, the model must produce words in any
	// conversation: see llm.Model.
	Task string
	// Ends is a scene in which the model's reply ends the call. It is nil if the model does not support this.
	Ends *Scene
	// Calls is a scene in which the model's reply calls a tool of the request. It is nil if the model does not support this.
	Calls *Scene
	// Questions lists questions that the model can answer, one for each task. Questions of TaskRoute, TaskLabel and TaskExtract need no
	// schema.
	Questions []llm.Question
	// Failing maps each class to a request that fails with it. The suite chooses the requests' messages.
	Failing map[llm.Class]Failing
}

// Scene is a request, and the model that receives it.
type Scene struct {
	New     func(t *testing.T) llm.Model // nil means ModelHarness.New
	Request llm.ReplyRequest
}

// Failing is a request that fails. If Question has a Task, the question must fail with the same class.
type Failing struct {
	New      func(t *testing.T) llm.Model // nil means ModelHarness.New
	Request  llm.ReplyRequest
	Question llm.Question
}

// Replied is the sum of all parts of a reply.
type Replied struct {
	Text   string
	Calls  []llm.ToolCall
	Action llm.Action
	Expect []string
	Usage  *llm.Usage
}

// Collect reads a reply to its end. If the reply fails, Collect returns the text and parts received before, and the error.
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

// RunModel tests an llm.Model. Each reply and each answer must end within 10 seconds, even if its context is canceled.
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
		h.answers(t, withMessages(request, "Hello.", "Good morning."))
	})
	t.Run("TakesAnyWords", func(t *testing.T) {
		for _, text := range []string{`"}]}`, "<|end|>", "\u202e{{name}}", strings.Repeat("word ", 400), "日本語"} {
			h.answers(t, withMessages(request, "Hello.", text))
		}
	})
	t.Run("LeavesTheRequestAlone", func(t *testing.T) {
		r := withMessages(request, "Hello.", "Good morning.")
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

// withMessages adds messages to a request, alternately of the agent and of the caller.
func withMessages(r llm.ReplyRequest, texts ...string) llm.ReplyRequest {
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

// answers checks that a reply contains words, no transfer, and no tool call.
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

// model returns a model from the given function, or the harness's model if the function is nil.
func (h ModelHarness) model(t *testing.T, own func(t *testing.T) llm.Model) llm.Model {
	if own == nil {
		own = h.New
	}
	return own(t)
}

// ends checks that a model ends the call of a scene if CanEnd is set, and does not otherwise.
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

// breaksOff checks that a reply ends soon after its context, either complete or with an *llm.Failure.
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

// callsTools checks that a model calls tools of the request with unique ids, and accepts their answers.
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

// fails checks that a reply ends with exactly one *llm.Failure of the given class, and that the answer to the Question, if it has a Task,
// fails with the same class. A failure must have a message, and must not contain the instructions.
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

// stopsWithItsConsumer checks that a reply stops when its consumer stops reading, and that the model serves requests afterwards.
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

// stopsWithItsContext checks that a reply with a canceled context ends soon, with an error and without words, and that the model serves
// requests afterwards.
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
