package loa_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/callwrighttest"
	"github.com/callwright/callwright/porting"
	"github.com/callwright/callwright/porting/loa"
)

const (
	theLetter = "%PDF the letter"
	theSigned = "%PDF the letter and its certificate"
)

// evidence returns the audit trail of a signed letter.
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

func TestVerify(t *testing.T) {
	t.Parallel()
	for _, pdfs := range [][2][]byte{{nil, nil}, {[]byte(theLetter), []byte(theSigned)}, {nil, []byte(theSigned)}} {
		if err := loa.Verify(evidence(), pdfs[0], pdfs[1]); err != nil {
			t.Error(err)
		}
	}
	waiting := evidence()
	waiting.Events, waiting.SignedSHA256 = waiting.Events[:2], ""
	waiting.Head = waiting.Events[1].Hash
	if err := loa.Verify(waiting, []byte(theLetter), nil); err != nil {
		t.Error(err)
	}
}

func TestVerifyRefuses(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change         func(e *loa.Evidence)
		letter, signed string
		want           string
	}{
		"a gap":                    {func(e *loa.Evidence) { e.Events = append(e.Events[:1], e.Events[2:]...) }, "", "", "event 2 is missing"},
		"a cut at the end":         {func(e *loa.Evidence) { e.Events = e.Events[:3] }, "", "", "event 4 is missing"},
		"a cut at the beginning":   {func(e *loa.Evidence) { e.Events = e.Events[1:] }, "", "", "event 1 is missing"},
		"no events":                {func(e *loa.Evidence) { e.Events, e.Head = nil, "" }, "", "", "event 1 is missing"},
		"another order":            {func(e *loa.Evidence) { e.Events[1], e.Events[2] = e.Events[2], e.Events[1] }, "", "", "event 2 is missing"},
		"another predecessor":      {func(e *loa.Evidence) { e.Events[2].Previous = e.Events[0].Hash }, "", "", "event 3 does not follow"},
		"another hash":             {func(e *loa.Evidence) { e.Events[3].Hash = e.Events[0].Hash }, "", "", "event 4 was changed"},
		"another head":             {func(e *loa.Evidence) { e.Head = e.Events[0].Hash }, "", "", "does not end with its head"},
		"another letter's hash":    {func(e *loa.Evidence) { e.SHA256 = hash("x") }, "", "", "event 1 is about another letter"},
		"another copy's hash":      {func(e *loa.Evidence) { e.SignedSHA256 = hash("x") }, "", "", "event 4 is about another signed letter"},
		"a signature less":         {func(e *loa.Evidence) { e.SignedSHA256 = "" }, "", "", "event 4 is about another signed letter"},
		"a seal less":              {func(e *loa.Evidence) { e.Events = e.Events[:3]; e.Head = e.Events[2].Hash }, "", "", "no event records"},
		"another letter":           {func(*loa.Evidence) {}, theLetter + " ", theSigned, "the letter is not the PDF"},
		"another copy":             {func(*loa.Evidence) {}, theLetter, theLetter, "the signed letter is not the PDF"},
		"a copy that is not known": {func(e *loa.Evidence) { e.Events = e.Events[:2]; e.Head, e.SignedSHA256 = e.Events[1].Hash, "" }, "", theSigned, "is not recorded"},
	} {
		e := evidence()
		test.change(&e)
		err := loa.Verify(e, bytesOf(test.letter), bytesOf(test.signed))
		if callwright.CodeOf(err) != callwright.CodeBadRequest || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s gave %v, want an error that says %q", name, err, test.want)
		}
	}
}

// bytesOf returns a PDF; empty: none.
func bytesOf(text string) []byte {
	if text == "" {
		return nil
	}
	return []byte(text)
}

// TestVerifyFindsEveryChange changes, drops and moves each byte of each text of each event, and changes each number and time. It wants
// the event named that does not fit.
func TestVerifyFindsEveryChange(t *testing.T) {
	t.Parallel()
	for i, whole := range evidence().Events {
		changed := changes(whole)
		if len(changed) < 50 {
			t.Fatalf("there are only %d changes of event %d", len(changed), i+1)
		}
		for _, v := range changed {
			e := evidence()
			e.Events[i] = v
			if err := loa.Verify(e, nil, nil); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("event %d ", i+1)) {
				t.Errorf("event %d became %+v, and that gave %v", i+1, v, err)
			}
		}
	}
}

// texts returns the texts of an event.
func texts(e *loa.Event) []*string {
	return []*string{
		(*string)(&e.Kind), &e.Email, &e.SHA256, &e.Name, &e.Title, &e.Disclosure, &e.Origin.IP, &e.Origin.UserAgent, &e.Reason, &e.Previous,
		&e.Hash,
	}
}

// changes returns events that differ a little from another.
func changes(whole loa.Event) (all []loa.Event) {
	with := func(change func(e *loa.Event)) {
		e := whole
		change(&e)
		all = append(all, e)
	}
	with(func(e *loa.Event) { e.Number++ })
	with(func(e *loa.Event) { e.Number = -e.Number })
	with(func(e *loa.Event) { e.At = e.At.Add(1) })
	with(func(e *loa.Event) { e.At = e.At.Add(-time.Hour) })
	for n, text := range texts(&whole) {
		with(func(e *loa.Event) { *texts(e)[n] += "\x00" })
		for i := range *text {
			before, after := (*text)[:i], (*text)[i+1:]
			with(func(e *loa.Event) { *texts(e)[n] = before + string((*text)[i]^1) + after })
			with(func(e *loa.Event) { *texts(e)[n] = before + after })
			with(func(e *loa.Event) { // to the next text
				next := texts(e)[(n+1)%len(texts(e))]
				*texts(e)[n], *next = before, (*text)[i:]+*next
			})
		}
	}
	return all
}

// TestTextsOfEvents fails when an event has a text that the test above does not change.
func TestTextsOfEvents(t *testing.T) {
	t.Parallel()
	var e loa.Event
	for _, text := range texts(&e) {
		*text = "x"
	}
	e.Number, e.At = 1, time.Now()
	callwrighttest.Full(t, e)
}

// TestCanonical keeps the form that is hashed: another one would make recorded trails worthless.
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

// busy is a Store in which an event is recorded between two reads.
type busy struct{ loa.Store }

func (b busy) Events(ctx context.Context, org callwright.OrgID, request string) ([]loa.Event, error) {
	events, err := b.Store.Events(ctx, org, request)
	return append(events, loa.Event{Number: len(events) + 1}), err
}

// TestEvidenceIsOfOneMoment wants no event that is newer than the letter.
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

// hash returns the SHA-256 of a text in hex.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
