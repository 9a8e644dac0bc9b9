package conversation

// state is a state of the turn taking.
type state uint8

const (
	greeting   state = iota // the agent waits for the caller's greeting before its first sentence
	idle                    // silence in the caller's turn
	hearing                 // the caller speaks; an utterance is open
	pausing                 // the caller's turn is open, but the caller is silent; no utterance is open
	proposed                // like pausing, and the brain prepares an answer to the turn, which is probably over
	keying                  // the caller presses digits
	thinking                // the brain has the turn, and its answer is not audible yet
	speaking                // the agent is audible
	talkedOver              // the agent is audible, and the caller's voice does not pause it, or not yet; an utterance is open
	paused                  // the answer is held, and the caller speaks; an utterance is open
	judging                 // the answer is held until the caller's words are recognized
	leaving                 // the agent apologizes for a failure, and then ends
	over                    // the conversation has ended
	states
)

// event is an event that the turn taking reacts to.
type event uint8

const (
	callerSpeaks       event = iota // voice that is long enough for the state: see agentHasFloor
	callerTalksOver                 // the same voice over words that no voice interrupts, or a voice that is too short to pause the agent
	callerPauses                    // no voice for the time that ends an utterance: see segmentPause
	callerAcknowledges              // the partial words over a held answer do not interrupt the agent
	callerInsists                   // voice in a held answer that is longer than any back-channel
	turnLikely                      // the silence has reached the time after which the turn is probably over
	textRevised                     // the words of the turn differ from the words that the brain answers
	turnOver                        // the silence has reached the wait of the TurnDetector
	turnTooLong                     // the turn has reached twice Config.MaxTurn, or the overlapping utterance Config.MaxTurn
	digitPressed                    // a digit of the caller arrived
	digitsComplete                  // Config.InterDigit is over, or # was pressed
	callerSilent                    // silence of the caller for Config.Silence
	wordsHeard                      // overlapping words that interrupt the agent were recognized
	nothingHeard                    // no overlapping utterance contained words that interrupt the agent
	verdictLate                     // the recognizer did not return the overlapping words in time
	agentAudible                    // the first sample of the answer was played
	agentDone                       // the whole answer was played, or there was nothing to say
	agentLeaves                     // the answer ended or transferred the call, and was played
	agentFailed                     // the answer failed before its first words or took too long, or the recognizer failed repeatedly
	agentBroken                     // the answer failed after its first words, or the agent cannot speak any more
	events
)

// effect is an action that a move requires.
type effect uint8

const (
	listen     effect = iota // open an utterance, beginning with the audio shortly before the voice
	segment                  // finish the utterance, which belongs to the caller's turn
	forget                   // abandon the utterance
	hush                     // silence the agent immediately and stop its brain
	hold                     // silence the agent immediately, so that resume can continue the answer
	resume                   // continue the held answer from the beginning of the held word
	judge                    // finish the utterance and wait for its words
	carry                    // add the words of judged utterances, and of a turn that the brain has not received, to the caller's turn
	note                     // end the caller's turn, and write its words and those of judged utterances to the transcript only
	propose                  // let the brain prepare an answer to the caller's turn
	withdraw                 // withdraw the prepared answer
	commit                   // play the prepared answer
	answer                   // let the brain answer the caller's turn
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
		digitPressed: {keying, []effect{note}},
		callerSilent: {thinking, []effect{answerNone}},
		wordsHeard:   {pausing, []effect{carry}}, // recognized after the end of the answer
	},
	hearing: {
		wordsHeard:   {hearing, []effect{carry}},
		callerPauses: {pausing, []effect{segment}},
		turnTooLong:  {thinking, []effect{segment, answer}},
		digitPressed: {keying, []effect{note}},
	},
	pausing: {
		callerSpeaks: {hearing, []effect{listen}},
		wordsHeard:   {pausing, []effect{carry}},
		turnLikely:   {proposed, []effect{propose}},
		turnOver:     {thinking, []effect{answer}},
		digitPressed: {keying, []effect{note}},
	},
	proposed: {
		callerSpeaks: {hearing, []effect{withdraw, listen}},
		wordsHeard:   {pausing, []effect{withdraw, carry}},
		textRevised:  {pausing, []effect{withdraw}},
		turnOver:     {thinking, []effect{commit}},
		digitPressed: {keying, []effect{withdraw, note}},
	},
	keying: {
		digitsComplete: {thinking, []effect{answerKeys}},
	},
	thinking: {
		callerSpeaks: {paused, []effect{hold, listen}}, // the caller may continue the previous turn
		wordsHeard:   {pausing, []effect{hush, carry}}, // recognized after verdictLate
		digitPressed: {keying, []effect{hush, note}},
		agentAudible: {speaking, nil},
		agentDone:    {idle, nil},
		agentLeaves:  {over, nil},
		agentFailed:  {leaving, []effect{hush, apologize}},
		agentBroken:  {over, nil},
	},
	speaking: {
		callerSpeaks:    {paused, []effect{hold, listen}}, // perhaps barge-in
		callerTalksOver: {talkedOver, []effect{listen}},
		wordsHeard:      {pausing, []effect{hush, carry}},
		digitPressed:    {keying, []effect{hush, note}}, // a key is never noise
		agentDone:       {idle, nil},
		agentLeaves:     {over, nil},
		agentFailed:     {leaving, []effect{hush, apologize}},
		agentBroken:     {over, nil},
	},
	talkedOver: {
		callerSpeaks: {paused, []effect{hold}}, // a voice interrupts the following words
		callerPauses: {speaking, []effect{judge}},
		turnTooLong:  {speaking, []effect{judge}},
		wordsHeard:   {hearing, []effect{hush, carry}}, // words of an earlier utterance, recognized after verdictLate
		digitPressed: {keying, []effect{hush, note}},
		agentDone:    {hearing, nil},
		agentLeaves:  {over, nil},
		agentFailed:  {leaving, []effect{forget, hush, apologize}},
		agentBroken:  {over, nil},
	},
	paused: {
		callerInsists:      {hearing, []effect{hush, carry}},
		callerAcknowledges: {thinking, []effect{judge, resume}}, // agentAudible follows if the answer was audible before
		callerPauses:       {judging, []effect{judge}},
		turnTooLong:        {judging, []effect{judge}},
		wordsHeard:         {hearing, []effect{hush, carry}}, // partial words, or words of the utterance before
		digitPressed:       {keying, []effect{hush, note}},
		agentDone:          {hearing, nil}, // the answer was over before it was held
		agentLeaves:        {over, nil},
		agentFailed:        {leaving, []effect{forget, hush, apologize}},
		agentBroken:        {over, nil},
	},
	judging: {
		callerSpeaks:       {paused, []effect{listen}},
		callerAcknowledges: {thinking, []effect{resume}},
		wordsHeard:         {pausing, []effect{hush, carry}},
		nothingHeard:       {thinking, []effect{resume}},
		verdictLate:        {thinking, []effect{resume}},
		digitPressed:       {keying, []effect{hush, note}},
		agentDone:          {idle, nil},
		agentLeaves:        {over, nil},
		agentFailed:        {leaving, []effect{hush, apologize}},
		agentBroken:        {over, nil},
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

// agentHasFloor reports whether the agent speaks, is about to speak or is held. Then only a voice that lasts for Config.Interruption counts.
func (s state) agentHasFloor() bool {
	return s == thinking || s.audible() || s == paused || s == judging
}

// audible reports whether the agent speaks, even if the caller speaks, too.
func (s state) audible() bool { return s == speaking || s == talkedOver }
