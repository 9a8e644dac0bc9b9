package conversation

// state is whose turn it is.
type state uint8

const (
	greeting state = iota // the agent waits for the caller's greeting before its first sentence
	idle                  // nobody speaks, and it is the caller's turn
	hearing               // the caller speaks; an utterance is open
	keying                // the caller presses digits
	thinking              // the brain has a turn, and nothing of its answer is audible
	speaking              // the agent is heard
	leaving               // the agent apologizes for a failure, and that is all it will do
	over                  // the conversation has ended
	states
)

// event is what happens.
type event uint8

const (
	callerSpeaks   event = iota // voice for long enough; how long that is depends on the state, see insistence
	callerPauses                // no voice for the end-of-turn wait
	callerRambles               // the utterance has the greatest length
	digitPressed                //
	digitsComplete              // the inter-digit time is over, or # was pressed
	callerSilent                // nothing from the caller for the silence time
	agentAudible                // the first sample of the answer was played
	agentDone                   // everything of the answer was played, or there was nothing to say
	agentLeaves                 // the answer ended or transferred the call, after all of it was played
	agentFailed                 // no answer came about: an error, or none in time
	agentBroken                 // an error after which nothing more can be said
	events
)

// effect is what to do about it, in order.
type effect uint8

const (
	listen     effect = iota // open an utterance, from shortly before the voice began
	forget                   // abandon the utterance
	hush                     // silence the agent at once and stop its brain; what was heard is kept
	answer                   // finish the utterance and have the brain answer it
	answerKeys               // have the brain answer the digits
	answerNone               // have the brain answer the caller's silence
	begin                    // have the brain speak first
	apologize                // say that something went wrong, then leave
)

// move is an entry of the table: where to, and what to do.
type move struct {
	to state
	do []effect
}

// table is the turn taking. What is not in it changes nothing: a cough while the agent speaks, an answer that became
// complete when the call was already over.
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
		callerPauses:  {thinking, []effect{answer}},
		callerRambles: {thinking, []effect{answer}},
		digitPressed:  {keying, []effect{forget}}, // what opened the utterance was the sound of the key
	},
	keying: {
		digitsComplete: {thinking, []effect{answerKeys}},
	},
	thinking: {
		callerSpeaks: {hearing, []effect{hush, listen}}, // the caller had not finished
		digitPressed: {keying, []effect{hush}},
		agentAudible: {speaking, nil},
		agentDone:    {idle, nil},
		agentLeaves:  {over, nil},
		agentFailed:  {leaving, []effect{hush, apologize}},
		agentBroken:  {over, nil},
	},
	speaking: {
		callerSpeaks: {hearing, []effect{hush, listen}}, // barge-in
		digitPressed: {keying, []effect{hush}},          // a key is always meant
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

// step is the machine: a pure function of the table.
func step(s state, e event) (state, []effect) {
	m, ok := table[s][e]
	if !ok {
		return s, nil
	}
	return m.to, m.do
}

// start is the state before the first frame, and what it begins with.
func start(waitForGreeting bool) (state, []effect) {
	if waitForGreeting {
		return greeting, nil
	}
	return thinking, []effect{begin}
}

// insistence says whether a voice must insist in this state to count: the agent has the floor, or is about to take it.
func (s state) insistence() bool { return s == thinking || s == speaking }
