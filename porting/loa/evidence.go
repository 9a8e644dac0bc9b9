package loa

import (
	"encoding/json"
	"errors"
	"time"
)

// Evidence contains the audit trail of a letter and the hashes of its PDFs, which together prove the signature. Its JSON format is stable
// for years.
type Evidence struct {
	Request      string // id of the port request; not covered by the hashes, but shown in the PDFs
	SHA256       string // hash of the letter's PDF, in lower-case hex
	SignedSHA256 string // hash of the signed PDF; empty if not signed
	Head         string // hash of the last event; the port request's history records the head at the time of the signature
	Events       []Event
}

// evidenceJSON is the JSON form of Evidence. Members may be added, but never renamed.
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

// MarshalJSON encodes evidence with member names in snake_case.
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

// UnmarshalJSON decodes the output of MarshalJSON. It refuses unknown members, because Verify would not check them. It also refuses JSON
// that other programs could read differently, such as names in another case, repeated names or invalid UTF-8, and evidence without a
// request, the letter's hash or events.
func (e *Evidence) UnmarshalJSON(raw []byte) error {
	if err := checkMembers(raw); err != nil {
		return err
	}
	var j evidenceJSON
	if err := json.Unmarshal(raw, &j); err != nil {
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
