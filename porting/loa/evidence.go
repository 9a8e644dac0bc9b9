package loa

import (
	"bytes"
	"encoding/json"
	"errors"
	"time"

	"github.com/callwright/callwright"
)

// Evidence is the audit trail of a letter with the hashes of its PDFs: what proves how it was signed. Its JSON keeps for years.
type Evidence struct {
	Request      string // id of the port request; the trail does not hold it, the PDFs show it
	SHA256       string // of the letter, in lower-case hex
	SignedSHA256 string // of the signed letter; empty: not signed
	Head         string // hash of the last event; the history of the port request has that of a signature, too
	Events       []Event
}

// evidenceJSON is the JSON of Evidence. Members are added, never renamed.
type evidenceJSON struct {
	Request      string      `json:"port_request_id"`
	SHA256       string      `json:"letter_sha256"`
	SignedSHA256 string      `json:"signed_letter_sha256"`
	Head         string      `json:"head"`
	Events       []eventJSON `json:"events"`
}

type eventJSON struct {
	Number     int       `json:"number"`
	At         time.Time `json:"at"`
	Kind       EventKind `json:"kind"`
	Email      string    `json:"email"`
	SHA256     string    `json:"sha256"`
	Name       string    `json:"name"`
	Title      string    `json:"title"`
	Disclosure string    `json:"disclosure"`
	IP         string    `json:"ip"`
	UserAgent  string    `json:"user_agent"`
	Reason     string    `json:"reason"`
	Previous   string    `json:"previous"`
	Hash       string    `json:"hash"`
}

// MarshalJSON writes evidence with members in snake_case.
func (e Evidence) MarshalJSON() ([]byte, error) {
	j := evidenceJSON{e.Request, e.SHA256, e.SignedSHA256, e.Head, make([]eventJSON, len(e.Events))}
	for i, v := range e.Events {
		j.Events[i] = eventJSON{
			v.Number, v.At.UTC(), v.Kind, v.Email, v.SHA256, v.Name, v.Title, v.Disclosure, v.Origin.IP, v.Origin.UserAgent, v.Reason,
			v.Previous, v.Hash,
		}
	}
	return json.Marshal(j)
}

// UnmarshalJSON reads what MarshalJSON has written. It refuses members that it does not know, because Verify would not check them, and
// what is not the evidence of a letter.
func (e *Evidence) UnmarshalJSON(raw []byte) error {
	var j evidenceJSON
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&j); err != nil {
		return err
	}
	if j.Request == "" || j.SHA256 == "" || j.Events == nil {
		return errors.New("evidence must have port_request_id, letter_sha256 and events")
	}
	*e = Evidence{Request: j.Request, SHA256: j.SHA256, SignedSHA256: j.SignedSHA256, Head: j.Head}
	for _, v := range j.Events {
		e.Events = append(e.Events, Event{
			v.Number, v.At, v.Kind, v.Email, v.SHA256, v.Name, v.Title, v.Disclosure, Origin{v.IP, v.UserAgent}, v.Reason, v.Previous, v.Hash,
		})
	}
	return nil
}

// Verify checks evidence without a server: that each event has its own hash and that of the event before, that none is missing, and that
// the hashes of the PDFs are those that the trail has recorded. letter and signed are the PDFs; one that is nil is not checked.
// CodeBadRequest: something does not fit; the error names the first event, or the PDF, that does not.
//
// Someone who can write the whole trail can write another one: compare Head with the copy of it that the signer's mail, the history of
// the port request or your own archive has.
func Verify(e Evidence, letter, signed []byte) error {
	if err := verifyChain(e); err != nil {
		return err
	}
	if err := verifyHashes(e); err != nil {
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

func unfit(format string, args ...any) error {
	return callwright.Errorf(callwright.CodeBadRequest, format, args...)
}

// verifyChain checks that every event follows from the one before.
func verifyChain(e Evidence) error {
	previous := ""
	for i, v := range e.Events {
		switch {
		case v.Number != i+1:
			return unfit("event %d is missing: its place has the number %d", i+1, v.Number)
		case v.Previous != previous:
			return unfit("event %d does not follow the event before: its hash of that one is another", v.Number)
		case v.Hash != hashOf(v.Canonical()):
			return unfit("event %d was changed: it does not have its hash", v.Number)
		}
		previous = v.Hash
	}
	if previous != e.Head {
		return unfit("event %d is missing: the trail does not end with its head", len(e.Events)+1)
	}
	return nil
}

// verifyHashes checks that events are about the PDFs of the letter.
func verifyHashes(e Evidence) error {
	if len(e.Events) == 0 || e.Events[0].Kind != EventCreated {
		return unfit("event 1 is missing: a trail begins with the creation of the letter")
	}
	sealed := ""
	for _, v := range e.Events {
		if (v.Kind == EventCreated || v.Kind == EventSigned) && v.SHA256 != e.SHA256 {
			return unfit("event %d is about another letter", v.Number)
		}
		if v.Kind == EventSealed {
			sealed = v.SHA256
		}
		if v.Kind == EventSealed && v.SHA256 != e.SignedSHA256 {
			return unfit("event %d is about another signed letter", v.Number)
		}
	}
	if sealed != e.SignedSHA256 {
		return unfit("no event records the signed letter")
	}
	return nil
}
