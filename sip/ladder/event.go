package ladder

import "time"

// Event is one step of a call: a message, or a Note between messages.
type Event struct {
	At         time.Time
	Attempt    int    // counts the servers tried, from 1
	Sent       bool   // by us
	Method     string // of the request, or of the request that a response answers; empty for a note
	Status     int    // of a response; 0: a request
	Reason     string // phrase of a response
	CSeq       uint32
	Transport  string // such as "TLS 1.3"
	Peer       string // address and port
	Branch     string // of the transaction
	Retransmit bool
	Body       string // summary of the body: codecs, direction, crypto suite; never a key
	Note       string // one of the Note constants; empty for a message
	Detail     string // of a note
}

// The notes, in the order in which they occur.
const (
	NoteResolved     = "resolved"      // the addresses of the server
	NoteUnresolved   = "not resolved"  // the reason
	NoteConnected    = "connected"     // TLS version, cipher, and the check of the peer's certificate
	NoteUnconnected  = "not connected" // the reason; the next address is tried
	NoteGivenUp      = "given up"      // canceled by us before the answer
	NoteMediaStarted = "media started"
	NoteMediaFault   = "media fault" // the fault of the peer's audio: see MediaStats.Fault
	NoteEnded        = "ended"
	NoteOmitted      = "not shown" // number of dropped steps; always the last note
)

// The limits of one call's ladder. Further steps are dropped and counted.
const (
	MaxEvents = 256
	MaxBytes  = 64 << 10 // of Size
)

// The limits of an event's texts, in bytes. Longer texts are cut.
const (
	maxText   = 128
	maxDetail = 512
)

// Size returns the event's share of MaxBytes, in bytes: its texts, and its other fields as they are stored.
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
