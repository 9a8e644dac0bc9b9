package gemini

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"io"
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
}

// counted returns the token counts.
func (u usage) counted() llm.Usage {
	return llm.Usage{Input: chat.Tokens(u.Prompt), Output: chat.Tokens(chat.Tokens(u.Candidates) + chat.Tokens(u.Thoughts))}
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

// pieces streams the text of an answer, and adds its tool calls and usage to a reply. An answer is complete with its finish reason, whatever
// follows.
func (c *Client) pieces(ctx context.Context, reply *chat.Reply, r llm.ReplyRequest) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		response, err := c.post(ctx, streaming, c.replyRequest(r, rand.Text()))
		if err != nil {
			yield("", err)
			return
		}
		defer func() { _ = response.Body.Close() }()
		s := stream{client: c, reply: reply}
		for e, err := range chat.Pieces(response.Body) {
			var words string
			if err == nil {
				words, err = s.add(e)
			}
			switch {
			case s.finished && err != nil:
				return
			case !yield(words, err) || err != nil || s.finished && reply.Usage != nil:
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
	client   *Client
	reply    *chat.Reply
	calls    int64 // number of calls so far
	finished bool  // whether the finish reason has come
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

// Answer answers a question by one request, in the JSON schema mode if the question has a schema: see chat.Refusals.
func (c *Client) Answer(ctx context.Context, q llm.Question) (llm.Answer, error) {
	system, user := q.Prompt(rand.Text())
	body := c.newRequest(q.Task, q.Temperature, system)
	body.Contents = []content{{"user", []part{{Text: user}}}}
	return c.refused.Answer(q.Schema, func(strict bool) (llm.Answer, error) {
		body := body
		if strict {
			body.Config.MediaType, body.Config.Schema = "application/json", q.Schema
		}
		return c.answer(ctx, body)
	})
}

// answer sends one request. It returns an *llm.Failure if the request fails, the response contains no answer, or the service withholds the
// answer.
func (c *Client) answer(ctx context.Context, body request) (llm.Answer, error) {
	response, err := c.post(ctx, whole, body)
	if err != nil {
		return llm.Answer{}, chat.Failure(err)
	}
	defer func() { _ = response.Body.Close() }()
	raw, err := io.ReadAll(io.LimitReader(response.Body, chat.MaxAnswer))
	if err != nil {
		return llm.Answer{}, chat.Failure(err)
	}
	a, err := parse(raw)
	if err != nil {
		return llm.Answer{}, chat.Failure(err)
	}
	if a.Feedback.BlockReason != "" {
		return llm.Answer{}, chat.ErrWithheld
	}
	if len(a.Candidates) == 0 {
		return llm.Answer{}, chat.ErrEmpty
	}
	var b strings.Builder
	for _, p := range a.Candidates[0].Content.Parts {
		if !p.Thought {
			b.WriteString(p.Text)
		}
	}
	text := chat.WithoutThoughts(b.String())
	switch reason := a.Candidates[0].FinishReason; {
	case slices.Contains(withheld, reason):
		return llm.Answer{}, chat.ErrWithheld
	case reason == "MAX_TOKENS":
		return llm.Answer{}, chat.ErrTooShort
	case strings.TrimSpace(text) == "":
		return llm.Answer{}, chat.ErrEmpty
	}
	return llm.Answer{JSON: json.RawMessage(text), Model: a.Model, Usage: a.Usage.counted()}, nil
}
