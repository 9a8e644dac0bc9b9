package conversation

import "time"

// utterance is one continuous piece of the caller's speech. It passes the audio to a recognition.
type utterance struct {
	began   time.Duration // time of the call
	hearing Hearing
	of      *recognition

	newest time.Duration // time of the call at which the reader saw the newest result

	// Set when the utterance is finished.
	voiced    time.Duration
	lastVoice time.Duration // time of the call
	said      string        // the agent's words before the end
	reply     bool          // whether even a back-channel interrupts the agent
	rule      bargeInRule   // rule for the agent's words
	over      bool          // whether no voice interrupted the agent's words
	brief     bool          // whether the voice was too short to pause the agent
	joined    time.Duration // time of the call at which such an utterance joined the caller's turn

	// The mutex of the recognition guards the following fields.
	samples []int16 // all audio, until the text is final
	closed  bool    // whether the audio is complete
	number  int     // Heard.Utterance in the current session; -1 if the session has not received audio of the utterance
	sent    int     // number of samples that the session has received
	forced  bool    // whether the session has received the end
	losses  int     // sessions that have ended while the utterance was the oldest
	expiry  *time.Timer
	heard   Heard // newest result
	partial bool  // whether there was a partial text
	changed bool  // whether there is a result since the last call of changes

	result Recognized
	err    error
	done   chan struct{} // closed when result and err are set
}

// write adds audio.
func (u *utterance) write(samples []int16) {
	u.of.mu.Lock()
	defer u.of.mu.Unlock()
	if !u.ended() {
		u.samples = append(u.samples, samples...)
	}
	signal(u.of.wake)
}

// finish marks the end of the audio. The words must be known after the patience of the recognition.
func (u *utterance) finish() {
	u.of.mu.Lock()
	defer u.of.mu.Unlock()
	u.close()
}

// close implements finish. The caller holds the mutex.
func (u *utterance) close() {
	if !u.closed {
		u.closed = true
		u.expiry = time.AfterFunc(u.of.patience, func() { u.of.expire(u) })
	}
	signal(u.of.wake)
}

// abandon finishes the utterance, and ignores its words.
func (u *utterance) abandon() {
	u.of.mu.Lock()
	defer u.of.mu.Unlock()
	u.close()
	u.end(Recognized{}, errIgnored)
}

// end sets the result, unless the utterance has one. The caller holds the mutex.
func (u *utterance) end(result Recognized, err error) {
	if u.ended() {
		return
	}
	u.result, u.err, u.changed = result, err, true
	u.samples, u.sent = nil, 0
	if u.expiry != nil {
		u.expiry.Stop()
	}
	close(u.done)
}

// ended reports whether the utterance has a result.
func (u *utterance) ended() bool {
	select {
	case <-u.done:
		return true
	default:
		return false
	}
}

// sofar returns the newest result, and reports whether it is final.
func (u *utterance) sofar() (heard Heard, final bool) {
	u.of.mu.Lock()
	defer u.of.mu.Unlock()
	return u.heard, u.ended()
}

// streamed reports whether the engine has returned a partial text.
func (u *utterance) streamed() bool {
	u.of.mu.Lock()
	defer u.of.mu.Unlock()
	return u.partial
}

// changes reports whether there is a new result since the last call.
func (u *utterance) changes() bool {
	u.of.mu.Lock()
	defer u.of.mu.Unlock()
	changed := u.changed
	u.changed = false
	return changed
}

// text waits for the recognized words.
func (u *utterance) text() (Recognized, error) {
	<-u.done
	return u.result, u.err
}
