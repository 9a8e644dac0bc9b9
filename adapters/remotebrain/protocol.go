package remotebrain

// Protocol is the version of the protocol, which every request contains.
const Protocol = 1

// Request is the body of a request: a turn that the service must answer, with all that is known about the conversation. A service may
// answer from the request alone, and needs no state.
type Request struct {
	Protocol     int    `json:"protocol"`
	Conversation string `json:"conversation"` // id of the conversation; for a call, the id of its record
	Turn         Turn   `json:"turn"`

	// Early means that the caller may still continue. The service may answer, but must do nothing outside of its answer. If it must, it ends
	// its answer with LineCommit. Once the caller has finished, it is asked again with Early unset and Said set.
	Early bool `json:"early"`
	// Said contains the words of the answer so far, if the request asks for the rest of an answer that ended with LineCommit.
	Said string `json:"said,omitempty"`

	// Messages contains the conversation so far, oldest first, with the words of this turn. It contains only the heard part of the service's
	// words. The oldest messages are left out if there are more than MaxMessages bytes; Omitted is their number.
	Messages  []Message      `json:"messages"`
	Omitted   int            `json:"omitted,omitempty"`
	Variables map[string]any `json:"variables"` // of the call, and those that the service has set

	Language   string `json:"language,omitempty"` // BCP 47
	From       string `json:"from,omitempty"`     // E.164
	To         string `json:"to,omitempty"`       // E.164
	Direction  string `json:"direction,omitempty"`
	TransferTo string `json:"transfer_to,omitempty"` // target of a transfer without a target: the agent's number
}

// The values of Request.Direction.
const (
	Inbound  = "inbound"
	Outbound = "outbound"
)

// Turn is the JSON form of a conversation.Turn.
type Turn struct {
	// Number counts the turns of the conversation from 1. A request with the number of an earlier one replaces it: the earlier turn has been
	// withdrawn, or the request is repeated.
	Number int    `json:"number"`
	Kind   string `json:"kind"` // a conversation.TurnKind
	Text   string `json:"text"` // words, empty if none were understood; or digits
	// Digits are the digits in Text, also those that were said as words, such as "double oh seven": see expect.DigitsIn. Empty if there are none.
	Digits string `json:"digits,omitempty"`

	Interrupted bool   `json:"interrupted"`       // whether the caller interrupted the last answer
	Heard       string `json:"heard,omitempty"`   // part of that answer that was played
	Unheard     string `json:"unheard,omitempty"` // rest of that answer, from the start of the interrupted sentence
}

// Message is a message of the conversation.
type Message struct {
	Role string `json:"role"` // RoleCaller or RoleAgent
	Text string `json:"text"`
}

// The values of Message.Role.
const (
	RoleCaller = "caller"
	RoleAgent  = "agent"
)

// Line is one line of an answer. The other members have a meaning only for the types of lines in their comments. Unknown members are ignored.
type Line struct {
	Type string `json:"type"`

	Text string `json:"text,omitempty"` // for LineSay and LineText

	Phrases   []string `json:"phrases,omitempty"`    // for LineExpect; see conversation.Expect
	Kind      string   `json:"kind,omitempty"`       // for LineExpect; an expect.Kind
	Min       int      `json:"min,omitempty"`        // for LineExpect
	Max       int      `json:"max,omitempty"`        // for LineExpect
	LeastMS   int      `json:"least_ms,omitempty"`   // for LineExpect, in milliseconds
	LongestMS int      `json:"longest_ms,omitempty"` // for LineExpect, in milliseconds

	Level       *int `json:"level,omitempty"`        // for LineBargeIn, from 0 (never) to 4 (immediately); nil means the agent's setting
	ThresholdMS int  `json:"threshold_ms,omitempty"` // for LineBargeIn, in milliseconds

	Seconds float64 `json:"seconds,omitempty"` // for LineWait

	Digits string `json:"digits,omitempty"` // for LinePress
	Show   bool   `json:"show,omitempty"`   // for LinePress

	To string `json:"to,omitempty"` // for LineTransfer; empty means Request.TransferTo

	Reason string `json:"reason,omitempty"` // for LineEnd

	Variables map[string]any `json:"variables,omitempty"` // for LineSet

	Early bool `json:"early,omitempty"` // for LineDone: whether the next turn may be early

	Code    string `json:"code,omitempty"`    // for LineError
	Message string `json:"message,omitempty"` // for LineError
}

// The types of lines. An answer consists of any number of the first seven, and one of the last five.
const (
	LineSay     = "say"      // a whole text to speak
	LineText    = "text"     // a piece of a text, as a model streams it; it is spoken sentence by sentence
	LineExpect  = "expect"   // what the caller will say
	LineBargeIn = "barge_in" // which voice interrupts the following words
	LineWait    = "wait"     // how long the caller may be silent
	LinePress   = "press"    // DTMF digits
	LineSet     = "set"      // variables of the call

	LineDone     = "done"     // the answer is complete
	LineCommit   = "commit"   // the rest of the answer follows when the turn is certain
	LineTransfer = "transfer" // a transfer after all words
	LineEnd      = "end"      // the end of the conversation after all words
	LineError    = "error"    // the service has failed
)

// The limits of requests and answers.
const (
	MaxMessages  = 128 << 10 // bytes of Request.Messages
	MaxLine      = 64 << 10  // bytes of a line
	MaxLines     = 10_000    // lines of an answer
	MaxSets      = 100       // LineSet of an answer
	MaxVariables = 64 << 10  // bytes of all variables that the service has set in the conversation, as JSON; a replaced value does not count
)
