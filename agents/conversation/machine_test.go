package conversation_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/callwright/callwright/agents/conversation"
)

// moves lists all moves. Each line contains the state before, the event, the state after, and the effects. Every other event must change
// nothing.
const moves = `
greeting callerSpeaks hearing [listen]
greeting digitPressed keying []
greeting callerSilent thinking [begin]
idle callerSpeaks hearing [listen]
idle digitPressed keying [note]
idle callerSilent thinking [answerNone]
idle wordsHeard pausing [carry]
hearing callerPauses pausing [segment]
hearing turnTooLong thinking [segment answer]
hearing digitPressed keying [note]
hearing wordsHeard hearing [carry]
pausing callerSpeaks hearing [listen]
pausing turnLikely proposed [propose]
pausing turnOver thinking [answer]
pausing digitPressed keying [note]
pausing wordsHeard pausing [carry]
proposed callerSpeaks hearing [withdraw listen]
proposed textRevised pausing [withdraw]
proposed turnOver thinking [commit]
proposed digitPressed keying [withdraw note]
proposed wordsHeard pausing [withdraw carry]
keying digitsComplete thinking [answerKeys]
thinking callerSpeaks paused [hold listen]
thinking digitPressed keying [hush note]
thinking wordsHeard pausing [hush carry]
thinking agentAudible speaking []
thinking agentDone idle []
thinking agentLeaves over []
thinking agentFailed leaving [hush apologize]
thinking agentBroken over []
speaking callerSpeaks paused [hold listen]
speaking callerTalksOver talkedOver [listen]
speaking digitPressed keying [hush note]
speaking wordsHeard pausing [hush carry]
speaking agentDone idle []
speaking agentLeaves over []
speaking agentFailed leaving [hush apologize]
speaking agentBroken over []
talkedOver callerSpeaks paused [hold]
talkedOver callerPauses speaking [judge]
talkedOver turnTooLong speaking [judge]
talkedOver digitPressed keying [hush note]
talkedOver wordsHeard hearing [hush carry]
talkedOver agentDone hearing []
talkedOver agentLeaves over []
talkedOver agentFailed leaving [forget hush apologize]
talkedOver agentBroken over []
paused callerPauses judging [judge]
paused callerAcknowledges thinking [judge resume]
paused callerInsists hearing [hush carry]
paused turnTooLong judging [judge]
paused digitPressed keying [hush note]
paused wordsHeard hearing [hush carry]
paused agentDone hearing []
paused agentLeaves over []
paused agentFailed leaving [forget hush apologize]
paused agentBroken over []
judging callerSpeaks paused [listen]
judging callerAcknowledges thinking [resume]
judging digitPressed keying [hush note]
judging wordsHeard pausing [hush carry]
judging nothingHeard thinking [resume]
judging verdictLate thinking [resume]
judging agentDone idle []
judging agentLeaves over []
judging agentFailed leaving [hush apologize]
judging agentBroken over []
leaving agentDone over []
leaving agentLeaves over []
leaving agentFailed over []
leaving agentBroken over []
`

func TestMachineMoves(t *testing.T) {
	t.Parallel()
	var got strings.Builder
	got.WriteString("\n")
	for s := range conversation.States {
		for e := range conversation.Events {
			to, do := conversation.Move(s, e)
			if to == s && len(do) == 0 {
				continue
			}
			if do == nil {
				do = []conversation.Effect{}
			}
			fmt.Fprintln(&got, s, e, to, do)
		}
	}
	if got.String() != moves {
		t.Errorf("the moves are:%s", got.String())
	}
}

func TestMachineStarts(t *testing.T) {
	t.Parallel()
	if s, do := conversation.Start(true); s != conversation.InGreeting || do != nil {
		t.Errorf("waiting for a greeting it starts %v %v", s, do)
	}
	if s, do := conversation.Start(false); s != conversation.InThinking || !slices.Equal(do, []conversation.Effect{conversation.Begin}) {
		t.Errorf("it starts %v %v", s, do)
	}
}

// world simulates the targets of effects: it tracks whether an utterance is open and whether an answer runs.
type world struct {
	state     conversation.State
	utterance bool
	answering bool
	held      bool
	judged    bool // whether the words of an utterance are pending
	proposed  bool // whether the running answer is not certain
	turn      bool // whether the caller's turn contains an utterance
}

// apply performs an effect. It returns a description if the effect is impossible in this world, and "" otherwise.
func (w *world) apply(e conversation.Effect) string {
	switch e {
	case conversation.Listen:
		if w.utterance {
			return "listens twice"
		}
		w.utterance = true
	case conversation.Segment:
		if !w.utterance {
			return "ends what it does not hear"
		}
		w.utterance, w.turn = false, true
	case conversation.Note:
		w.utterance, w.turn, w.judged = false, false, false
	case conversation.Forget:
		if !w.utterance {
			return "forgets what it does not hear"
		}
		w.utterance = false
	case conversation.Hush:
		if !w.answering {
			return "hushes an agent who has no turn"
		}
		w.answering, w.held = false, false
	case conversation.HoldAnswer:
		if !w.answering || w.held {
			return "holds an answer twice, or none"
		}
		w.held = true
	case conversation.ResumeAnswer:
		if !w.held {
			return "resumes an answer that is not held"
		}
		w.held = false
	case conversation.Judge:
		if !w.utterance {
			return "judges what it does not hear"
		}
		w.utterance, w.judged = false, true
	case conversation.Carry:
		w.turn, w.judged = w.turn || w.judged, false
	case conversation.Propose:
		if !w.turn || w.answering {
			return "prepares an answer to nothing, or a second answer"
		}
		w.answering, w.proposed = true, true
	case conversation.Withdraw:
		if !w.proposed {
			return "withdraws a certain answer"
		}
		w.answering, w.proposed = false, false
	case conversation.Commit:
		if !w.proposed {
			return "commits what is not proposed"
		}
		w.proposed, w.turn = false, false
	case conversation.Answer:
		if !w.turn {
			return "answers nothing"
		}
		w.turn, w.judged = false, false
		fallthrough
	default:
		if w.answering {
			return "answers twice"
		}
		w.answering = true
	}
	return ""
}

// happen applies an event to the world. It ignores events that end an answer if no answer runs, and verdicts on words if no words are
// pending. It returns a description of an impossible effect, or "".
func (w *world) happen(e conversation.Event) string {
	switch {
	case e >= conversation.AgentDone && (!w.answering || w.proposed), e == conversation.WordsHeard && !w.judged && w.state != conversation.InPaused:
		return ""
	case e == conversation.NothingHeard && !w.judged:
		return ""
	case e == conversation.NothingHeard:
		w.judged = false
	case e >= conversation.AgentDone && (e != conversation.AgentFailed || w.state == conversation.InLeaving):
		w.answering, w.held = false, false // after a timeout, the failed answer may still run: it is hushed
	default:
	}
	var do []conversation.Effect
	w.state, do = conversation.Move(w.state, e)
	for _, effect := range do {
		if wrong := w.apply(effect); wrong != "" {
			return fmt.Sprintf("%s at %s in %s", wrong, e, w.state)
		}
	}
	return w.holds()
}

// holds checks the invariants of the world's state. It returns a description of a violated invariant, or "".
func (w *world) holds() string {
	in := func(states ...conversation.State) bool { return slices.Contains(states, w.state) }
	held := in(conversation.InPaused, conversation.InJudging)
	turn := held || in(conversation.InProposed, conversation.InThinking, conversation.InSpeaking, conversation.InTalkedOver, conversation.InLeaving)
	switch {
	case w.state == conversation.IsOver:
	case w.utterance != in(conversation.InHearing, conversation.InPaused, conversation.InTalkedOver):
		return fmt.Sprintf("utterance open is %v in %s", w.utterance, w.state)
	case w.proposed != in(conversation.InProposed):
		return fmt.Sprintf("answer proposed is %v in %s", w.proposed, w.state)
	case w.held != held:
		return fmt.Sprintf("answer held is %v in %s", w.held, w.state)
	case w.answering != turn:
		return fmt.Sprintf("answering is %v in %s", w.answering, w.state)
	}
	return ""
}

func TestMachineKeepsItsWord(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := world{}
		var do []conversation.Effect
		w.state, do = conversation.Start(rapid.Bool().Draw(t, "waitForGreeting"))
		for _, e := range do {
			w.apply(e)
		}
		for _, e := range rapid.SliceOf(rapid.Uint8Range(0, uint8(conversation.Events)-1)).Draw(t, "events") {
			over := w.state == conversation.IsOver
			if wrong := w.happen(conversation.Event(e)); wrong != "" {
				t.Fatal(wrong)
			}
			if over && w.state != conversation.IsOver {
				t.Fatalf("%s brings it back to life", conversation.Event(e))
			}
		}
	})
}

// TestMachineEnds checks that some sequence of events leads from every state to the end.
func TestMachineEnds(t *testing.T) {
	t.Parallel()
	ends := map[conversation.State]bool{conversation.IsOver: true}
	for range conversation.States {
		for s := range conversation.States {
			for e := range conversation.Events {
				if to, _ := conversation.Move(s, e); ends[to] {
					ends[s] = true
				}
			}
		}
	}
	for s := range conversation.States {
		if !ends[s] {
			t.Errorf("%s never ends", s)
		}
	}
}

func TestRing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(1, 20).Draw(t, "size")
		r := conversation.NewRing(size)
		var all []int16
		for _, p := range rapid.SliceOf(rapid.SliceOf(rapid.Int16())).Draw(t, "writes") {
			r.Write(p)
			all = append(all, p...)
		}
		n := rapid.IntRange(0, 30).Draw(t, "n")
		want := all[len(all)-min(n, size, len(all)):]
		if got := r.Last(n); !slices.Equal(got, want) {
			t.Errorf("last %d are %v, want %v", n, got, want)
		}
	})
}

func TestHeardOf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		played, total int
		want          string
	}{
		{0, 100, ""}, {20, 100, ""}, {50, 100, "one"}, {99, 100, "one two"}, {100, 100, "one two three"}, {120, 100, "one two three"},
	} {
		if got := conversation.HeardOf("one two three", nil, c.played, c.total); got != c.want {
			t.Errorf("%d of %d: %q, want %q", c.played, c.total, got, c.want)
		}
	}
}
