package conversation

import "fmt"

// The types of the turn machine, for machine_test.go.
type (
	State  = state
	Event  = event
	Effect = effect
)

const (
	States = states
	Events = events

	InGreeting, InHearing, InThinking, InSpeaking, InLeaving, IsOver = greeting, hearing, thinking, speaking, leaving, over

	AgentDone, AgentFailed = agentDone, agentFailed

	Listen, Forget, Hush, Answer, Begin = listen, forget, hush, answer, begin
)

// Move and Start are the functions of the turn machine.
var (
	Move  = step
	Start = start
)

// HeardOf exports heardOf, which cuts a text to the played words.
var HeardOf = heardOf

func (s state) String() string {
	return [...]string{"greeting", "idle", "hearing", "keying", "thinking", "speaking", "leaving", "over"}[s]
}

func (e event) String() string {
	return [...]string{
		"callerSpeaks", "callerPauses", "turnTooLong", "digitPressed", "digitsComplete", "callerSilent",
		"agentAudible", "agentDone", "agentLeaves", "agentFailed", "agentBroken",
	}[e]
}

func (e effect) String() string {
	names := [...]string{"listen", "forget", "hush", "answer", "answerKeys", "answerNone", "begin", "apologize"}
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
