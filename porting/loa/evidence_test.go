package loa_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/porting"
	"github.com/callwright/callwright/porting/loa"
)

const (
	theLetter = "%PDF the letter"
	theSigned = "%PDF the letter and its certificate"
)

// evidence returns the consistent evidence of a signed letter.
func evidence() loa.Evidence {
	at := time.Date(2026, 3, 2, 9, 8, 7, 123456000, time.UTC)
	e := loa.Evidence{Request: "port_1", SHA256: hash(theLetter), SignedSHA256: hash(theSigned)}
	var l loa.Letter
	e.Events = l.Record(
		loa.Event{At: at, Kind: loa.EventCreated, Email: "robin@example.com", SHA256: e.SHA256},
		loa.Event{At: at.Add(time.Second), Kind: loa.EventSent, Email: "robin@example.com", SHA256: e.SHA256},
		loa.Event{
			At: at.Add(time.Hour), Kind: loa.EventSigned, Email: "robin@example.com", SHA256: e.SHA256, Name: "Robin Doe", Title: "Owner",
			Disclosure: loa.Disclosure, Origin: loa.Origin{IP: "192.0.2.7", UserAgent: "Mozilla/5.0"}, Reason: "none",
		},
		loa.Event{At: at.Add(time.Hour), Kind: loa.EventSealed, SHA256: e.SignedSHA256},
	)
	e.Head = l.Head
	return e
}

// TestCanonical fails if the hashed form of an event changes: recorded trails could then no longer be verified.
func TestCanonical(t *testing.T) {
	t.Parallel()
	e := loa.Event{
		Number: 12, At: time.Date(2026, 3, 2, 10, 8, 7, 120000000, time.FixedZone("", 3600)), Kind: loa.EventSigned, Email: "e@x.example", SHA256: "5ha",
		Name: "Zo\u00eb", Title: "", Disclosure: "d", Origin: loa.Origin{IP: "::1", UserAgent: "a,b"}, Reason: "r", Previous: "ff", Hash: "not hashed",
	}
	const want = "2:ff,22:callwright.loa.event.1,2:12,23:2026-03-02T09:08:07.12Z,6:signed,11:e@x.example,3:5ha,4:Zo\u00eb,0:,1:d,3:::1,3:a,b,1:r,"
	if got := string(e.Canonical()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestEvidenceJSON(t *testing.T) {
	t.Parallel()
	raw, err := json.Marshal(evidence())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`{"port_request_id":"port_1","letter_sha256":"`, `"signed_letter_sha256":"`, `"head":"`,
		`{"number":3,"at":"2026-03-02T10:08:07.123456Z","kind":"signed","email":"robin@example.com","sha256":"`, `"name":"Robin Doe","title":"Owner"`,
		`"ip":"192.0.2.7","user_agent":"Mozilla/5.0","reason":"none","previous":"`,
	} {
		if !strings.Contains(string(raw), want) {
			t.Errorf("%s is not in\n%s", want, raw)
		}
	}
	var back loa.Evidence
	if err := json.Unmarshal(raw, &back); err != nil || !reflect.DeepEqual(back, evidence()) {
		t.Errorf("got %+v, %v", back, err)
	}
	if err := loa.Verify(back, []byte(theLetter), []byte(theSigned)); err != nil {
		t.Error(err)
	}
	for name, change := range map[string][2]string{
		"a number that is a text": {`"number":3`, `"number":"3"`}, "an unknown member": {`{"port_request_id"`, `{"x":1,"port_request_id"`},
		"an unknown member of an event": {`{"number":3`, `{"x":1,"number":3`}, "no events": {`"events":[`, `"events":null,"events_":[`},
		"events that are null": {string(raw[strings.Index(string(raw), `[{"number":1`):]), `null}`}, "no request": {`"port_1"`, `""`},
		"no letter": {`"letter_sha256":"` + hash(theLetter), `"letter_sha256":"`},
	} {
		changed := strings.Replace(string(raw), change[0], change[1], 1)
		if err := json.Unmarshal([]byte(changed), &back); err == nil || changed == string(raw) || !json.Valid([]byte(changed)) {
			t.Errorf("%s was read: %s", name, changed)
		}
	}
}

// TestEvidenceJSONIsStrict checks that evidence is refused if its JSON was changed in ways that encoding/json tolerates.
func TestEvidenceJSONIsStrict(t *testing.T) {
	t.Parallel()
	raw, err := json.Marshal(evidence())
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct{ old, with, want string }{
		"a member twice":          {`"name":"Robin Doe"`, `"name":"Mallory","name":"Robin Doe"`, `"name" only once`},
		"a member in capitals":    {`"name":"Robin Doe"`, `"NAME":"Mallory","name":"Robin Doe"`, `unknown member "NAME"`},
		"a member after it":       {`"name":"Robin Doe"`, `"name":"Robin Doe","Name":"Mallory"`, `unknown member "Name"`},
		"a name with an escape":   {`"name":"Robin Doe"`, `"name":"Mallory","\u006eame":"Robin Doe"`, `"name" only once`},
		"a letter that is no K":   {`"kind":"signed"`, `"\u212aind":"declined","kind":"signed"`, `unknown member "Kind"`},
		"an unknown member":       {`"name":"Robin Doe"`, `"name":"Robin Doe","note":"void"`, `unknown member "note"`},
		"an unknown one outside":  {`"head":`, `"status":"void","head":`, `unknown member "status"`},
		"the head twice":          {`"head":`, `"head":"","head":`, `"head" only once`},
		"the request in capitals": {`"port_request_id":`, `"Port_Request_ID":"port_2","port_request_id":`, `unknown member "Port_Request_ID"`},
		"events twice":            {`"events":[`, `"events":[],"events":[`, `"events" only once`},
		"no array of events":      {`"events":[`, `"events":{"x":[`, "must have a ["},
		"an event that is none":   {`"events":[`, `"events":[null,`, "must have a {"},
		"another encoding":        {`Robin Doe`, "Robin D\xf6", "UTF-8"},
	} {
		text := strings.Replace(string(raw), test.old, test.with, 1)
		if text == string(raw) {
			t.Fatalf("%s: nothing is spoiled", name)
		}
		if test.old == `"events":[` && test.with == `"events":{"x":[` {
			text = strings.TrimSuffix(text, "]}") + "]}}"
		}
		var e loa.Evidence
		if err := json.Unmarshal([]byte(text), &e); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s gave %v, want an error that says %q", name, err, test.want)
		}
	}
}

// busy is a Store whose Events returns an additional event, as if it had been recorded between the read of a letter and the read of its
// events.
type busy struct{ loa.Store }

func (b busy) Events(ctx context.Context, org callwright.OrgID, request string) ([]loa.Event, error) {
	events, err := b.Store.Events(ctx, org, request)
	return append(events, loa.Event{Number: len(events) + 1}), err
}

// TestEvidenceIsOfOneMoment checks that evidence omits events that are newer than the letter that was read.
func TestEvidenceIsOfOneMoment(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		l, err := h.SendLetter(t.Context(), porting.Request{Org: org, ID: "r1", SignBy: time.Now().Add(9 * day)})
		e, evidenceErr := h.Evidence(t.Context(), org, "r1")
		if err := errors.Join(err, evidenceErr, loa.Verify(e, nil, nil)); err != nil || l.URL == "" || len(e.Events) != 1 {
			t.Errorf("got %+v, %v", e, err)
		}
	}, func(c *loa.Config) { c.Store = busy{c.Store} })
}

// hasty is a Store that calls the field before, once, ahead of the first read of a letter's events.
type hasty struct {
	loa.Store

	before func()
}

func (s *hasty) Events(ctx context.Context, org callwright.OrgID, request string) ([]loa.Event, error) {
	if f := s.before; f != nil {
		s.before = nil
		f()
	}
	return s.Store.Events(ctx, org, request)
}

// TestAuditIsOfOneMoment checks that an audit is consistent even if the letter is signed meanwhile, and that an audit that reads the PDF
// detects a forged one.
func TestAuditIsOfOneMoment(t *testing.T) {
	t.Parallel()
	store := new(hasty)
	inHouse(t, func(t *testing.T, h *house) {
		r, token := h.initiated()
		sign := h.signature(r)
		store.before = func() {
			if _, err := h.Sign(t.Context(), token, sign); err != nil {
				t.Error(err)
			}
		}
		for _, want := range []loa.State{loa.Waiting, loa.Signed} {
			a, err := h.Audit(t.Context(), org, r.ID, true)
			if err != nil || a.Flaw != "" || a.Letter.State != want || a.Evidence.Head != a.Letter.Head {
				t.Errorf("got %+v, %v; want a letter that is %s, without a flaw", a, err, want)
			}
		}
		store.Store = forged{store.Store}
		a, err := h.Audit(t.Context(), org, r.ID, true)
		without, withoutErr := h.Audit(t.Context(), org, r.ID, false)
		if err := errors.Join(err, withoutErr); err != nil || !strings.HasPrefix(a.Flaw, "the signed letter is not the PDF") || without.Flaw != "" {
			t.Errorf("another PDF: got %q, without it %q, %v", a.Flaw, without.Flaw, err)
		}
		_, err = h.Audit(t.Context(), "b", r.ID, true)
		wantError(t, "another organization's", err, callwright.CodeNotFound, "")
	}, func(c *loa.Config) {
		store.Store = c.Store
		c.Store = store
	})
}

// forged is a Store that returns a forged PDF for every letter.
type forged struct{ loa.Store }

func (forged) PDF(context.Context, callwright.OrgID, string, bool) ([]byte, error) {
	return []byte("%PDF forged"), nil
}

// hash returns the SHA-256 of a text in lower-case hex.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
