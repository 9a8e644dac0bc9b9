package loa

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"time"
)

// EventKind is the kind of an event of a letter.
type EventKind string

// The kinds of events.
const (
	EventCreated  EventKind = "created"
	EventSent     EventKind = "sent"     // a mail with the link was accepted by the mail server
	EventReturned EventKind = "returned" // the mail server has refused the mail permanently
	EventResent   EventKind = "resent"   // a new link has replaced the previous one
	EventReminded EventKind = "reminded"
	EventSigned   EventKind = "signed"
	EventSealed   EventKind = "sealed" // the signed PDF was made: SHA256 is its hash
	EventDeclined EventKind = "declined"
	EventRevoked  EventKind = "revoked"
)

// Event is an entry of an audit trail.
type Event struct {
	Number     int // counts from 1 without gaps
	At         time.Time
	Kind       EventKind
	Email      string // to which a mail was sent
	SHA256     string // of the event's PDF
	Name       string // of the signer, as typed
	Title      string
	Disclosure string // the text to which the signer has consented
	Origin     Origin
	Reason     string // of a signer who declines
	Previous   string // hash of the previous event; empty: none
	Hash       string // SHA-256 of the canonical form of all fields above, in hex
}

// trailVersion is the version text in the canonical form of an event.
const trailVersion = "callwright.loa.event.1"

// Canonical returns the form of an event that is hashed: netstrings, which are the length of a text in bytes as a decimal number, a
// colon, the text, and a comma. They contain Previous, "callwright.loa.event.1", Number in decimal, At in UTC in RFC 3339 with the
// necessary fractional digits, Kind, Email, SHA256, Name, Title, Disclosure, Origin.IP, Origin.UserAgent and Reason, in this order.
// Different events have different forms.
func (e Event) Canonical() []byte {
	var b []byte
	for _, text := range []string{
		e.Previous, trailVersion, strconv.Itoa(e.Number), e.At.UTC().Format(time.RFC3339Nano), string(e.Kind), e.Email, e.SHA256,
		e.Name, e.Title, e.Disclosure, e.Origin.IP, e.Origin.UserAgent, e.Reason,
	} {
		b = strconv.AppendInt(b, int64(len(text)), 10)
		b = append(b, ':')
		b = append(b, text...)
		b = append(b, ',')
	}
	return b
}

// record completes events, chains them to the audit trail of a letter, and counts them in the letter.
func (l *Letter) record(events ...Event) []Event {
	for i := range events {
		e := &events[i]
		e.Number, e.Previous = l.Events+1, l.Head
		e.Hash = hashOf(e.Canonical())
		l.Events, l.Head = e.Number, e.Hash
	}
	return events
}

// hashOf returns the SHA-256 of bytes in lower-case hex.
func hashOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
