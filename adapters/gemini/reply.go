package gemini

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"iter"
	"slices"
	"strings"

	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/internal/engine/chat"
)

// answer is an answer of the model, or a piece of it. It contains only the members that this package uses.
type answer struct {
	Candidates []candidate     `json:"candidates"`
	Feedback   feedback        `json:"promptFeedback"`
	Usage      usage           `json:"usageMetadata"`
	Model      string          `json:"modelVersion"`
	Error      json.RawMessage `json:"error"`
}

type candidate struct {
	Content struct {
		Parts []answerPart `json:"parts"`
	} `json:"content"`
	FinishReason chat.Word `json:"finishReason"`
	Continuation string    `json:"continuationToken"`
}

// next returns the token with which another request continues an answer, or "" if the answer needs none.
func (c candidate) next() string {
	if c.FinishReason != "CONTINUATION" {
		return ""
	}
	return c.Continuation
}

type answerPart struct {
	Text      string        `json:"text"`
	Thought   bool          `json:"thought"`
	Call      *functionCall `json:"functionCall"`
	Signature string        `json:"thoughtSignature"`
}

type feedback struct {
	BlockReason chat.Word `json:"blockReason"`
}

type usage struct {
	Prompt     int `json:"promptTokenCount"`
	Candidates int `json:"candidatesTokenCount"`
	Thoughts   int `json:"thoughtsTokenCount"`
	Cached     int `json:"cachedContentTokenCount"` // part of Prompt
}

// counted returns the token counts.
func (u usage) counted() llm.Usage {
	return llm.Usage{
		Input: chat.Tokens(u.Prompt), Output: chat.Tokens(chat.Tokens(u.Candidates) + chat.Tokens(u.Thoughts)), Cached: chat.Tokens(u.Cached),
	}
}

// withheld lists the finish reasons of answers that the service does not show, or not whole.
var withheld = []chat.Word{
	"SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION",
}

// broken lists the finish reasons of answers with tool calls that cannot be read.
var broken = []chat.Word{"MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS", "MALFORMED_RESPONSE", noSignature}

// noSignature is the finish reason of an answer to a history whose tool calls have no signatures.
const noSignature = "MISSING_THOUGHT_SIGNATURE"

// parse parses an answer or a piece of it. It returns a *chat.ServiceError if the service reports an error.
func parse(raw []byte) (answer, error) {
	var a answer
	err := json.Unmarshal(raw, &a)
	if chat.Present(a.Error) || err == nil && len(a.Candidates) == 0 && chat.IsError(raw) {
		return answer{}, chat.NewServiceError(raw)
	}
	return a, err
}

// Reply streams a reply: the text, then the tool calls, then the action and the usage. Thoughts of the model are no part of the text. Reply
// ignores calls of tools that r does not offer, and actions that r does not permit, but a reply without anything else is a failure.
func (c *Client) Reply(ctx context.Context, r llm.ReplyRequest) iter.Seq2[llm.ReplyPart, error] {
	return func(yield func(llm.ReplyPart, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		var reply chat.Reply
		reply.Stream(c.pieces(ctx, &reply, r), r, yield)
	}
}

// mostRequests bounds the requests for an answer that the service sends in parts.
const mostRequests = 8

// pieces streams the text of an answer, and adds its tool calls and usage to a reply. An answer is complete with its finish reason, whatever
// follows, unless that demands another request.
func (c *Client) pieces(ctx context.Context, reply *chat.Reply, r llm.ReplyRequest) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		body, s := c.replyRequest(r, rand.Text()), stream{client: c, reply: reply}
		for range mostRequests {
			if !s.read(ctx, body, yield) || s.next == "" {
				return
			}
			body.Continue, s.next, s.finished = s.next, "", false
		}
	}
}

// stream is the state of a streamed answer.
type stream struct {
	client   *Client
	reply    *chat.Reply
	calls    int64  // number of calls so far
	finished bool   // whether the finish reason has come
	next     string // token for the request that continues the answer
}

// read sends a request and yields the text of its answer. It reports whether the answer is complete.
func (s *stream) read(ctx context.Context, body request, yield func(string, error) bool) bool {
	response, err := s.client.post(ctx, streaming, body)
	if err != nil {
		yield("", err)
		return false
	}
	defer func() { _ = response.Body.Close() }()
	for e, err := range chat.Pieces(response.Body) {
		var words string
		if err == nil {
			words, err = s.add(e)
		}
		switch {
		case s.finished && err != nil:
			return true
		case !yield(words, err) || err != nil:
			return false
		case s.finished && s.reply.Usage != nil:
			return true
		}
	}
	if !s.finished {
		yield("", chat.ErrCutOff)
	}
	return s.finished
}

// add adds an event, and returns its text. Events with other names than "message" and "error" may contain anything.
func (s *stream) add(e chat.Event) (string, error) {
	a, err := parse(e.Data)
	switch {
	case e.Name == "error":
		return "", chat.NewServiceError(e.Data)
	case err != nil && e.Name != "" && e.Name != "message":
		return "", nil //nolint:nilerr // a foreign event
	case err != nil:
		return "", err
	}
	if u := a.Usage.counted(); u.Output > 0 || s.finished && u.Input > 0 {
		s.reply.Usage = &u
	}
	if a.Feedback.BlockReason != "" {
		s.reply.Withheld, s.finished = true, true
	}
	if len(a.Candidates) == 0 {
		return "", nil
	}
	var words strings.Builder
	for _, p := range a.Candidates[0].Content.Parts {
		if !p.Thought {
			words.WriteString(p.Text)
		}
		if p.Call != nil {
			s.call(p)
		}
	}
	s.next = a.Candidates[0].next()
	s.finish(a.Candidates[0].FinishReason)
	return words.String(), nil
}

// call adds a tool call.
func (s *stream) call(p answerPart) {
	arguments := "{}"
	if chat.Present(p.Call.Args) {
		arguments = string(p.Call.Args)
	}
	s.reply.AddCall(chat.Piece{
		Index: s.calls, ID: p.Call.ID, Name: p.Call.Name, Arguments: arguments, Extra: newExtra(extra{p.Signature, p.Call.ID}),
	})
	s.calls++
}

// finish adds the reason for the end of an answer.
func (s *stream) finish(reason chat.Word) {
	switch {
	case reason == "":
		return
	case slices.Contains(withheld, reason):
		s.reply.Withheld = true
	case slices.Contains(broken, reason):
		s.reply.Broken = true
	}
	if reason == noSignature {
		s.client.refused.Store(signatures)
	}
	s.finished = true
}
