package dialogue

import "cmp"

// Lines contains the sentences that an agent says without a model.
type Lines struct {
	Repeat     string // said if the caller was not understood
	StillThere string // said if the caller is silent
	Goodbye    string // said before the agent ends a call with too much silence or noise
	Apology    string // said if the model has failed
	NotReached string // said if a transfer has failed and the conversation continues
	GoAhead    string // said if the caller has asked the agent to stop, and the agent has nothing else to answer
}

// Filled returns the lines with English sentences in place of empty lines.
func (l Lines) Filled() Lines {
	return Lines{
		Repeat:     cmp.Or(l.Repeat, "Sorry, I did not catch that. Could you say it again?"),
		StillThere: cmp.Or(l.StillThere, "Are you still there?"),
		Goodbye:    cmp.Or(l.Goodbye, "I can't hear you well. Goodbye."),
		Apology:    cmp.Or(l.Apology, "I am sorry, I have a technical problem and must end the call. Goodbye."),
		GoAhead:    cmp.Or(l.GoAhead, "Of course. Please go ahead."),
		NotReached: cmp.Or(l.NotReached, "I am sorry, nobody could be reached. Is there anything else that I can do for you?"),
	}
}
