package scripted_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright/adapters/scripted"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/prompted"
)

// lines is an observer that records the transcript of a call.
type lines struct{ all []string }

func (l *lines) Entry(e conversation.Entry) {
	text := string(e.Role) + ": " + e.Text
	if e.Interrupted {
		text += " [interrupted]"
	}
	l.all = append(l.all, text)
}

// call runs a call between the stand-in and a phone. The phone says the second text of each pair once it has heard the first. call returns
// the transcript, the outcome, and the hints for each utterance.
func call(t *testing.T, c prompted.Config, script ...[2]string) ([]string, conversation.Outcome, [][]string) {
	t.Helper()
	var l lines
	var out conversation.Outcome
	var hints [][]string
	synctest.Test(t, func(t *testing.T) {
		c.Model = scripted.New()
		brain, err := prompted.New(c)
		if err != nil {
			t.Fatal(err)
		}
		talk, err := conversation.New(conversation.Config{
			Synthesizer: &agentstest.Synthesizer{}, Observer: &l,
			Recognizer: &agentstest.Recognizer{Hear: func(h conversation.Hearing) { hints = append(hints, h.Phrases) }},
		})
		if err != nil {
			t.Fatal(err)
		}
		phone := agentstest.NewPhone(agentstest.PhoneConfig{})
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
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
		if out, err = talk.Run(ctx, phone.Leg(), brain); err != nil {
			t.Error(err)
		}
		phone.Hangup()
		wait.Wait()
	})
	return l.all, out, hints
}

// TestCallWithOnlyATask checks that an agent without rules says its first sentence, records the caller's answer, and says goodbye.
func TestCallWithOnlyATask(t *testing.T) {
	t.Parallel()
	got, out, _ := call(t, prompted.Config{Task: "Take a message.", FirstSentence: "Hello {{name}}, what is it?", Variables: map[string]any{"name": "Ada"}},
		[2]string{"is it?", "I am late."})
	want := "agent: Hello Ada, what is it?\ncaller: I am late.\nagent: Thank you. I have noted that. Goodbye."
	if strings.Join(got, "\n") != want || out.By != conversation.ByAgent {
		t.Errorf("outcome %+v, transcript\n%s", out, strings.Join(got, "\n"))
	}
}

// TestCallWithRules checks that over several turns the agent's next words follow the caller's words.
func TestCallWithRules(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		script [][2]string
		want   string
		hints  string
	}{
		"to the appointment": {
			[][2]string{{"Tuesday?", "on Tuesday"}, {"afternoon?", "the morning, please"}},
			"agent: Good morning. Monday or Tuesday?|caller: on Tuesday|agent: In the morning or in the afternoon?|" +
				"caller: the morning, please|agent: That is noted. Goodbye.",
			"[[monday tuesday human] [morning afternoon monday tuesday human]]",
		},
		"to a person": {
			[][2]string{{"Tuesday?", "hm"}, {"Tuesday?Monday or Tuesday?", "a human"}},
			"agent: Good morning. Monday or Tuesday?|caller: hm|agent: Monday or Tuesday?|caller: a human|agent: One moment, please.",
			"[[monday tuesday human] [monday tuesday human]]",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, out, hints := call(t, prompted.Config{Task: good, TransferTo: "+15550100"}, c.script...)
			if strings.Join(got, "|") != c.want || out.By != conversation.ByAgent {
				t.Errorf("outcome %+v, transcript\n%s", out, strings.Join(got, "\n"))
			}
			if transferred := out.TransferTo != ""; transferred != (name == "to a person") {
				t.Errorf("transferred to %q", out.TransferTo)
			}
			if got := fmt.Sprint(hints); got != c.hints {
				t.Errorf("the recognizer expected %s", got)
			}
		})
	}
}
