package pathway_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/agents/request"
	"github.com/callwright/callwright/agents/template"
)

func TestNodeTypes(t *testing.T) {
	t.Parallel()
	next := []string{"n next"}
	for name, c := range map[string]struct {
		kind  graph.NodeType
		data  data
		edges []string
		want  string
		at    string
		over  bool
		logs  string // expected errors and decisions in the log
	}{
		"Default":                   {graph.NodeDefault, data{"text": "Hi."}, next, "Hi.", "n", false, ""},
		"Default, skipping":         {graph.NodeDefault, data{"text": "Hi.", "modelOptions": data{"skipUserResponse": true}}, next, "Hi. next.", "next", false, "decision n -> next (n>next): the only way"},
		"Default, skipping nowhere": {graph.NodeDefault, data{"text": "Hi.", "modelOptions": data{"skipUserResponse": true}}, nil, "Hi.", "n", false, ""},
		"End Call":                  {graph.NodeEnd, data{"text": "Bye."}, nil, "Bye. End{the pathway has come to its end}", "n", true, ""},
		"End Call, prompted":        {graph.NodeEnd, data{"prompt": "Bye"}, nil, "[Bye] End{the pathway has come to its end}", "n", true, ""},
		"End Call, silent":          {graph.NodeEnd, nil, nil, "End{the pathway has come to its end}", "n", true, ""},
		"Wait for Response":         {graph.NodeWait, data{"modelOptions": data{"skipUserResponse": true}}, next, "", "n", false, ""},
		"Press Button":              {graph.NodePress, data{"text": "One.", "digits": "1w{{ext}}#"}, next, "One. Press{1w42# false} next.", "next", false, "decision n -> next (n>next): the only way"},
		"Press Button, at its end":  {graph.NodePress, data{"digits": "1", "showDigits": true}, nil, "Press{1 true}", "n", false, ""},
		"Press Button, no digits":   {graph.NodePress, data{"digits": "{{nobody}}"}, next, "next.", "next", false, "error n: the digits to press must have only 0-9, A-D, *, # and w, and must not be empty\ndecision n -> next (n>next): the only way\nerror next: no value for nobody"},
		"Press Button, no such":     {graph.NodePress, data{"digits": "{{name}}"}, nil, "", "n", false, "error n: the digits to press must have only 0-9, A-D, *, # and w, and must not be empty"},
		"Transfer Call":             {graph.NodeTransfer, data{"text": "Wait.", "transferNumber": "+15550111"}, next, "Wait. Transfer{+15550111}", "n", true, ""},
		"Transfer Call, no number":  {graph.NodeTransfer, data{"text": "Wait."}, next, "Wait. next.", "next", false, "error n: the transfer number is missing or is neither a phone number nor a SIP URI\ndecision n -> next (n>next): the only way"},
		"Transfer Call, nowhere":    {graph.NodeTransfer, data{"transferNumber": "{{name}}"}, nil, "Nobody.", "n", false, "error n: the transfer number is missing or is neither a phone number nor a SIP URI"},
		"Webhook":                   {graph.NodeWebhook, data{"text": "Wait.", "url": "https://example.com/"}, next, "Wait. next.", "next", false, "decision n -> next (n>next): the only way"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := data{"isStart": true}
			maps.Copy(d, c.data)
			all := nodes(node("n", c.kind, d))
			if c.edges != nil {
				all = append(all, say("next", nil))
			}
			talk := newTalk(t, compile(t, all, ways(c.edges...)))
			talk.agent.Lines.NotReached = "Nobody."
			talk.state = pathway.Begin(map[string]any{"ext": 42, "name": "Ada"}, "")
			talk.begins(c.want)
			talk.at(c.at, "")
			talk.logged(c.logs, pathway.LogError, pathway.LogDecision)
			if talk.state.Over != c.over || talk.state.ActionPending != c.over {
				t.Errorf("the state is %+v", talk.state)
			}
		})
	}
}

func TestChoosesOnTheWay(t *testing.T) {
	t.Parallel()
	for name, first := range map[string][]byte{
		"after a webhook":    node("w", graph.NodeWebhook, data{"url": "https://example.com/"}),
		"after a press":      node("w", graph.NodePress, data{"digits": "1"}),
		"without waiting":    node("w", graph.NodeDefault, data{"text": "Hm.", "modelOptions": data{"skipUserResponse": true}}),
		"without a transfer": node("w", graph.NodeTransfer, nil),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newTalk(t, compile(t, nodes(say("a", start), first, say("b", nil), say("g", data{"isGlobal": true, "globalLabel": "b"})),
				ways("a w", "w b: b")))
			c.begins("a.")
			got, err := c.step(t.Context(), conversation.Turn{Kind: conversation.TurnSpeech, Text: "hm"}, 99)
			if err != nil || c.state.Node != "w" || c.state.Over {
				t.Errorf("it says %s, error %v, and is at %s", got, err, c.state.Node)
			}
			if q := c.model().Questions(); len(q) != 2 || len(q[1].Options) != 2 {
				t.Errorf("the questions were %+v", q) // the second question lacks the global node, because the caller did not ask for it
			}
			c.hears("b", "g.")
		})
	}
}

func TestWebhook(t *testing.T) {
	t.Parallel()
	branches := [][]any{
		{"status", "==", "full", data{"id": "full"}}, {"free", "<", "{{least}}", data{"id": "few"}}, {"note", "contains", "vip", data{"id": "vip"}},
	}
	hook := data{
		"url": "https://example.com/{{day}}", "method": "POST", "body": "{{day}} {{body}}", "headers": data{"X-A": "{{head}}"},
		"responsePathways": branches,
		"responseData":     []data{{"name": "status", "data": "$.status"}, {"name": "free", "data": "$.free"}, {"name": "note", "data": "$.note"}},
	}
	g := compile(t, nodes(say("a", start), node("w", graph.NodeWebhook, hook), say("full", nil), say("few", nil), say("vip", nil), say("else", nil)),
		ways("a w", "w else"))
	for name, c := range map[string]struct {
		body, want, logs string
	}{
		"the first branch":  {`{"status": "full", "free": 1}`, "full.", "variables wmap[free:1 status:full]\ndecision w -> full (): status == full"},
		"numbers":           {`{"status": "open", "free": 9}`, "few.", "variables wmap[free:9 status:open]\ndecision w -> few (): free < 10"},
		"texts of numbers":  {`{"status": "open", "free": "11", "note": "a vip!"}`, "vip.", "variables wmap[free:11 note:a vip! status:open]\ndecision w -> vip (): note contains vip"},
		"the edge":          {`{"status": "open", "free": 10}`, "else.", "variables wmap[free:10 status:open]\ndecision w -> else (w>else): the only way"},
		"an answer of text": {`no`, "few.", "decision w -> few (): free < 10"}, // an unknown variable counts as an empty text
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			talk := newTalk(t, g)
			client := &agentstest.Requests{Answer: agentstest.JSON(c.body)}
			talk.interpreter.Requests, talk.agent.Org = client, "org"
			talk.state = pathway.Begin(map[string]any{"day": "to day", "least": 10}, "")
			talk.begins("a.")
			talk.hears("x", c.want)
			talk.logged("error "+talk.state.Node+": no value for body, head", pathway.LogError)
			got := strings.ReplaceAll(talk.entries(pathway.LogVariables, pathway.LogDecision), "decision a -> w (a>w): the only way\n", "")
			if got != c.logs {
				t.Errorf("the log has\n%s\nwant\n%s", got, c.logs)
			}
			if made := client.Made(); len(made) != 1 || made[0].URL != "https://example.com/to%20day" || made[0].Org != "org" {
				t.Errorf("the requests were %+v", made)
			}
			for _, e := range talk.log.Entries {
				if e.Kind == pathway.LogRequest && (e.Node != "w" || e.Request.Name != "the w" || e.Request.Status != 200) {
					t.Errorf("the request is logged as %+v", e.Request)
				}
			}
		})
	}
}

// TestAsksOnlySoOften checks that the requests of a turn that cycles through webhook nodes are bounded.
func TestAsksOnlySoOften(t *testing.T) {
	t.Parallel()
	hook := data{"url": "https://example.com/"}
	g := compile(t, nodes(say("a", start), node("w", graph.NodeWebhook, hook), node("v", graph.NodeWebhook, hook)),
		ways("a w", "w v", "v w"))
	c := newTalk(t, g)
	client := &agentstest.Requests{Answer: agentstest.JSON(`{}`)}
	c.interpreter.Requests = client
	c.begins("a.")
	c.hears("x", "")
	if n := len(client.Made()); n != 8 {
		t.Errorf("%d requests were made", n)
	}
	if told := strings.Count(c.entries(pathway.LogError), "its limit of 8 requests"); told == 0 {
		t.Errorf("the log has %s", c.entries(pathway.LogError))
	}
}

func TestOperators(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		got      any
		operator string
		want     string
		holds    bool
	}{
		{"a", "==", "a", true}, {"a", "==", "A", false}, {2, "==", "2.0", true}, {true, "==", "true", true}, {nil, "==", "", true},
		{"a", "!=", "b", true}, {"2", "!=", "2.00", false},
		{9, "<", "10", true}, {"9", "<", "10", true}, {"b9", "<", "b10", false}, {10, "<", "10", false},
		{10, "<=", "10", true}, {"b", "<=", "a", false}, {11, "<=", "10", false},
		{11, ">", "10", true}, {"b", ">", "a", true}, {10, ">", "10", false},
		{10, ">=", "10", true}, {9, ">=", "10", false},
		{"abc", "contains", "b", true}, {"abc", "contains", "x", false}, {[]any{"b"}, "contains", "b", true},
		{int64(9007199254740993), "==", "9007199254740992", false}, {int64(9007199254740993), ">", "9007199254740992", true},
		{"nan", "<", "100", false}, {"Nan", "==", "nan", false}, {"infinity", "<", "100", false}, {"1e3", "==", "1000", true},
		{"abc", "!contains", "x", true}, {"abc", "!contains", "b", false},
	} {
		talk := newTalk(t, compile(t, nodes(node("w", graph.NodeWebhook, data{
			"isStart": true, "url": "https://example.com/", "responsePathways": [][]any{{"v", c.operator, c.want, data{"id": "yes"}}},
		}), say("yes", nil), say("no", nil)), ways("w no")))
		talk.state = pathway.Begin(map[string]any{"v": c.got}, "")
		talk.begins(map[bool]string{true: "yes.", false: "no."}[c.holds])
	}
}

func TestRequestsFail(t *testing.T) {
	t.Parallel()
	g := compile(t, nodes(node("w", graph.NodeWebhook, data{"isStart": true, "url": "https://example.com/"}), say("b", nil)), ways("w b"))
	t.Run("and the conversation goes on", func(t *testing.T) {
		t.Parallel()
		c := newTalk(t, g)
		c.interpreter.Requests = &agentstest.Requests{Answer: func(context.Context, request.Request) (request.Response, error) {
			return request.Response{}, callwright.Errorf(callwright.CodeUnavailable, "it is down")
		}}
		c.begins("b.")
		if e := c.log.Entries[1]; e.Kind != pathway.LogRequest || e.Request.Error != "it is down" {
			t.Errorf("the log has %+v", e)
		}
	})
	t.Run("and a turn that ends with them leaves off there", func(t *testing.T) {
		t.Parallel()
		c := newTalk(t, g)
		ctx, cancel := context.WithCancel(t.Context())
		c.interpreter.Requests = &agentstest.Requests{Answer: func(context.Context, request.Request) (request.Response, error) {
			cancel()
			return request.Response{}, ctx.Err()
		}}
		if got, err := c.step(ctx, conversation.Turn{Kind: conversation.TurnStart}, 99); got != "" || callwright.CodeOf(err) != callwright.CodeUnavailable {
			t.Errorf("it says %s, error %v", got, err)
		}
		c.at("w", "") // stays at the webhook, because the request may have been executed
		if !c.state.ActionPending || len(c.state.Visited) != 1 {
			t.Errorf("the state is %+v", c.state)
		}
	})
	t.Run("without a client", func(t *testing.T) {
		t.Parallel()
		c := newTalk(t, g)
		c.interpreter.Requests = nil
		c.begins("b.")
		if e := c.log.Entries[1]; e.Kind != pathway.LogRequest || e.Request.Error == "" {
			t.Errorf("the log has %+v", e)
		}
	})
}

// TestWebhookBrokenOff checks that the end of the turn cancels a hanging request, as after an interruption, and that the request is
// repeated.
func TestWebhookBrokenOff(t *testing.T) {
	t.Parallel()
	c := newTalk(t, compile(t, nodes(say("a", start), node("w", graph.NodeWebhook, data{"text": "Wait.", "url": "https://example.com/"}), say("b", nil),
		say("g", data{"isGlobal": true, "globalLabel": "g!"})), ways("a w", "w b")))
	ctx, cancel := context.WithCancel(t.Context())
	client := &agentstest.Requests{Answer: func(ctx context.Context, _ request.Request) (request.Response, error) {
		cancel()
		<-ctx.Done()
		return request.Response{}, ctx.Err()
	}}
	c.interpreter.Requests = client
	c.begins("a.")
	got, err := c.step(ctx, conversation.Turn{Kind: conversation.TurnSpeech, Text: "x"}, 99)
	if got != "Wait." || callwright.CodeOf(err) != callwright.CodeUnavailable || !errors.Is(err, context.Canceled) {
		t.Errorf("it says %s, error %v", got, err)
	}
	c.at("w", "")
	if !c.state.ActionPending {
		t.Error("the request is not due")
	}
	broken := c.state
	client.Answer = nil
	c.turn(conversation.Turn{Kind: conversation.TurnSpeech, Text: "hello?", Interrupted: true, Heard: "Wait."}, "b.")
	if len(client.Made()) != 2 {
		t.Errorf("%d requests were made", len(client.Made()))
	}
	c.state = broken
	c.turn(conversation.Turn{Kind: conversation.TurnSpeech, Text: "g!", Interrupted: true, Heard: "Wait."}, "g.")
	c.state = broken
	c.turn(conversation.Turn{Kind: conversation.TurnSpeech, Interrupted: true, Heard: "Wai"}, "Wait. b.")
}

func TestKnowledge(t *testing.T) {
	t.Parallel()
	text := "Opening hours: from nine to five.\nOn Sunday: never.\n\n \nThe fee is ten dollars.\n\nThe shop is at the harbour.\n\n"
	inline := func(more data) *graph.Graph {
		d := data{"kb": text}
		maps.Copy(d, more)
		return compile(t, nodes(say("a", start), node("k", graph.NodeKnowledge, d)), ways("a k"))
	}
	t.Run("the best paragraphs come first", func(t *testing.T) {
		t.Parallel()
		c := newTalk(t, inline(nil))
		c.begins("a.")
		const rest = "[Answer only from the knowledge that you are given. Where it has no answer, say that you don't know.]"
		c.hears("When do you open the shop, on Sunday?", rest+" {Opening hours: from nine to five. On Sunday: never.} {The shop is at the harbour.} {The fee is ten dollars.}")
		c.logged("knowledge k: 3 passages for: When do you open the shop, on Sunday?", pathway.LogKnowledge)
		c.hears("FEES!", "again "+rest+" {The fee is ten dollars.}")
		c.hears("me?", "again "+rest)
	})
	t.Run("rare words decide", func(t *testing.T) {
		t.Parallel()
		many := "The red cheap car.\n\nThe red cheap bike.\n\nThe red cheap boat.\n\nThe harbour."
		c := newTalk(t, compile(t, nodes(say("a", start), node("k", graph.NodeKnowledge, data{"kb": many})), ways("a k")))
		c.model().Says = func(_ context.Context, r llm.ReplyRequest) ([]llm.ReplyPart, error) {
			return agentstest.Texts(r.Knowledge[0]), nil
		}
		c.begins("a.")
		c.hears("red, cheap: harbour", "The harbour.")
	})
	t.Run("a prompt stands before the rules", func(t *testing.T) {
		t.Parallel()
		c := newTalk(t, inline(data{"prompt": "Be brief."}))
		c.begins("a.")
		if _, err := c.step(t.Context(), conversation.Turn{Kind: conversation.TurnSpeech, Text: "fee"}, 99); err != nil {
			t.Error(err)
		}
		if got := c.model().Requests()[0].Instructions; !strings.HasPrefix(got, "Be brief.\n\nAnswer only") {
			t.Errorf("the instructions are %q", got)
		}
	})
	t.Run("a stand-in that can't answer does not know", func(t *testing.T) {
		t.Parallel()
		c := newTalk(t, inline(nil))
		c.model().Says = nil
		c.begins("a.")
		c.hears("x", "I am sorry, I don't know that.")
		if c.state.Over {
			t.Error("it is over")
		}
	})
	t.Run("static words need no knowledge", func(t *testing.T) {
		t.Parallel()
		c := newTalk(t, inline(data{"text": "No idea."}))
		c.begins("a.")
		c.hears("x", "No idea.")
	})
	base := compile(t, nodes(say("a", start), node("k", graph.NodeKnowledge, data{"kbTool": "base"})), ways("a k"))
	for name, want := range map[string]struct {
		base      pathway.Knowledge
		said, log string
	}{
		"a knowledge base is asked":               {shelf{found: []string{"one", "two"}}, " {one} {two}", "knowledge k: 2 passages for: why?"},
		"a knowledge base that fails is no end":   {shelf{err: errors.New("secret")}, "", "error k: the knowledge base failed"},
		"no knowledge base to be had, nor an end": {nil, "", "error k: no knowledge bases are connected"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newTalk(t, base)
			c.agent.Org, c.interpreter.Knowledge = "org", want.base
			c.begins("a.")
			c.hears("why?", "[Answer only from the knowledge that you are given. Where it has no answer, say that you don't know.]"+want.said)
			c.logged(want.log, pathway.LogKnowledge, pathway.LogError)
		})
	}
}

// shelf is a Knowledge that returns the fields found and err, or another error if it receives an unexpected request.
type shelf struct {
	found []string
	err   error
}

func (s shelf) Find(_ context.Context, org callwright.OrgID, base, question string, limit int) ([]string, error) {
	if org != "org" || base != "base" || question != "why?" || limit != 5 {
		return nil, errors.New("it was asked for something else")
	}
	return s.found, s.err
}

func TestTools(t *testing.T) {
	t.Parallel()
	tools := []data{{"name": "stock", "description": "What is there", "url": "https://example.com/", "response": data{"count": "$.n"}, "speech": "Let me see."}}
	c := newTalk(t, compile(t, nodes(node("a", graph.NodeDefault, data{"isStart": true, "prompt": "Sell.", "tools": tools})), nil))
	c.interpreter.Requests = &agentstest.Requests{Answer: agentstest.JSON(`{"n": 3}`)}
	c.model().Says = func(_ context.Context, r llm.ReplyRequest) ([]llm.ReplyPart, error) {
		if len(r.Messages) == 0 {
			return []llm.ReplyPart{{Call: &llm.ToolCall{ID: "1", Name: "stock", Arguments: []byte(`{"less than": "<3"}`)}}}, nil
		}
		return agentstest.Texts("We have three."), nil
	}
	got, err := c.step(t.Context(), conversation.Turn{Kind: conversation.TurnStart}, 99)
	if err != nil || got != "Let me see. We have three." || c.log.Usage != (llm.Usage{Input: 20, Output: 2}) {
		t.Errorf("it says %s, error %v, usage %v", got, err, c.log.Usage)
	}
	if c.state.Variables["count"] != int64(3) || !strings.Contains(c.entries(pathway.LogRequest, pathway.LogVariables), "variables amap[count:3]") {
		t.Errorf("the variables are %v, the log has %s", c.state.Variables, c.entries(pathway.LogRequest, pathway.LogVariables))
	}
	keeps(t, c.state)
	c.model().Says = func(_ context.Context, r llm.ReplyRequest) ([]llm.ReplyPart, error) {
		if r.Messages[len(r.Messages)-1].Role == llm.RoleCaller {
			return []llm.ReplyPart{{Call: &llm.ToolCall{ID: "2", Name: "stock"}}}, nil
		}
		return agentstest.Texts("Still three."), nil
	}
	c.hears("and now?", "Let me see. Still three.")
	c.logged("", pathway.LogVariables) // no variable has changed
	keeps(t, c.state)
}

// TestLongVariablesInLabels checks that variables lengthen the texts about ways only a little, and that the log contains only the first
// names of variables without a value.
func TestLongVariablesInLabels(t *testing.T) {
	t.Parallel()
	var names strings.Builder
	for i := range 3 * template.MaxNames {
		fmt.Fprintf(&names, "{{u%d}}", i)
	}
	unknown := names.String()
	g := compile(t, nodes(say("a", data{"isStart": true, "condition": "c {{x}}"}), say("b", data{"text": "b." + unknown}),
		say("c", data{"text": unknown + unknown})), []json.RawMessage{
		raw(data{"id": "e", "source": "a", "target": "b", "data": data{"label": "l {{x}}", "description": "d {{x}}"}}),
		raw(data{"id": "f", "source": "b", "target": "c", "data": data{"label": "f"}}),
	})
	c := newTalk(t, g)
	c.state = pathway.Begin(map[string]any{"x": strings.Repeat("é", 100_000)}, "")
	c.begins("a.")
	c.hears("no", "a.")
	for _, q := range c.model().Questions() {
		for _, o := range q.Options {
			for _, text := range []string{o.Label, o.Description, o.Condition} {
				if len(text) > 5000 || !utf8.ValidString(text) {
					t.Errorf("a text of an option has %d bytes", len(text))
				}
			}
		}
	}
	c.state = pathway.Begin(nil, "b")
	c.begins("b.")
	if got := c.entries(pathway.LogError); strings.Count(got, ", ") != template.MaxNames-1 {
		t.Errorf("the log has %s", got)
	}
}
