package pathway_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/agents/request"
)

// transcript records the words of a call.
type transcript struct{ lines []string }

func (l *transcript) Entry(e conversation.Entry) {
	l.lines = append(l.lines, strings.TrimSpace(string(e.Role)+": "+e.Text))
}

// TestCall checks two interruptions of a call. The first cancels a hanging request, which is then repeated. The second interrupts the last
// words, whose rest the agent then says from the start of the interrupted clause.
func TestCall(t *testing.T) {
	t.Parallel()
	g := compile(t, nodes(say("ask", data{"isStart": true, "text": "Which day?"}),
		node("hook", graph.NodeWebhook, data{"text": "One moment.", "url": "https://example.com/"}),
		node("end", graph.NodeEnd, data{"text": "Your wish was noted, and somebody will call you back as soon as anybody can. Goodbye."})), ways("ask hook: monday", "hook end"))
	synctest.Test(t, func(t *testing.T) {
		client := &agentstest.Requests{}
		client.Answer = func(ctx context.Context, _ request.Request) (request.Response, error) {
			if len(client.Made()) > 1 {
				return request.Response{Status: 200}, nil
			}
			<-ctx.Done()
			return request.Response{}, ctx.Err()
		}
		var logs []pathway.Log
		brain := must(pathway.NewBrain(pathway.BrainConfig{
			Interpreter: &pathway.Interpreter{Model: literal(), Requests: client}, Graph: g,
			Observer: func(l pathway.Log) { logs = append(logs, l) },
		}))
		var said transcript
		out := callWith(t, brain, &said, [][2]string{{"day?", "monday"}, {"moment.", "hello"}, {"Your wish was", "thanks, goodbye"}})
		got := strings.Join(said.lines, "\n")
		last, begun := strings.CutPrefix(got, "agent: Which day?\ncaller: monday\nagent: One moment.\ncaller: hello\nagent: ")
		heard, rest, cut := strings.Cut(last, "\ncaller: thanks, goodbye\nagent: ")
		const words = "Your wish was noted, and somebody will call you back as soon as anybody can. Goodbye."
		if !begun || !cut || !strings.HasPrefix(words, heard) || rest != words && rest != strings.TrimPrefix(words, "Your wish was noted, ") {
			t.Errorf("the transcript is\n%s", got)
		}
		if out.By != conversation.ByAgent || out.Reason != "the pathway has come to its end" || len(client.Made()) != 2 {
			t.Errorf("the outcome is %+v after %d requests", out, len(client.Made()))
		}
		if s := brain.State(); !s.Over || strings.Join(s.Visited, " ") != "ask hook end" || len(logs) != 4 {
			t.Errorf("the state is %+v after %d turns", s, len(logs))
		}
	})
}

// TestLongTextInACall checks that a caller who acknowledges a long text, asks the agent to stop, and then listens on, hears every sentence
// of the text once.
func TestLongTextInACall(t *testing.T) {
	t.Parallel()
	const text = "Thank you for calling the office of the city. We are open from nine to five on every day of the week but Sunday. " +
		"For a passport you need two pictures and your old passport. For a permit you need a plan of your house. Goodbye."
	g := compile(t, nodes(node("long", graph.NodeDefault, data{"isStart": true, "text": text}), node("end", graph.NodeEnd, nil)), ways("long end: done"))
	synctest.Test(t, func(t *testing.T) {
		brain := must(pathway.NewBrain(pathway.BrainConfig{
			Interpreter: &pathway.Interpreter{Model: mute(), Requests: &agentstest.Requests{}}, Graph: g,
		}))
		var said transcript
		callWith(t, brain, &said, [][2]string{
			{"of the city", "uh huh"}, {"from nine", "wait please I have a question"}, {"go ahead.", "hm what"}, {"Goodbye.", "done"},
		})
		whole := 0 // sentences that were heard completely
		for _, line := range said.lines {
			if own, ok := strings.CutPrefix(line, "agent: "); ok && own != "Of course. Please go ahead." {
				for sentence := range strings.SplitAfterSeq(text, ".") {
					if sentence != "" && strings.Contains(own, strings.TrimSpace(sentence)) {
						whole++
					}
				}
			}
		}
		if last := said.lines[len(said.lines)-2]; whole != 5 || !strings.HasSuffix(text, strings.TrimPrefix(last, "agent: ")) {
			t.Errorf("the transcript is\n%s", strings.Join(said.lines, "\n"))
		}
	})
}

// callWith runs a call with a phone. Each line of the script contains the words that the phone waits for, and the text that it says half a
// second later.
func callWith(t *testing.T, brain conversation.Brain, said *transcript, script [][2]string) conversation.Outcome {
	t.Helper()
	c, err := conversation.New(conversation.Config{
		Synthesizer: &agentstest.Synthesizer{}, Recognizer: &agentstest.Recognizer{}, Observer: said,
	})
	if err != nil {
		t.Fatal(err)
	}
	phone := agentstest.NewPhone(agentstest.PhoneConfig{})
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	var wait sync.WaitGroup
	wait.Go(func() {
		for _, s := range script {
			if err := phone.WaitHeard(ctx, s[0]); err != nil {
				t.Error(err)
				return
			}
			phone.Play(make([]int16, 4000))
			phone.Say(s[1])
		}
	})
	out, err := c.Run(ctx, phone.Leg(), brain)
	if err != nil {
		t.Error(err)
	}
	phone.Hangup()
	wait.Wait()
	return out
}
