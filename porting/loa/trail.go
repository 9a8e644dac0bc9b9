package loa

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"time"
)

// EventKind distinguishes the events of a letter.
type EventKind string

// The kinds of a letter's events.
const (
	EventCreated  EventKind = "created"
	EventSent     EventKind = "sent"     // the mail server has accepted a mail with the link, except a reminder
	EventReturned EventKind = "returned" // the mail server has permanently refused a mail, possibly a reminder
	EventResent   EventKind = "resent"   // a new link has replaced the previous one
	EventReminded EventKind = "reminded"
	EventSigned   EventKind = "signed"
	EventSealed   EventKind = "sealed" // the signed PDF was rendered: SHA256 is its hash
	EventDeclined EventKind = "declined"
	EventRevoked  EventKind = "revoked"
)

// Event is an entry of a letter's audit trail.
type Event struct {
	Number     int // counts from 1 without gaps
	At         time.Time
	Kind       EventKind
	Email      string // recipient of a mail, or the address to which the letter was mailed
	SHA256     string // hash of the PDF that the event concerns
	Name       string // signer's name, as typed
	Title      string
	Disclosure string // the text to which the signer has consented
	Origin     Origin
	Reason     string // given by a signer who declines; may be empty
	Previous   string // hash of the previous event; empty for the first
	Hash       string // SHA-256 of Canonical, in lower-case hex
}

// trailVersion identifies the canonical form of an event, in case it ever changes.
const trailVersion = "callwright.loa.event.1"

// Canonical returns the form of an event that is hashed: a sequence of netstrings. A netstring is the length of a text in bytes as a
// decimal number, a colon, the text, and a comma. The texts are Previous, "callwright.loa.event.1", Number in decimal, At in UTC in RFC
// 3339 with the necessary fractional digits, Kind, Email, SHA256, Name, Title, Disclosure, Origin.IP, Origin.UserAgent and Reason, in this
// order. Different events have different forms.
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

// record sets the numbers and hashes of events, chains them to the audit trail of a letter, and updates the letter's Events and Head. It
// returns the completed events.
func (l *Letter) record(events ...Event) []Event {
	for i := range events {
		e := &events[i]
		e.Number, e.Previous = l.Events+1, l.Head
		e.Hash = hashOf(e.Canonical())
		l.Events, l.Head = e.Number, e.Hash
	}
	return events
}

// hashOf returns the SHA-256 of b in lower-case hex.
func hashOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
