package pathway_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/agents/request"
)

// fork returns a graph with a question, two edges from it, and global nodes for a person and the price.
func fork(t testing.TB) *graph.Graph {
	return compile(t, nodes(
		say("ask", data{"isStart": true, "tag": data{"name": "asked"}}),
		say("left", nil),
		node("bye", graph.NodeEnd, data{"text": "Bye."}),
		node("person", graph.NodeTransfer, data{"text": "Wait.", "isGlobal": true, "globalLabel": "a person"}),
		say("price", data{"isGlobal": true, "globalLabel": "cost", "enableGlobalAutoReturn": true}),
	), ways("ask left: left", "ask bye: bye"))
}

func TestFirstTurn(t *testing.T) {
	t.Parallel()
	t.Run("says the first sentence before the start's words", func(t *testing.T) {
		t.Parallel()
		c := newTalk(t, fork(t))
		c.agent.FirstSentence = "Hello {{who}}."
		c.state = pathway.Begin(map[string]any{"who": "Ada"}, "")
		c.begins("Hello Ada. ask.")
		c.at("ask", "")
		if e := c.log.Entries[0]; e.Kind != pathway.LogVisit || e.Tag != "asked" || e.Name != "the ask" || e.At.IsZero() {
			t.Errorf("the visit is logged as %+v", e)
		}
	})
	t.Run("also when the caller speaks first", func(t *testing.T) {
		t.Parallel()
		c := newTalk(t, fork(t))
		c.hears("left, hello", "ask.")
		c.hears("left", "left.")
	})
	t.Run("also when the caller is silent first", func(t *testing.T) {
		t.Parallel()
		c := newTalk(t, fork(t))
		c.turn(conversation.Turn{Kind: conversation.TurnSilence}, "ask.")
	})
	t.Run("begins at another node", func(t *testing.T) {
		t.Parallel()
		c := newTalk(t, fork(t))
		c.state = pathway.Begin(nil, "left")
		c.begins("left.")
	})
}

func TestDecision(t *testing.T) {
	t.Parallel()
	t.Run("by the label of an edge", func(t *testing.T) {
		t.Parallel()
		c := newTalk(t, fork(t))
		c.begins("ask.")
		c.hears("left, please", "left.")
		c.logged("decision ask -> left (ask>left): left: said so", pathway.LogDecision)
		if want := (llm.Usage{Input: 10, Output: 1}); c.log.Usage != want || c.log.Heard != "left, please" || c.log.Said != "left." {
			t.Errorf("the log is %+v", c.log)
		}
		if len(c.model().Questions()) != 1 {
			t.Errorf("%d questions were asked", len(c.model().Questions()))
		}
	})
	t.Run("stays where nothing fits, and speaks again", func(t *testing.T) {
		t.Parallel()
		c := newTalk(t, fork(t))
		c.begins("ask.")
		c.hears("what?", "ask.")
		c.logged("decision ask -> ask (): none of the others: said so", pathway.LogDecision)
		if len(c.state.Visited) != 1 {
			t.Errorf("it has visited %v", c.state.Visited)
		}
	})
	t.Run("stays silent where it waits, and asks again where it has no words", func(t *testing.T) {
		t.Parallel()
		for kind, want := range map[graph.NodeType]string{
			graph.NodeWait: "", graph.NodePress: "Sorry, I did not catch that. Could you say it again?",
		} {
			c := newTalk(t, compile(t, nodes(node("a", kind, data{"isStart": true, "digits": "1"}), say("b", nil)), ways("a b: go")))
			if _, err := c.step(t.Context(), conversation.Turn{Kind: conversation.TurnStart}, 99); err != nil {
				t.Error(err)
			}
			c.hears("hm", want)
			c.hears("go", "b.")
		}
	})
	t.Run("an edge that is always taken needs no question", func(t *testing.T) {
		t.Parallel()
		c := newTalk(t, compile(t, nodes(say("a", start), say("b", nil)), ways("a b")))
		c.begins("a.")
		c.hears("x", "b.")
		c.logged("decision a -> b (a>b): the only way", pathway.LogDecision)
		c.hears("y", "b.") // a node without edges needs no question
		if n := len(c.model().Questions()); n != 0 {
			t.Errorf("%d questions were asked", n)
		}
	})
	t.Run("a global node wins over an edge that is always taken", func(t *testing.T) {
		t.Parallel()
		c := newTalk(t, compile(t, nodes(say("a", start), say("b", nil),
			say("help", data{"isGlobal": true, "globalLabel": "help"})), ways("a b")))
		c.begins("a.")
		c.hears("help", "help.")
		c.at("help", "a")
	})
	t.Run("the condition keeps it there", func(t *testing.T) {
		t.Parallel()
		for _, edge := range []string{"a b", "a b: go"} {
			c := newTalk(t, compile(t, nodes(say("a", data{"isStart": true, "condition": "done {{n}}"}), say("b", nil)), ways(edge)))
			c.state = pathway.Begin(map[string]any{"n": 1}, "")
			c.begins("a.")
			c.hears("go", "a.")
			c.hears("go, done 1", "b.")
		}
	})
	t.Run("a global node wins over the condition", func(t *testing.T) {
		t.Parallel()
		c := newTalk(t, compile(t, nodes(say("a", data{"isStart": true, "condition": "done"}), say("b", nil),
			say("help", data{"isGlobal": true, "globalLabel": "help"})), ways("a b: go")))
		c.begins("a.")
		c.hears("go, help", "help.")
	})
}

func TestWithoutASensibleAnswer(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]func(context.Context, llm.Question) (string, error){
		"no JSON":        func(context.Context, llm.Question) (string, error) { return "left, I think", nil },
		"no such option": func(context.Context, llm.Question) (string, error) { return `{"reason":"x","option":"bye"}`, nil },
		"unsupported":    nil,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newTalk(t, fork(t))
			c.model().Answers = answer
			c.begins("ask.")
			c.hears("left", "ask.")
			if got := c.entries(pathway.LogError, pathway.LogDecision); !strings.HasPrefix(got, "error ask: llm: ") ||
				!strings.HasSuffix(got, "decision ask -> ask (): the model did not decide") {
				t.Errorf("the log has %s", got)
			}

			c = newTalk(t, compile(t, nodes(say("a", start), say("b", nil),
				say("help", data{"isGlobal": true, "globalLabel": "help"})), ways("a b")))
			c.model().Answers = answer
			c.begins("a.")
			c.hears("help", "b.") // along the edge that is always taken
		})
	}
}

func TestStepFailsWithItsModel(t *testing.T) {
	t.Parallel()
	broke := &llm.Failure{Class: llm.ClassQuota, Message: "no money"}
	for name, d := range map[string]data{"deciding": nil, "finding out": {"extractVars": [][]string{{"day"}}}, "speaking": {"prompt": "Ask.", "text": ""}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first := data{"isStart": true}
			maps.Copy(first, d)
			c := newTalk(t, compile(t, nodes(say("a", first), say("b", nil)), ways("a b: go")))
			c.agent.Lines.Apology = "Sorry."
			c.model().Answers = func(context.Context, llm.Question) (string, error) { return "", broke }
			if name == "speaking" {
				c.model().Says = func(context.Context, llm.ReplyRequest) ([]llm.ReplyPart, error) { return nil, broke }
			} else {
				c.begins("a.")
			}
			got, err := c.step(t.Context(), conversation.Turn{Kind: conversation.TurnSpeech, Text: "go"}, 99)
			if got != "Sorry." || !errors.Is(err, broke) || !c.state.Over {
				t.Errorf("it says %s, error %v, state %+v", got, err, c.state)
			}
			c.logged("error a: llm: quota: no money", pathway.LogError)
		})
	}
}

func TestVariables(t *testing.T) {
	t.Parallel()
	extract := data{"isStart": true, "text": "Day {{day}}, {{n}}?", "extractVars": [][]string{{"day"}, {"n", "integer"}}}
	t.Run("are found once", func(t *testing.T) {
		t.Parallel()
		c := newTalk(t, compile(t, nodes(node("a", graph.NodeDefault, extract)), nil))
		c.begins("Day , ?")
		c.logged("error a: no value for day, n", pathway.LogError)
		before := c.state
		c.hears("day=Monday n=3", "Day Monday, 3?")
		c.logged("variables a"+`map[day:Monday n:3]`, pathway.LogVariables)
		if before.Variables != nil || c.state.Variables["n"] != int64(3) {
			t.Errorf("the variables were %v and are %v", before.Variables, c.state.Variables)
		}
		c.hears("day=Friday", "Day Monday, 3?")
		if q := c.model().Questions(); len(q) != 1 || len(q[0].Fields) != 2 {
			t.Errorf("the questions were %v", q)
		}
	})
	t.Run("are found again with ignorePrevious", func(t *testing.T) {
		t.Parallel()
		d := data{"extractVarSettings": data{"ignorePrevious": true}}
		maps.Copy(d, extract)
		c := newTalk(t, compile(t, nodes(node("a", graph.NodeDefault, d)), nil))
		c.begins("Day , ?")
		c.hears("day=Monday", "Day Monday, ?")
		before := c.state
		c.hears("day=Friday", "Day Friday, ?")
		if before.Variables["day"] != "Monday" {
			t.Error("the state that came in was changed")
		}
	})
	t.Run("stay unknown when the model talks nonsense", func(t *testing.T) {
		t.Parallel()
		c := newTalk(t, compile(t, nodes(node("a", graph.NodeDefault, extract)), nil))
		c.model().Answers = func(context.Context, llm.Question) (string, error) { return `{"day": 5}`, nil }
		c.begins("Day , ?")
		c.hears("day=Monday", "Day , ?")
	})
	t.Run("are data", func(t *testing.T) {
		t.Parallel()
		c := newTalk(t, compile(t, nodes(node("a", graph.NodeDefault, data{"isStart": true, "text": "Hi {{name}}{{nobody}}."})), nil))
		c.state = pathway.Begin(map[string]any{"name": "{{secret}}", "secret": "s3"}, "")
		c.begins("Hi {{secret}}.")
		c.logged("error a: no value for nobody", pathway.LogError)
	})
}

func TestGlobalNodes(t *testing.T) {
	t.Parallel()
	t.Run("go back of themselves", func(t *testing.T) {
		t.Parallel()
		c := newTalk(t, fork(t))
		c.begins("ask.")
		c.hears("cost", "price. ask.")
		c.at("ask", "")
		c.hears("left", "left.")
		c.hears("cost", "price. left.")
		c.at("left", "")
	})
	t.Run("go back once their condition is met", func(t *testing.T) {
		t.Parallel()
		c := newTalk(t, compile(t, nodes(say("a", start), say("g", data{
			"isGlobal": true, "globalLabel": "g!", "enableGlobalAutoReturn": true, "condition": "really",
		})), nil))
		c.begins("a.")
		c.hears("g! really", "g.") // does not return before the node has spoken
		if n := len(c.model().Questions()); n != 1 {
			t.Errorf("%d questions were asked", n)
		}
		c.hears("hm", "g.")
		c.hears("really", "a.")
		c.at("a", "")
	})
	t.Run("without edges go back after the caller's next turn", func(t *testing.T) {
		t.Parallel()
		c := newTalk(t, compile(t, nodes(say("a", start), say("b", nil), say("g", data{"isGlobal": true, "globalLabel": "g!"})), ways("a b: go")))
		c.begins("a.")
		c.hears("g!", "g.")
		c.at("g", "a")
		c.hears("go", "a.")
		c.at("a", "")
		c.hears("go", "b.")
	})
	t.Run("lead to others and keep where to go back", func(t *testing.T) {
		t.Parallel()
		c := newTalk(t, compile(t, nodes(say("a", start),
			say("g", data{"isGlobal": true, "globalLabel": "g!"}), say("h", data{"isGlobal": true, "globalLabel": "h!"})), nil))
		c.begins("a.")
		c.hears("g!", "g.")
		c.hears("h!", "h.")
		c.at("h", "a")
		c.hears("x", "a.")
	})
	t.Run("along their edges leave that behind", func(t *testing.T) {
		t.Parallel()
		c := newTalk(t, compile(t, nodes(say("a", start), say("b", nil), say("g", data{"isGlobal": true, "globalLabel": "g!"})), ways("g b: go")))
		c.begins("a.")
		c.hears("g!", "g.")
		c.hears("hm", "g.")
		c.hears("go", "b.")
		c.at("b", "")
	})
	t.Run("can be the start, and gone back to", func(t *testing.T) {
		t.Parallel()
		c := newTalk(t, compile(t, nodes(say("menu", data{"isStart": true, "isGlobal": true, "globalLabel": "menu"}),
			say("g", data{"isGlobal": true, "globalLabel": "g!", "enableGlobalAutoReturn": true})), nil))
		c.begins("menu.")
		c.hears("x", "menu.")
		c.hears("g!", "g. menu.")
		c.at("menu", "")
	})
}

func TestLoops(t *testing.T) {
	t.Parallel()
	skip := data{"modelOptions": data{"skipUserResponse": true}}
	g := compile(t, nodes(say("a", start), say("b", skip), say("c", skip)), ways("a b: round", "b c", "c b"))
	c := newTalk(t, g)
	c.agent.Lines.Apology = "Sorry."
	c.begins("a.")
	c.hears("round", strings.TrimSpace(strings.Repeat("b. c. ", pathway.MaxVisits/2)))
	c.at("c", "")
	c.logged("loop c: the turn has reached its limit of 32 visited nodes, and waits for the caller", pathway.LogLoop)
	if c.state.Over || c.state.Loops != 1 {
		t.Errorf("the state is %+v", c.state)
	}
	c.turn(conversation.Turn{Kind: conversation.TurnSilence}, "Are you still there?")
	c.hears("x", strings.Repeat("b. c. ", pathway.MaxVisits/2)+"Sorry. End{the pathway is in a loop}")
	if !c.state.Over {
		t.Error("it is not over")
	}
}

func TestLoopsApartAreForgiven(t *testing.T) {
	t.Parallel()
	skip := data{"modelOptions": data{"skipUserResponse": true}}
	c := newTalk(t, compile(t, nodes(say("a", start), say("b", skip),
		say("home", data{"isGlobal": true, "globalLabel": "home"})), ways("a b: round", "b b", "home a")))
	round := strings.TrimSpace(strings.Repeat("b. ", pathway.MaxVisits))
	c.begins("a.")
	for range 3 {
		c.hears("round", round)
		c.hears("home", "home.")
		c.hears("x", "a.")
	}
}

func TestTransferFails(t *testing.T) {
	t.Parallel()
	again := conversation.Turn{Kind: conversation.TurnStart}
	t.Run("and waits", func(t *testing.T) {
		t.Parallel()
		c := newTalk(t, fork(t))
		c.agent.TransferTo, c.agent.Lines.NotReached = "+15550100", "Nobody."
		c.begins("ask.")
		c.hears("a person", "Wait. Transfer{+15550100}")
		if !c.state.Over {
			t.Error("it goes on after the transfer")
		}
		c.turn(again, "Nobody.")
		c.at("person", "ask")
		c.hears("hm", "ask.")
	})
	t.Run("and goes on along the edge that is always taken", func(t *testing.T) {
		t.Parallel()
		c := newTalk(t, compile(t, nodes(node("t", graph.NodeTransfer, data{"isStart": true, "transferNumber": "{{to}}"}), say("b", nil), say("c", nil)), ways("t b", "b c")))
		c.agent.Lines.NotReached = "Nobody."
		c.state = pathway.Begin(map[string]any{"to": " sip:desk@example.com"}, "")
		c.begins("Transfer{sip:desk@example.com}")
		c.turn(again, "Nobody. b.")
		c.turn(again, "Nobody.")
		c.at("b", "")
	})
}

func TestCourtesies(t *testing.T) {
	t.Parallel()
	silence, noise := conversation.Turn{Kind: conversation.TurnSilence}, conversation.Turn{Kind: conversation.TurnSpeech}
	t.Run("silence", func(t *testing.T) {
		t.Parallel()
		c := newTalk(t, fork(t))
		c.begins("ask.")
		c.turn(silence, "Are you still there?")
		c.turn(silence, "Are you still there?")
		c.turn(silence, "I can't hear you, so I will end the call. Goodbye. End{the caller was not heard}")
		if !c.state.Over || len(c.model().Questions()) != 0 {
			t.Errorf("the state is %+v, after %d questions", c.state, len(c.model().Questions()))
		}
	})
	t.Run("silence at a quiet node", func(t *testing.T) {
		t.Parallel()
		c := newTalk(t, compile(t, nodes(say("a", data{"isStart": true, "modelOptions": data{"disableSilenceRepeat": true}})), nil))
		c.begins("a.")
		for range 5 {
			c.turn(silence, "")
		}
		if c.state.Talk.Silences != 0 {
			t.Error("the silence counts")
		}
		c.turn(noise, "Sorry, I did not catch that. Could you say it again?")
	})
	t.Run("noise", func(t *testing.T) {
		t.Parallel()
		c := newTalk(t, fork(t))
		c.agent.Lines.Repeat, c.agent.Lines.Goodbye = "What?", "Bye."
		c.begins("ask.")
		c.turn(noise, "What?")
		c.turn(noise, "What?")
		c.turn(noise, "Bye. End{the caller was not heard}")
	})
	t.Run("a noise that breaks in", func(t *testing.T) {
		t.Parallel()
		skip := data{"isStart": true, "text": "One. Two. Three.", "modelOptions": data{"skipUserResponse": true}}
		c := newTalk(t, compile(t, nodes(node("a", graph.NodeDefault, skip), say("b", nil)), ways("a b")))
		if got, err := c.step(t.Context(), conversation.Turn{Kind: conversation.TurnStart}, 2); got != "One. Two." || err != nil {
			t.Errorf("it says %s, error %v", got, err)
		}
		c.turn(conversation.Turn{Kind: conversation.TurnSpeech, Interrupted: true, Heard: "One."}, "Two. Three. b.")
		c.at("b", "")
	})
}

func TestDigits(t *testing.T) {
	t.Parallel()
	c := newTalk(t, compile(t, nodes(say("a", start), say("b", nil)), ways("a b: (pressed 5)")))
	c.begins("a.")
	c.turn(conversation.Turn{Kind: conversation.TurnDigits, Text: "5"}, "b.")
	if m := c.state.Talk.Messages[1]; m.Role != llm.RoleCaller || m.Text != "(pressed 5)" || c.log.Heard != "5" {
		t.Errorf("the message is %+v, the log heard %q", m, c.log.Heard)
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	c := newTalk(t, fork(t))
	c.begins("ask.")
	c.hears("bye", "Bye. End{the pathway has come to its end}")
	for name, s := range map[string]pathway.State{
		"over": c.state, "at no node": {Node: "gone", Visited: []string{"gone"}}, "to begin at no node": pathway.Begin(nil, "gone"),
	} {
		for _, kind := range []conversation.TurnKind{conversation.TurnSpeech, conversation.TurnSilence, conversation.TurnStart} {
			c.state = s
			got, err := c.step(t.Context(), conversation.Turn{Kind: kind, Text: "x"}, 99)
			if got != "" || callwright.CodeOf(err) != callwright.CodeInvalidState || c.log.Turn != 0 {
				t.Errorf("%s: it says %q, error %v, log %+v", name, got, err, c.log)
			}
		}
	}
}

func TestPrompt(t *testing.T) {
	t.Parallel()
	g := compile(t, nodes(raw(data{"globalConfig": data{"globalPrompt": "Be {{how}}."}}),
		node("a", graph.NodeDefault, data{"isStart": true, "prompt": "Greet {{who}}.", "modelOptions": data{"modelName": "big", "newTemperature": 0.5}}),
		node("b", graph.NodeDefault, data{"prompt": "Ask."}), node("w", graph.NodeWebhook, data{
			"url": "https://example.com/", "isGlobal": true, "globalLabel": "never", "text": "One moment.",
			"responseData": []data{{"name": "who", "data": "$.who", "context": "The caller is {{who}}."}, {"name": "debt", "data": "$.debt", "context": "A debt."}},
		})), ways("a b"))
	c := newTalk(t, g)
	heat := 0.1
	c.agent = pathway.Agent{
		Org: "org", Persona: "You are {{me}}.", Language: "en-US", Model: "small", Temperature: &heat,
		Facts: request.Source{Variables: []request.Mapping{{Name: "me", Context: "The agent"}}}.Facts(),
	}
	c.state = pathway.Begin(map[string]any{"how": "brief", "who": "Ada", "me": "Bob"}, "")
	c.begins("[Greet Ada.]")
	c.hears("what?", "[Ask.]")
	c.hears("what?", "again [Ask.]")
	r := c.model().Requests()
	first, last := r[0], r[2]
	if first.Instructions != "Be brief.\n\nYou are Bob.\n\nGreet Ada." || first.Org != "org" || first.Language != "en-US" ||
		first.Model != "big" || *first.Temperature != 0.5 || !first.Arriving || first.CanEnd || first.CanTransfer {
		t.Errorf("the first request is %+v", first)
	}
	if !slices.Equal(first.Facts, []string{"The agent: Bob", "The caller is Ada."}) {
		t.Errorf("the model was told the facts %q", first.Facts)
	}
	if last.Model != "small" || *last.Temperature != heat || last.Arriving || len(last.Messages) != 4 {
		t.Errorf("the last request is %+v", last)
	}
}

// TestModelCanNotAct checks that only the graph ends and transfers calls, even if the model returns such actions.
func TestModelCanNotAct(t *testing.T) {
	t.Parallel()
	c := newTalk(t, compile(t, nodes(node("a", graph.NodeDefault, data{"isStart": true, "prompt": "Ask."})), nil))
	c.agent.TransferTo = "+15550100"
	for _, action := range []llm.Action{llm.ActionEnd, llm.ActionTransfer} {
		c.model().Says = func(context.Context, llm.ReplyRequest) ([]llm.ReplyPart, error) {
			return append(agentstest.Texts("Well."), llm.ReplyPart{Action: action}), nil
		}
		c.hears("x", "Well.")
	}
}
