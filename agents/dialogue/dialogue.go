// Package dialogue is what every agent does while it talks, whatever leads it: it keeps what was said, cuts its words to
// what was heard, answers silence and noise, and has a model speak, with tools to call and a second try.
package dialogue

import "github.com/callwright/callwright/agents/llm"

// Talk is what an agent and a caller have said to each other. It is plain data, and the zero Talk is one that has not
// begun.
type Talk struct {
	Messages []llm.Message
	Last     int  // 1 + the index of the agent's message that its last turn added; 0: none
	Opened   bool // the first turn was taken
	Silences int  // in a row
	Unclear  int  // utterances in a row that were not understood
}
