package conversation

// state is a state of the turn taking.
type state uint8

const (
	greeting state = iota // the agent waits for the caller's greeting before its first sentence
	idle                  // silence in the caller's turn
	hearing               // the caller speaks; an utterance is open
	keying                // the caller presses digits
	thinking              // the brain has the turn, and its answer is not audible yet
	speaking              // the agent is audible
	leaving               // the agent apologizes for a failure, and then ends
	over                  // the conversation has ended
	states
)

// event is an event that the turn taking reacts to.
type event uint8

const (
	callerSpeaks   event = iota // voice that is long enough for the state: see agentHasFloor
	callerPauses                // no voice for Config.EndOfTurn
	turnTooLong                 // the utterance has reached Config.MaxTurn
	digitPressed                //
	digitsComplete              // Config.InterDigit is over, or # was pressed
	callerSilent                // silence of the caller for Config.Silence
	agentAudible                // the first sample of the answer was played
	agentDone                   // the whole answer was played, or it was empty
	agentLeaves                 // the answer ended or transferred the call, and was played
	agentFailed                 // the answer failed, with an error or a timeout
	agentBroken                 // the answer failed, and the agent cannot speak any more
	events
)

// effect is an action that a move requires.
type effect uint8

const (
	listen     effect = iota // open an utterance, beginning with the audio shortly before the voice
	forget                   // abandon the utterance
	hush                     // silence the agent immediately and stop its brain
	answer                   // finish the utterance and let the brain answer it
	answerKeys               // let the brain answer the digits
	answerNone               // let the brain answer the caller's silence
	begin                    // let the brain speak first
	apologize                // say the apology, then end
)

// move is an entry of the table: the next state, and the effects in order.
type move struct {
	to state
	do []effect
}

// table implements the turn taking. An event that it does not list changes nothing, for example the end of an answer after the end of the
// conversation.
var table = [states]map[event]move{
	greeting: {
		callerSpeaks: {hearing, []effect{listen}},
		digitPressed: {keying, nil},
		callerSilent: {thinking, []effect{begin}},
	},
	idle: {
		callerSpeaks: {hearing, []effect{listen}},
		digitPressed: {keying, nil},
		callerSilent: {thinking, []effect{answerNone}},
	},
	hearing: {
		callerPauses: {thinking, []effect{answer}},
		turnTooLong:  {thinking, []effect{answer}},
		digitPressed: {keying, []effect{forget}}, // the sound of the key has opened the utterance
	},
	keying: {
		digitsComplete: {thinking, []effect{answerKeys}},
	},
	thinking: {
		callerSpeaks: {hearing, []effect{hush, listen}}, // the caller continues the previous turn
		digitPressed: {keying, []effect{hush}},
		agentAudible: {speaking, nil},
		agentDone:    {idle, nil},
		agentLeaves:  {over, nil},
		agentFailed:  {leaving, []effect{hush, apologize}},
		agentBroken:  {over, nil},
	},
	speaking: {
		callerSpeaks: {hearing, []effect{hush, listen}}, // barge-in
		digitPressed: {keying, []effect{hush}},          // a key is never noise
		agentDone:    {idle, nil},
		agentLeaves:  {over, nil},
		agentFailed:  {leaving, []effect{hush, apologize}},
		agentBroken:  {over, nil},
	},
	leaving: {
		agentDone:   {over, nil},
		agentLeaves: {over, nil},
		agentFailed: {over, nil},
		agentBroken: {over, nil},
	},
	over: {},
}

// step returns the next state and the effects of an event.
func step(s state, e event) (state, []effect) {
	m, ok := table[s][e]
	if !ok {
		return s, nil
	}
	return m.to, m.do
}

// start returns the first state of a conversation and its effects.
func start(waitForGreeting bool) (state, []effect) {
	if waitForGreeting {
		return greeting, nil
	}
	return thinking, []effect{begin}
}

// agentHasFloor reports whether the agent speaks or is about to speak. Then only a voice that lasts for Config.Interruption counts.
func (s state) agentHasFloor() bool { return s == thinking || s == speaking }
