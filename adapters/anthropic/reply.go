package anthropic

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"iter"
	"maps"
	"slices"

	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/internal/engine/chat"
)

// event is the data of an event, or a message that is not streamed. It contains only the members that this package uses.
type event struct {
	Type    chat.Word       `json:"type"`
	Error   json.RawMessage `json:"error"`
	Index   int64           `json:"index"`
	Message answer          `json:"message"`
	Block   block           `json:"content_block"`
	Delta   struct {
		block

		PartialJSON string    `json:"partial_json"`
		StopReason  chat.Word `json:"stop_reason"`
	} `json:"delta"`
	answer
}

// answer is a message of the model.
type answer struct {
	Model      string    `json:"model"`
	Content    []block   `json:"content"`
	StopReason chat.Word `json:"stop_reason"`
	Usage      usage     `json:"usage"`
}

// block is a block of a message's content, or a piece of one.
type block struct {
	thought

	Text  string          `json:"text"`
	ID    string          `json:"id"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
}

// thought is a block of thoughts. They are not spoken, but the service may need them again: see extra.
type thought struct {
	Type      string `json:"type"`
	Thinking  string `json:"thinking,omitempty"`
	Signature string `json:"signature,omitempty"`
	Data      string `json:"data,omitempty"`
}

// MarshalJSON writes the members that the type of the block requires, even if they are empty.
func (t thought) MarshalJSON() ([]byte, error) {
	if t.Type == redacted {
		return json.Marshal(map[string]string{"type": t.Type, "data": t.Data})
	}
	return json.Marshal(map[string]string{"type": t.Type, "thinking": t.Thinking, "signature": t.Signature})
}

const redacted = "redacted_thinking"

type usage struct {
	Input   int `json:"input_tokens"`
	Written int `json:"cache_creation_input_tokens"` // written to the cache, not part of Input
	Cached  int `json:"cache_read_input_tokens"`     // read from the cache, not part of Input
	Output  int `json:"output_tokens"`
}

// counted returns the token counts.
func (u usage) counted() llm.Usage {
	return llm.Usage{
		Input:  chat.Tokens(chat.Tokens(u.Input) + chat.Tokens(u.Written) + chat.Tokens(u.Cached)),
		Output: chat.Tokens(u.Output), Cached: chat.Tokens(u.Cached),
	}
}

// Reply streams a reply: the text, then the complete tool calls, then the action and the usage. Thoughts of the model are no part of the
// text. Reply ignores calls of tools that r does not offer, and actions that r does not permit, but a reply without anything else is a
// failure.
func (c *Client) Reply(ctx context.Context, r llm.ReplyRequest) iter.Seq2[llm.ReplyPart, error] {
	return func(yield func(llm.ReplyPart, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		var reply chat.Reply
		reply.Stream(c.pieces(ctx, &reply, r), r, yield)
	}
}

// pieces streams the text of an answer, and adds its tool calls and usage to a reply. An answer is complete with its stop reason, whatever
// follows.
func (c *Client) pieces(ctx context.Context, reply *chat.Reply, r llm.ReplyRequest) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		response, err := c.post(ctx, c.replyRequest(r, rand.Text()))
		if err != nil {
			yield("", err)
			return
		}
		defer func() { _ = response.Body.Close() }()
		s := stream{reply: reply, thoughts: map[int64]*thought{}}
		for e, err := range chat.Pieces(response.Body) {
			var words string
			if err == nil {
				words, err = s.add(e)
			}
			switch {
			case s.finished && err != nil:
				return
			case !yield(words, err) || err != nil || s.ended:
				return
			}
		}
		if !s.finished {
			yield("", chat.ErrCutOff)
		}
	}
}

// stream is the state of a streamed answer.
type stream struct {
	reply    *chat.Reply
	usage    usage
	thoughts map[int64]*thought // by the index of their block
	carried  bool               // whether a tool call carries the thoughts
	finished bool               // whether the stop reason has come
	ended    bool               // whether the last event has come
}

// add adds an event, and returns its text. Unknown events, blocks and deltas may contain anything.
func (s *stream) add(raw chat.Event) (words string, err error) {
	var e event
	err = json.Unmarshal(raw.Data, &e)
	switch {
	case raw.Name == "error" || e.Type == "error" || chat.Present(e.Error) || err == nil && e.Type == "" && chat.IsError(raw.Data):
		return "", chat.NewServiceError(raw.Data)
	case err != nil && (e.Type != "" || raw.Name == "" || raw.Name == "message"):
		return "", err
	}
	switch e.Type {
	case "message": // not streamed
		for i, b := range e.Content {
			words += s.start(int64(i), b)
		}
		s.stop(e.StopReason, e.Usage)
		s.finished, s.ended = true, true
	case "message_start":
		s.count(e.Message.Usage)
	case "content_block_start":
		words = s.start(e.Index, e.Block)
	case "content_block_delta":
		words = s.piece(e)
	case "message_delta":
		s.stop(e.Delta.StopReason, e.Usage)
	case "message_stop":
		s.finished, s.ended = true, true
	}
	return words, nil
}

// start begins a block, which some proxies send whole, and returns its text.
func (s *stream) start(index int64, b block) string {
	switch b.Type {
	case "text":
		return b.Text
	case "thinking", redacted:
		s.thoughts[index] = new(b.thought)
	case "tool_use":
		p := chat.Piece{Index: index, ID: b.ID, Name: b.Name, Extra: s.extra()}
		if input := string(b.Input); chat.Present(b.Input) && input != "{}" {
			p.Arguments = input
		}
		s.reply.AddCall(p)
	}
	return ""
}

// extra returns the data that the first tool call carries: the thoughts before it. It returns nil if there are none.
func (s *stream) extra() json.RawMessage {
	if s.carried || len(s.thoughts) == 0 {
		return nil
	}
	s.carried = true
	var e extra
	for _, index := range slices.Sorted(maps.Keys(s.thoughts)) {
		e.Anthropic.Thinking = append(e.Anthropic.Thinking, *s.thoughts[index])
	}
	raw, err := json.Marshal(e)
	if err != nil {
		return nil
	}
	return raw
}

// piece adds a piece of a block, and returns its text.
func (s *stream) piece(e event) string {
	switch e.Delta.Type {
	case "text_delta":
		return e.Delta.Text
	case "thinking_delta", "signature_delta":
		t := s.thoughts[e.Index]
		if t == nil {
			t = &thought{Type: "thinking"}
			s.thoughts[e.Index] = t
		}
		t.Thinking += e.Delta.Thinking
		t.Signature += e.Delta.Signature
	case "input_json_delta":
		s.reply.Continue(e.Index, e.Delta.PartialJSON)
	}
	return ""
}

// stop adds the end of an answer.
func (s *stream) stop(reason chat.Word, u usage) {
	s.count(u)
	switch reason {
	case "":
		return
	case "refusal":
		s.reply.Withheld = true
	case "model_context_window_exceeded":
		s.reply.Nothing = chat.ErrTooLong
	}
	s.finished = true
}

// count adds the counts of tokens that a part of the answer contains. A later count replaces an earlier one.
func (s *stream) count(u usage) {
	for _, c := range []struct{ to, from *int }{
		{&s.usage.Input, &u.Input}, {&s.usage.Written, &u.Written}, {&s.usage.Cached, &u.Cached}, {&s.usage.Output, &u.Output},
	} {
		if *c.from > 0 {
			*c.to = *c.from
		}
	}
	if counted := s.usage.counted(); counted != (llm.Usage{}) {
		s.reply.Usage = &counted
	}
}
