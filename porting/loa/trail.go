package loa

import "time"

// EventKind says what has happened to a letter.
type EventKind string

// The kinds of events.
const (
	EventCreated  EventKind = "created"
	EventSent     EventKind = "sent"     // a mail with the link was accepted by the mail server
	EventReturned EventKind = "returned" // the mail server refuses the mail for good
	EventResent   EventKind = "resent"   // another link was made, and the one before ended
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
	SHA256     string // of the PDF that the event is about
	Name       string // of the signer, as typed
	Title      string
	Disclosure string // the text to which the signer has consented
	Origin     Origin
	Reason     string // of a signer who declines
	Previous   string // hash of the event before; empty: the first one
	Hash       string // SHA-256 of all of the above in their canonical form, in hex
}
