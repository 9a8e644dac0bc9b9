package ladder

import "time"

// Event is one step of a call: a message, or a note about an occurrence between messages.
type Event struct {
	At         time.Time
	Attempt    int    // number of the server tried, from 1
	Sent       bool   // we sent the message
	Method     string // method of the request, or of the request that a response answers; empty for a note
	Status     int    // status of a response; 0 for a request
	Reason     string // phrase of a response
	CSeq       uint32
	Transport  string // such as "TLS 1.3"
	Peer       string // address and port of the peer
	Branch     string // branch parameter of the transaction's Via
	Retransmit bool
	Body       string // summary of the body: codecs, direction, crypto suite; never a key
	Note       string // one of the Note constants; empty for a message
	Detail     string // details of a note
}

// The notes, in the order in which they usually occur. Except at NoteGivenUp, the comments describe Detail.
const (
	NoteResolved     = "resolved"      // addresses of the server
	NoteUnresolved   = "not resolved"  // the reason
	NoteConnected    = "connected"     // TLS version, cipher, and the result of verifying the peer's certificate
	NoteUnconnected  = "not connected" // the reason; the next address is then tried
	NoteGivenUp      = "given up"      // we canceled the call before it was answered
	NoteMediaStarted = "media started"
	NoteMediaFault   = "media fault" // fault of the peer's audio: see MediaStats.Fault
	NoteEnded        = "ended"
	NoteOmitted      = "not shown" // number of omitted steps; always the last note
)

// Limits of the ladder of one attempt. Further steps are omitted and counted.
const (
	MaxEvents = 256
	MaxBytes  = 64 << 10 // sum of Event.Size
)

// Limits of an event's texts, in bytes. Longer texts are truncated.
const (
	maxText   = 128
	maxDetail = 512
)

// Size returns the number of bytes that the event contributes to MaxBytes: the lengths of its texts, and an allowance for its other fields.
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
