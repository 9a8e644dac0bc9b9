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
	Note       string // one of the Note constants; empty for a message
	Detail     string // of a note
}

// The notes, in the order in which they come.
const (
	NoteResolved     = "resolved"      // the addresses of the server
	NoteUnresolved   = "not resolved"  // and why
	NoteConnected    = "connected"     // TLS version, cipher, and what is known of the peer's certificate
	NoteUnconnected  = "not connected" // and why; the next address may do better
	NoteGivenUp      = "given up"      // by us, before it was answered
	NoteMediaStarted = "media started"
	NoteEnded        = "ended"
	NoteOmitted      = "not shown" // how many steps were too many; always the last
)

// The bounds of one call's ladder. What is beyond them is counted and dropped.
const (
	MaxEvents = 256
	MaxBytes  = 64 << 10 // of Size
)

// The bounds of one event's texts, in bytes. What is longer is cut.
const (
	maxText   = 128
	maxDetail = 512
)

// Size is what an event counts for MaxBytes: its texts, and as much again as the rest of it takes when it is written down.
func (e *Event) Size() int {
	const rest = 96
	n := rest
	for _, text := range e.texts() {
		n += len(*text)
	}
	return n
}

func (e *Event) texts() []*string {
	return []*string{&e.Method, &e.Reason, &e.Transport, &e.Peer, &e.Branch, &e.Body, &e.Note, &e.Detail}
}
