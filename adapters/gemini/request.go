package gemini

import (
	"context"
	"encoding/json"
	"net/http"
	"regexp"
	"strings"

	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/internal/engine/chat"
)

// The types of request bodies contain only the members that this package uses.

// request is the body of a request for content.
type request struct {
	System   content   `json:"systemInstruction"`
	Contents []content `json:"contents"`
	Tools    []tools   `json:"tools,omitempty"`
	Config   config    `json:"generationConfig"`
	Continue string    `json:"continuationToken,omitempty"` // of an answer that this request continues
}

type content struct {
	Role  string `json:"role,omitempty"`
	Parts []part `json:"parts"`
}

// part is a part of a content: a text, a call or a response.
type part struct {
	Text      string            `json:"text,omitempty"`
	Call      *functionCall     `json:"functionCall,omitempty"`
	Response  *functionResponse `json:"functionResponse,omitempty"`
	Signature string            `json:"thoughtSignature,omitempty"`
}

type functionCall struct {
	ID   string          `json:"id,omitempty"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"`
}

type functionResponse struct {
	ID       string          `json:"id,omitempty"`
	Name     string          `json:"name"`
	Response json.RawMessage `json:"response"`
}

type tools struct {
	Functions []function `json:"functionDeclarations"`
}

type function struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parametersJsonSchema,omitempty"`
}

type config struct {
	Temperature *float64        `json:"temperature,omitempty"`
	MediaType   string          `json:"responseMimeType,omitempty"`
	Schema      json.RawMessage `json:"responseJsonSchema,omitempty"`
	Thinking    *thinking       `json:"thinkingConfig,omitempty"`
}

// thinking limits the thoughts of a model: by a number of tokens up to Gemini 2.5, and by a level since Gemini 3.
type thinking struct {
	Budget *int   `json:"thinkingBudget,omitempty"`
	Level  string `json:"thinkingLevel,omitempty"`
}

// leastBudget is the smallest budget of a model that cannot be kept from thinking.
const leastBudget = 128

// noThoughts and budgets match the names of models that never think, and of those that have a budget of tokens for it. Others have levels.
var (
	noThoughts = regexp.MustCompile(`(?i)gemma|learnlm|gemini-(1|2\.0)`)
	budgets    = regexp.MustCompile(`(?i)gemini-2\.5`)
)

// leastThinking returns the setting with which a model thinks least. If the model refuses the setting, members has the next one.
func leastThinking(model string) *thinking {
	switch {
	case noThoughts.MatchString(model):
		return nil
	case budgets.MatchString(model):
		return &thinking{Budget: new(0)}
	default:
		return &thinking{Level: "MINIMAL"}
	}
}

// next returns a member for a setting of thinking that a model refuses, and that another one replaces, which may be nil.
func next(name string, matches func(thinking) bool, other *thinking) chat.Member[request] {
	return chat.Member[request]{Name: name, Meaning: regexp.MustCompile(`(?i)thinking|budget`), Omit: func(r *request) bool {
		had := r.Config.Thinking != nil && matches(*r.Config.Thinking)
		if had {
			r.Config.Thinking = other
		}
		return had
	}}
}

// anySignature replaces the missing signature of a tool call that another model has made.
const anySignature = "skip_thought_signature_validator"

// signatures is the name of the member for signatures of tool calls.
const signatures = "thoughtSignature"

// members lists the members of requests that some models refuse.
var members = []chat.Member[request]{
	{Name: "temperature", Meaning: regexp.MustCompile(`temperature`), Omit: func(r *request) bool {
		had := r.Config.Temperature != nil
		r.Config.Temperature = nil
		return had
	}},
	next("thinkingBudget 0", func(t thinking) bool { return t.Budget != nil && *t.Budget == 0 }, &thinking{Budget: new(leastBudget)}),
	next("thinkingBudget", func(t thinking) bool { return t.Budget != nil }, nil),
	next("thinkingLevel MINIMAL", func(t thinking) bool { return t.Level == "MINIMAL" }, &thinking{Level: "LOW"}),
	next("thinkingLevel", func(t thinking) bool { return t.Level != "" }, nil),
	{Name: signatures, Meaning: regexp.MustCompile(`(?i)thought_?signature`), Omit: sign},
}

// sign adds a signature to the first call of each content without one, and reports whether there was such a content.
func sign(r *request) bool {
	signed := false
	for _, c := range r.Contents {
		for i := range c.Parts {
			if c.Parts[i].Call == nil {
				continue
			}
			if c.Parts[i].Signature == "" {
				c.Parts[i].Signature, signed = anySignature, true
			}
			break
		}
	}
	return signed
}

// newRequest returns a request without contents.
func (c *Client) newRequest(task llm.Task, temperature *float64, system string) request {
	r := request{System: content{Parts: []part{{Text: system}}}, Config: config{Temperature: temperature}}
	if chat.Waits(task) {
		r.Config.Thinking = leastThinking(c.model)
	}
	return r
}

// replyRequest returns the request for a reply. nonce is part of the tag that marks the block of data.
func (c *Client) replyRequest(r llm.ReplyRequest, nonce string) request {
	body := c.newRequest(r.Task, r.Temperature, chat.NewInstructions(r, nonce).String())
	body.Contents = contents(chat.EndWithUser(chat.Turns(r, chat.Data(r, nonce))))
	var functions []function
	for _, t := range chat.Tools(r) {
		functions = append(functions, function(t))
	}
	if len(functions) > 0 {
		body.Tools = []tools{{functions}}
	}
	return body
}

// contents converts turns. The responses to calls stand in the content after them, in the order of the calls.
func contents(turns []chat.Turn) []content {
	var out []content
	for _, t := range turns {
		switch t.Role {
		case chat.User:
			out = appendContent(out, "user", part{Text: t.Text})
		case chat.Model:
			if strings.TrimSpace(t.Text) != "" {
				out = appendContent(out, "model", part{Text: t.Text})
			}
			for _, call := range t.Calls {
				e := parseExtra(call.Extra)
				out = appendContent(out, "model", part{Call: &functionCall{e.ID, call.Name, call.Arguments}, Signature: e.Signature})
			}
		case chat.Tool:
			for _, result := range t.Results {
				out = appendContent(out, "user", part{Response: &functionResponse{
					parseExtra(result.Call.Extra).ID, result.Call.Name, response(result.Text),
				}})
			}
		}
	}
	return out
}

// appendContent appends a part to the last content if that has the role, or else to a new one.
func appendContent(out []content, role string, p part) []content {
	if n := len(out); n > 0 && out[n-1].Role == role {
		out[n-1].Parts = append(out[n-1].Parts, p)
		return out
	}
	return append(out, content{role, []part{p}})
}

// response returns the answer of a tool, which must be a JSON object.
func response(text string) json.RawMessage {
	var object map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &object) == nil && object != nil {
		return json.RawMessage(text)
	}
	raw, err := json.Marshal(map[string]string{"output": text})
	if err != nil {
		panic(err) // strings can always be encoded
	}
	return raw
}

// extra is the member "google" of llm.ToolCall.Extra: what the messages of later requests must contain. Google's service with OpenAI's
// interface has the same form, so that both can continue a conversation of the other.
type extra struct {
	Signature string `json:"thought_signature,omitempty"`
	ID        string `json:"id,omitempty"`
}

// newExtra returns the Extra of a tool call, or nil if there is nothing to carry.
func newExtra(e extra) json.RawMessage {
	if e == (extra{}) {
		return nil
	}
	raw, err := json.Marshal(map[string]extra{"google": e})
	if err != nil {
		panic(err) // strings can always be encoded
	}
	return raw
}

func parseExtra(raw json.RawMessage) extra {
	var e struct {
		Google extra `json:"google"`
	}
	if len(raw) > 0 {
		_ = json.Unmarshal(raw, &e) // other services have other forms
	}
	return e.Google
}

// post sends a request to a method, without the members that the model refuses: see chat.Refusals.
func (c *Client) post(ctx context.Context, method string, body request) (*http.Response, error) {
	name := c.model
	if !strings.Contains(name, "/") {
		name = "models/" + name
	}
	to := c.service.URL(name + ":" + method)
	if method == streaming {
		q := to.Query()
		q.Set("alt", "sse")
		to.RawQuery = q.Encode()
	}
	return c.refused.Post(body, func(body request) (*http.Response, error) { return c.service.PostJSON(ctx, to, nil, body) })
}

// The methods of the service.
const (
	streaming = "streamGenerateContent"
	whole     = "generateContent"
)
