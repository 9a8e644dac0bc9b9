package pathway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/pathway/graph"
)

// mute returns a model like literal that has no words of its own.
func mute() *agentstest.Model {
	m := literal()
	m.Says = func(context.Context, llm.ReplyRequest) ([]llm.ReplyPart, error) {
		return nil, &llm.Failure{Class: llm.ClassUnsupported, Message: "it only decides"}
	}
	return m
}

// cut returns a turn whose words interrupt the agent after the heard words.
func cut(text, heard string) conversation.Turn {
	return conversation.Turn{Kind: conversation.TurnSpeech, Text: text, Interrupted: true, Heard: heard}
}

// longText returns a graph with a long text at its start, an aside, and an end.
func longText(t testing.TB) *graph.Graph {
	return compile(t, nodes(
		node("long", graph.NodeDefault, data{"isStart": true, "text": "One. Two. Three. Is it four?"}),
		say("price", data{"isGlobal": true, "globalLabel": "cost", "enableGlobalAutoReturn": true}),
		node("end", graph.NodeEnd, data{"text": "Five. Six."})), ways("long end: yes"))
}

// TestTextIsInterrupted checks that a node's text goes on with its unheard rest if the conversation stays at the node, or returns to it.
func TestTextIsInterrupted(t *testing.T) {
	t.Parallel()
	type turn struct {
		turn conversation.Turn
		want string
	}
	for name, turns := range map[string][]turn{
		"by other words": {
			{cut("hm what", "One. Tw"), "o. Three. Is it four?"},
			{speech("hm what now"), "Sorry, I did not catch that. Could you say it again?"},
			{speech("yes"), "Five. Six. End{the pathway has come to its end}"},
		},
		"again and again": {
			{cut("hm what", "One."), "Two. Three. Is it four?"},
			{cut("but why", "Two."), "Three. Is it four?"},
			{cut("but why", "Three. Is it four?"), "Sorry, I did not catch that. Could you say it again?"},
		},
		"by a request to stop": {
			{cut("okay wait, I have a question", "One."), "Of course. Please go ahead."},
			{speech("hm what"), "Two. Three. Is it four?"},
		},
		"by a request to stop, which interrupts the next words, too": {
			{cut("wait", "One."), "Of course. Please go ahead."},
			{cut("hm what", "Of course."), "Two. Three. Is it four?"},
		},
		"by a digit": {
			{conversation.Turn{Kind: conversation.TurnDigits, Text: "5", Interrupted: true, Heard: "One. Two."}, "Three. Is it four?"},
		},
		"by an aside": {
			{cut("cost", "One. Two."), "price. Three. Is it four?"},
			{cut("cost", "price. Three."), "price. Is it four?"},
			{cut("cost", "price. Is it four?"), "price. Is it four?"},
		},
		"by a noise": {
			{cut("", "One."), "Two. Three. Is it four?"},
			{speech("what"), "One. Two. Three. Is it four?"}, // nothing has interrupted the text
		},
		"by an answer": {
			{cut("yes", "One."), "Five. Six. End{the pathway has come to its end}"},
			{cut("bye", "Five."), "Six. End{the pathway has come to its end}"},
		},
		"before an end, by a request to stop": {
			{speech("yes"), "Five. Six. End{the pathway has come to its end}"},
			{cut("stop", "Five."), "Of course. Please go ahead."},
			{speech("hm what"), "Six. End{the pathway has come to its end}"},
		},
		"before it was heard": {
			{cut("hello there", ""), "One. Two. Three. Is it four?"},
		},
		"not at all": {
			{speech("what"), "One. Two. Three. Is it four?"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newTalk(t, longText(t))
			c.interpreter.Model = mute()
			c.begins("One. Two. Three. Is it four?")
			for _, turn := range turns {
				c.turn(turn.turn, turn.want)
				stored := must(json.Marshal(c.state)) //nolint:musttag // its encoding is private to the package
				c.state = pathway.State{}
				if err := json.Unmarshal(stored, &c.state); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// TestTextIsStoppedWhileItIsEmitted checks that sentences that the node has not emitted belong to the rest.
func TestTextIsStoppedWhileItIsEmitted(t *testing.T) {
	t.Parallel()
	c := newTalk(t, longText(t))
	c.interpreter.Model = mute()
	if got, err := c.step(t.Context(), conversation.Turn{Kind: conversation.TurnStart}, 2); got != "One. Two." || err != nil {
		t.Errorf("it says %q, %v", got, err)
	}
	c.turn(cut("hm what", "One."), "Two. Three. Is it four?")
}

// TestCanceledTurnKeepsTheRest checks that a turn that is canceled before its first words does not lose the rest of an interrupted text.
func TestCanceledTurnKeepsTheRest(t *testing.T) {
	t.Parallel()
	c := newTalk(t, longText(t))
	c.interpreter.Model = mute()
	c.begins("One. Two. Three. Is it four?")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got, err := c.step(ctx, cut("hm", "One."), 99); got != "" || err == nil {
		t.Errorf("it says %q, %v", got, err)
	}
	c.turn(cut("hm what", ""), "Two. Three. Is it four?")
}

// TestModelAnswersAnInterruptedText checks that a model answers the words that interrupt a text, and what it knows of the text.
func TestModelAnswersAnInterruptedText(t *testing.T) {
	t.Parallel()
	var requests []llm.ReplyRequest
	m := literal()
	m.Says = func(_ context.Context, r llm.ReplyRequest) ([]llm.ReplyPart, error) {
		requests = append(requests, r)
		return agentstest.Texts("Because."), nil
	}
	c := newTalk(t, longText(t))
	c.interpreter.Model = m
	c.begins("One. Two. Three. Is it four?")
	c.turn(cut("but why", "One. Two."), "Because.")
	c.hears("and then", "Because.")
	for i, r := range requests {
		var said []string
		for _, m := range r.Messages {
			said = append(said, string(m.Role)+": "+m.Text)
		}
		if r.Unheard != "Three. Is it four?" || !strings.Contains(r.Instructions, "has interrupted you") || !strings.HasPrefix(strings.Join(said, " | "), "agent: One. Two. | caller: but why") {
			t.Errorf("request %d: unheard %q, messages %q", i, r.Unheard, said)
		}
	}
	if len(requests) != 2 {
		t.Errorf("%d requests", len(requests))
	}
}

// TestPromptIsInterrupted checks that the model at a prompt node knows the unheard words of its interrupted answer, and only of that.
func TestPromptIsInterrupted(t *testing.T) {
	t.Parallel()
	var unheard []string
	m := literal()
	m.Says = func(_ context.Context, r llm.ReplyRequest) ([]llm.ReplyPart, error) {
		unheard = append(unheard, r.Unheard)
		return agentstest.Texts("One. Two. Three."), nil
	}
	c := newTalk(t, compile(t, nodes(node("ask", graph.NodeDefault, data{"isStart": true, "prompt": "Talk."}), say("end", nil)), ways("ask end: yes")))
	c.interpreter.Model = m
	c.begins("One. Two. Three.")
	c.turn(cut("hm", "One."), "One. Two. Three.")
	c.hears("hm", "One. Two. Three.")
	if got := fmt.Sprintf("%q", unheard); got != `["" "Two. Three." ""]` {
		t.Errorf("unheard %s", got)
	}
}

// TestBargeInOfANode checks that a node's words follow its settings, and that the words of other nodes follow the call's settings.
func TestBargeInOfANode(t *testing.T) {
	t.Parallel()
	c := newTalk(t, compile(t, nodes(
		say("a", data{"isStart": true, "modelOptions": data{"interruptibility": 4}}),
		say("b", data{"modelOptions": data{"block_interruptions": true, "skipUserResponse": true}}), say("c", nil)), ways("a b: go", "b c")))
	c.begins("BargeIn{5 0s} a.")
	c.turn(conversation.Turn{Kind: conversation.TurnSilence}, "BargeIn{5 0s} Are you still there?")
	c.hears("go", "BargeIn{1 0s} b. BargeIn{0 0s} c.")
}

// TestNothingHeardIsRepeated checks with random interruptions that no heard word of a text is said again.
func TestNothingHeardIsRepeated(t *testing.T) {
	t.Parallel()
	const text = "Alpha bravo charlie. Delta echo foxtrot golf. Hotel india, juliett kilo. Lima mike november."
	g := compile(t, nodes(node("long", graph.NodeDefault, data{"isStart": true, "text": text}),
		say("price", data{"isGlobal": true, "globalLabel": "cost", "enableGlobalAutoReturn": true}), say("end", nil)), ways("long end: yes"))
	rapid.Check(t, func(r *rapid.T) {
		c := newTalk(t, g)
		c.interpreter.Model = mute()
		turn := conversation.Turn{Kind: conversation.TurnStart}
		var heard []string
		for range rapid.IntRange(1, 8).Draw(r, "interruptions") {
			said, err := c.step(t.Context(), turn, rapid.IntRange(1, 9).Draw(r, "steps"))
			if err != nil {
				r.Fatal(err)
			}
			words := strings.Fields(said)
			words = words[:rapid.IntRange(0, len(words)).Draw(r, "words")]
			heard = append(heard, words...)
			turn = cut(rapid.SampledFrom([]string{"hm what", "wait a second", "cost", "why is that"}).Draw(r, "text"), strings.Join(words, " "))
		}
		seen, words := map[string]bool{}, strings.Fields(text)
		for _, word := range heard {
			if slices.Contains(words, word) && seen[word] {
				r.Fatalf("%q was heard twice: %q", word, heard)
			}
			seen[word] = true
		}
	})
}

// TestCallerAsksToWait checks that a node does not say its words again to a caller who asks the agent to wait, that only the first of two
// requests is answered, and that a way for such words has priority.
func TestCallerAsksToWait(t *testing.T) {
	t.Parallel()
	c := newTalk(t, compile(t, nodes(say("ask", start), say("yes", nil)), ways("ask yes: yes")))
	c.agent.Language = "de"
	c.begins("ask.")
	c.hears("Einen Moment bitte.", "Natürlich, lassen Sie sich Zeit. Wait{1m0s}")
	c.hears("Moment noch", "Wait{1m0s}")
	c.turn(conversation.Turn{Kind: conversation.TurnSilence}, "Sind Sie noch da?")
	c.hears("Einen Moment bitte.", "Natürlich, lassen Sie sich Zeit. Wait{1m0s}")
	c.hears("no", "ask.")
	c.hears("yes", "yes.")
	own := newTalk(t, compile(t, nodes(say("ask", start), say("later", nil)), ways("ask later: one moment")))
	own.begins("ask.")
	own.hears("one moment", "later.")
}
