package ladder

import "time"

// Event is one step of a call: a message, or a Note between messages.
type Event struct {
	At         time.Time
	Attempt    int    // counts the servers tried, from 1
	Sent       bool   // by us
	Method     string // of a request, and of the request that a response answers; empty for a note
	Status     int    // of a response; 0: a request
	Reason     string // its phrase
	CSeq       uint32
	Transport  string // such as "TLS 1.3"
	Peer       string // address and port
	Branch     string // of the transaction
	Retransmit bool
	Body       string // what the body says, in short: codecs, direction, crypto suite; never a key
	Note       string // such as "resolved", "connected", "certificate not verified"
	Detail     string // of a note
}

// The bounds of one call's ladder. What is beyond them is counted and dropped.
const (
	MaxEvents = 256
	MaxBytes  = 64 << 10
)
