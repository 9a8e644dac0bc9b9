package conversation

import (
	"context"
	"fmt"
)

// RunWatched is Run. It calls watch with the state before every frame.
func (c *Conversation) RunWatched(ctx context.Context, audio Audio, brain Brain, watch func(State)) (Outcome, error) {
	w := &watched{Audio: audio, watch: watch}
	w.reader = newReader(ctx, c.cfg, w, brain)
	return w.reader.close(ctx, w.reader.read(ctx))
}

type watched struct {
	Audio
	reader *reader
	watch  func(State)
}

func (w *watched) Read(ctx context.Context) (Frame, error) {
	w.watch(w.reader.state)
	return w.Audio.Read(ctx)
}

// The types of the turn machine, for machine_test.go.
type (
	State  = state
	Event  = event
	Effect = effect
)

const (
	States = states
	Events = events

	InGreeting, InIdle, InHearing, InPausing, InProposed, InKeying, InThinking, InSpeaking, InTalkedOver, InPaused, InJudging, InLeaving, IsOver = greeting, idle, hearing, pausing, proposed, keying, thinking, speaking, talkedOver, paused, judging, leaving, over

	AgentDone, AgentFailed, WordsHeard, NothingHeard, Acknowledges = agentDone, agentFailed, wordsHeard, nothingHeard, callerAcknowledges

	Listen, Segment, Forget, Hush, HoldAnswer, ResumeAnswer, Judge, Carry, Note, Propose, Withdraw, Commit, Answer, Begin = listen, segment, forget, hush, hold, resume, judge, carry, note, propose, withdraw, commit, answer, begin
)

// Move and Start are the functions of the turn machine.
var (
	Move  = step
	Start = start
)

// HeardOf exports heardOf, which cuts a text to the played words.
var HeardOf = heardOf

func (s state) String() string {
	return [...]string{"greeting", "idle", "hearing", "pausing", "proposed", "keying", "thinking", "speaking", "talkedOver", "paused", "judging", "leaving", "over"}[s]
}

func (e event) String() string {
	return [...]string{
		"callerSpeaks", "callerTalksOver", "callerPauses", "callerAcknowledges", "callerInsists", "turnLikely", "textRevised", "turnOver", "turnTooLong", "digitPressed", "digitsComplete", "callerSilent", "wordsHeard", "nothingHeard", "verdictLate",
		"agentAudible", "agentDone", "agentLeaves", "agentFailed", "agentBroken",
	}[e]
}

func (e effect) String() string {
	names := [...]string{"listen", "segment", "forget", "hush", "hold", "resume", "judge", "carry", "note", "propose", "withdraw", "commit", "answer", "answerKeys", "answerNone", "begin", "apologize"}
	if int(e) >= len(names) {
		return fmt.Sprint(uint8(e))
	}
	return names[e]
}

// Ring exports the ring buffer of the caller's audio.
type Ring struct{ r *ring }

// NewRing, Write and Last export the functions of the ring buffer.
func NewRing(size int) Ring       { return Ring{&ring{samples: make([]int16, size)}} }
func (r Ring) Write(p []int16)    { r.r.write(p) }
func (r Ring) Last(n int) []int16 { return r.r.last(nil, n) }
