package session

// Ends relates the ends of utterances to the times of an engine that does not answer the end of an utterance in which it has heard nothing.
// The zero value is ready for use.
type Ends struct {
	sent int   // number of samples that were sent
	ends []int // values of sent at the ends that the engine has not answered, oldest first
}

// Send counts samples that are sent.
func (e *Ends) Send(samples int) { e.sent += samples }

// End adds the end of an utterance.
func (e *Ends) End() { e.ends = append(e.ends, e.sent) }

// Answer deletes the oldest end if a result of the engine answers it, and reports whether there was one.
func (e *Ends) Answer(answers bool) bool {
	if answers = answers && len(e.ends) > 0; answers {
		e.ends = e.ends[1:]
	}
	return answers
}

// Pass returns an event for each end that the engine has passed: a result about audio that begins there or later follows. Such an utterance has no
// further words. start is the time of that audio in the session, in samples.
func (e *Ends) Pass(start float64) (events []Event) {
	for len(e.ends) > 0 && start >= float64(e.ends[0]) {
		e.ends = e.ends[1:]
		events = append(events, Event{Done: true})
	}
	return events
}
