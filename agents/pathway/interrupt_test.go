package pathway_test

import (
	"context"
	"encoding/json"
	"fmt"
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
		say("hours", data{"isGlobal": true, "globalLabel": "hours"}),
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
			{cut("hm what", "One. Tw"), "Two. Three. Is it four?"},
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
		"by a noise, and then by words": {
			{cut("", "One."), "Two. Three. Is it four?"},
			{cut("hm what", "Two."), "Three. Is it four?"},
		},
		"by a noise after a request to stop": {
			{cut("wait", "One."), "Of course. Please go ahead."},
			{cut("", "Of course."), "Please go ahead."},
			{speech("hm what"), "Two. Three. Is it four?"},
		},
		"by an aside after the whole text": {
			{speech("cost"), "price. Is it four?"},
			{cut("cost", "price. Is"), "price. Is it four?"},
			{cut("hm what", "pri"), "price. Is it four?"},
			{cut("hm what", "price."), "Is it four?"},
		},
		"by an aside that waits": {
			{cut("hours", "One."), "hours."},
			{speech("thanks"), "Two. Three. Is it four?"},
			{speech("hours"), "hours."},
			{speech("thanks"), "Is it four?"},
			{speech("yes"), "Five. Six. End{the pathway has come to its end}"},
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

// TestModelAnswersAnInterruptedText checks that a model answers the words that interrupt a text, what it knows of the text, and that the text
// goes on after the answer, unless the caller has asked the agent to stop or to wait, or the answer is a question.
func TestModelAnswersAnInterruptedText(t *testing.T) {
	t.Parallel()
	m := literal()
	m.Says = func(_ context.Context, r llm.ReplyRequest) ([]llm.ReplyPart, error) {
		switch last := r.Messages[len(r.Messages)-1].Text; {
		case strings.HasSuffix(last, "how so"):
			return agentstest.Texts("How do you mean that?"), nil
		case strings.HasSuffix(last, "nothing"):
			return agentstest.Texts(" ", "\n"), nil
		}
		return agentstest.Texts("Because."), nil
	}
	c := newTalk(t, longText(t))
	c.interpreter.Model = m
	c.begins("One. Two. Three. Is it four?")
	c.turn(cut("wait, I have a question", "One."), "Because.")
	c.hears("but why", "Because. Two. Three. Is it four?")
	c.turn(cut("how so", "Because. Two."), "How do you mean that?")
	c.hears("one moment please", "Because.")
	c.turn(cut("nothing", "Because."), "Three. Is it four?")
	c.hears("and then", "Because. Is it four?")
	want := []string{"Two. Three. Is it four?", "Two. Three. Is it four?", "Three. Is it four?", "Three. Is it four?", "Three. Is it four?", "Three. Is it four?", ""}
	for i, r := range m.Requests() {
		if r.Unheard != want[i] || !strings.Contains(r.Instructions, "has interrupted you") || r.Messages[0].Text != "One." {
			t.Errorf("request %d: unheard %q, messages %+v", i, r.Unheard, r.Messages)
		}
	}
	if n := len(m.Requests()); n != len(want) {
		t.Errorf("%d requests", n)
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

// anySentences returns a text of sentences with different words, commas, semicolons and line breaks, and its sentences. The last sentence
// may be a question.
func anySentences(t *rapid.T) (text string, sentences []string) {
	word, last := 0, rapid.IntRange(0, 4).Draw(t, "last")
	for n := range last + 1 {
		var words []string
		for range rapid.IntRange(1, 7).Draw(t, "words") {
			words = append(words, fmt.Sprintf("w%02d%s", word, rapid.SampledFrom([]string{"", "", ",", ";"}).Draw(t, "mark")))
			word++
		}
		s := strings.TrimRight(strings.Join(words, " "), ",;") + "."
		if n == last && rapid.Bool().Draw(t, "question") {
			s = strings.TrimSuffix(s, ".") + "?"
		}
		sentences = append(sentences, s)
		text += s + rapid.SampledFrom([]string{" ", "\n"}).Draw(t, "gap")
	}
	return strings.TrimSpace(text), sentences
}

// listener simulates the ears of a caller who hears a node's text in parts.
type listener struct {
	*rapid.T
	sentences []string
	whole     map[string]bool // sentences that were heard completely
	words     map[string]bool // words that were heard
}

// hears checks that the agent says no sentence again that the caller has heard completely, except for the last sentence, which is the
// node's question. It then counts the heard part.
func (l listener) hears(said, heard string) {
	for i, s := range l.sentences {
		if l.whole[s] && strings.Contains(said, s) && i < len(l.sentences)-1 {
			l.Fatalf("%q contains %q, which was heard before", said, s)
		}
		l.whole[s] = l.whole[s] || strings.Contains(heard, s)
	}
	for _, w := range strings.Fields(heard) {
		l.words[w] = true
	}
}

// TestNothingHeardIsRepeated checks with random texts and interruptions that no sentence of a text that was heard completely is said again,
// that the caller hears every word in the end, and that the agent asks its question whenever the caller owes the answer.
func TestNothingHeardIsRepeated(t *testing.T) {
	t.Parallel()
	answering := literal()
	answering.Says = func(_ context.Context, r llm.ReplyRequest) ([]llm.ReplyPart, error) {
		if len(r.Messages)%3 == 0 {
			return agentstest.Texts("How do you mean?"), nil
		}
		return agentstest.Texts("Because so."), nil
	}
	rapid.Check(t, func(r *rapid.T) {
		whole, sentences := anySentences(r)
		c := newTalk(t, compile(t, nodes(node("long", graph.NodeDefault, data{"isStart": true, "text": whole}),
			say("price", data{"isGlobal": true, "globalLabel": "cost", "enableGlobalAutoReturn": true}),
			say("hours", data{"isGlobal": true, "globalLabel": "hours"}), say("end", nil)), ways("long end: yes")))
		c.interpreter.Model = rapid.SampledFrom([]*agentstest.Model{mute(), answering}).Draw(r, "model")
		l := listener{r, sentences, map[string]bool{}, map[string]bool{}}
		turn, text := conversation.Turn{Kind: conversation.TurnStart}, ""
		for range rapid.IntRange(1, 8).Draw(r, "turns") {
			steps := rapid.SampledFrom([]int{1, 2, 3, 99, 99, 99}).Draw(r, "steps")
			said, err := c.step(t.Context(), turn, steps)
			if err != nil {
				r.Fatal(err)
			}
			end := strings.Fields(sentences[len(sentences)-1])
			asks := strings.HasSuffix(said, end[len(end)-1]) || strings.HasSuffix(said, "?")
			if c.state.Over {
				return // after too much noise
			}
			if owed := c.state.Node == "long" && steps == 99 && turn.Text != "" && text != "wait a second"; owed && !asks {
				r.Fatalf("after %q it says %q, and does not ask", turn.Text, said)
			}
			heard := strings.TrimSpace(said[:rapid.IntRange(0, len(said)).Draw(r, "heard")])
			if steps == 99 && rapid.IntRange(0, 3).Draw(r, "patient") == 0 {
				heard = said
				turn = speech(rapid.SampledFrom([]string{"cost", "hours"}).Draw(r, "aside"))
			} else {
				turn = cut(rapid.SampledFrom([]string{"hm what", "wait a second", "cost", "hours", "why is that", ""}).Draw(r, "text"), heard)
			}
			if turn.Text == "" && heard == said && c.state.Talk.Unsaid == "" {
				turn = speech("cost") // because a noise after the text does not interrupt it
			}
			text = turn.Text
			l.hears(said, heard)
		}
		for range 2 {
			said, err := c.step(t.Context(), turn, 99)
			if err != nil {
				r.Fatal(err)
			}
			if c.state.Over {
				return
			}
			l.hears(said, said)
			turn = speech("cost")
		}
		for _, w := range strings.Fields(strings.Join(sentences, " ")) {
			if !l.words[w] {
				r.Fatalf("%q was never heard: %v", w, l.words)
			}
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
