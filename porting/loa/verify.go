package loa

import (
	"time"

	"github.com/callwright/callwright"
)

// maxSkew is the maximum accepted difference between the clocks of servers that record events of the same letter.
const maxSkew = time.Minute

// Verify checks evidence without a server: the hash of each event and its link to the previous event, completeness up to the head, a legal
// order of events, and the hashes of the PDFs against the trail. letter and signed are the PDFs; nil skips the check of a PDF. Verify
// returns CodeBadRequest if the evidence is inconsistent; the error names the first inconsistent event or PDF.
//
// Evidence alone cannot prove that its end was not cut off, or that it was not rewritten as a whole. To detect this, use Compare with
// hashes that were stored elsewhere. Evidence.Request is not covered by the hashes.
func Verify(e Evidence, letter, signed []byte) error {
	if err := verifyChain(e); err != nil {
		return err
	}
	if err := verifyOrder(e); err != nil {
		return err
	}
	switch {
	case letter != nil && hashOf(letter) != e.SHA256:
		return unfit("the letter is not the PDF that was recorded, whose SHA-256 is %s", e.SHA256)
	case signed != nil && e.SignedSHA256 == "":
		return unfit("a signed letter is not recorded")
	case signed != nil && hashOf(signed) != e.SignedSHA256:
		return unfit("the signed letter is not the PDF that was recorded, whose SHA-256 is %s", e.SignedSHA256)
	}
	return nil
}

// Copies contains hashes of a trail that were stored elsewhere. Compare ignores empty hashes.
type Copies struct {
	Head        string // an earlier head of the trail, for example from the history of the port request
	Certificate string // Certificate.Trail from the last page of the signed letter
}

// Compare compares verified evidence with copies of its hashes. It returns the number of the last event that the copies prove, or 0 if c is
// empty. The trail may have grown since its head was copied. Compare returns CodeBadRequest if no event has the hash c.Head, or if no
// signature has the hash c.Certificate.
func Compare(e Evidence, c Copies) (upTo int, err error) {
	foundHead, foundSignature := c.Head == "", c.Certificate == ""
	for _, v := range e.Events {
		isHead, isSignature := v.Hash == c.Head, v.Hash == c.Certificate && v.Kind == EventSigned
		if isHead || isSignature {
			upTo = v.Number
		}
		foundHead, foundSignature = foundHead || isHead, foundSignature || isSignature
	}
	switch {
	case !foundHead:
		return 0, unfit("no event has the hash of the copied head: events are missing, or the trail belongs to another letter")
	case !foundSignature:
		return 0, unfit("no signature has the hash of the certificate: it is missing, or the trail belongs to another letter")
	}
	return upTo, nil
}

func unfit(format string, args ...any) error {
	return callwright.Errorf(callwright.CodeBadRequest, format, args...)
}

// verifyChain checks the numbers and the hashes of all events, and that the last hash is the head.
func verifyChain(e Evidence) error {
	previous := ""
	for i, v := range e.Events {
		switch {
		case v.Number != i+1:
			return unfit("event %d is missing: its place contains number %d", i+1, v.Number)
		case v.Previous != previous:
			return unfit("event %d does not follow the event before it: the hashes differ", v.Number)
		case v.Hash != hashOf(v.Canonical()):
			return unfit("event %d was changed: its content does not match its hash", v.Number)
		}
		previous = v.Hash
	}
	if previous != e.Head {
		return unfit("event %d is missing: the trail does not end with its head", len(e.Events)+1)
	}
	return nil
}

// stage is the progress of a letter, as verifyOrder derives it from the events.
type stage int

const (
	noEvents stage = iota // before the first event
	unsigned              // waiting for the signature
	unsealed              // signed, but the signed PDF is not recorded yet
	unsent                // sealed, but no mail with the signed letter is recorded yet
	over
)

// order maps each stage to the event kinds that are legal in it, and each kind to the next stage.
var order = map[stage]map[EventKind]stage{
	noEvents: {EventCreated: unsigned},
	unsigned: {
		EventSent: unsigned, EventReturned: unsigned, EventResent: unsigned, EventReminded: unsigned,
		EventSigned: unsealed, EventDeclined: over, EventRevoked: over,
	},
	unsealed: {EventSealed: unsent},
	unsent:   {EventSent: over, EventReturned: over},
}

// verifyOrder checks that the order and the times of events are legal, and that the events refer to the letter's PDFs.
func verifyOrder(e Evidence) error {
	at, sealed, latest := noEvents, "", time.Time{}
	for _, v := range e.Events {
		next, ok := order[at][v.Kind]
		switch {
		case at == noEvents && !ok:
			return unfit("event 1 is missing: a trail begins with the creation of the letter")
		case !ok:
			return unfit("event %d is misplaced: %q cannot follow the events before it", v.Number, v.Kind)
		case v.At.Add(maxSkew).Before(latest):
			return unfit("event %d is older than an event before it", v.Number)
		}
		if v.Kind == EventSealed {
			sealed = v.SHA256
		}
		if err := verifyEvent(e, v, sealed != ""); err != nil {
			return err
		}
		at = next
		if v.At.After(latest) {
			latest = v.At
		}
	}
	switch {
	case at == noEvents:
		return unfit("event 1 is missing: a trail begins with the creation of the letter")
	case at == unsealed:
		return unfit("event %d is missing: no event records the signed letter", len(e.Events)+1)
	case sealed != e.SignedSHA256:
		return unfit("no event records the signed letter")
	}
	return nil
}

// verifyEvent checks the fields of a single event. sealed reports whether the signed PDF has been recorded by then.
func verifyEvent(e Evidence, v Event, sealed bool) error {
	switch {
	case sealed && (v.SHA256 != e.SignedSHA256 || v.SHA256 == ""):
		return unfit("event %d is about another signed letter", v.Number)
	case !sealed && (v.SHA256 != e.SHA256 || v.SHA256 == ""):
		return unfit("event %d is about another letter", v.Number)
	case v.Kind == EventSigned && (v.Name == "" || v.Disclosure == ""):
		return unfit("event %d is not a signature: it must contain the name of the signer and the text that was agreed to", v.Number)
	}
	return nil
}
