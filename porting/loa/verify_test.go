package loa_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/callwrighttest"
	"github.com/callwright/callwright/porting/loa"
)

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
		"a seal less":              {func(e *loa.Evidence) { e.Events = e.Events[:3]; e.Head = e.Events[2].Hash }, "", "", "event 4 is missing: no event records the signed letter"},
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

// bytesOf returns a text as the bytes of a PDF, or nil if it is empty.
func bytesOf(text string) []byte {
	if text == "" {
		return nil
	}
	return []byte(text)
}

// TestVerifyFindsEveryChange checks that Verify detects a change of any number, time or byte of an event, and names the event.
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

// texts returns pointers to all text fields of an event.
func texts(e *loa.Event) []*string {
	return []*string{
		(*string)(&e.Kind), &e.Email, &e.SHA256, &e.Name, &e.Title, &e.Disclosure, &e.Origin.IP, &e.Origin.UserAgent, &e.Reason, &e.Previous,
		&e.Hash,
	}
}

// changes returns copies of an event with a small change each: a changed number or time, or a text with a byte changed, deleted or
// appended, or with its end moved to the next text.
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
			with(func(e *loa.Event) { // moves the rest to the next text
				next := texts(e)[(n+1)%len(texts(e))]
				*texts(e)[n], *next = before, (*text)[i:]+*next
			})
		}
	}
	return all
}

// TestTextsOfEvents fails if texts omits a text field of Event.
func TestTextsOfEvents(t *testing.T) {
	t.Parallel()
	var e loa.Event
	for _, text := range texts(&e) {
		*text = "x"
	}
	e.Number, e.At = 1, time.Now()
	callwrighttest.Full(t, e)
}

// trailOf returns evidence with correct hashes, whose events have the given kinds and are an hour apart. change, if not nil, modifies the
// events before they are hashed.
func trailOf(kinds []string, change func(events []loa.Event)) loa.Evidence {
	e := loa.Evidence{Request: "port_1", SHA256: hash(theLetter)}
	var events []loa.Event
	for i, kind := range kinds {
		v := loa.Event{At: time.Date(2026, 3, 2, i, 0, 0, 0, time.UTC), Kind: loa.EventKind(kind), SHA256: e.SHA256}
		if v.Kind == loa.EventSealed {
			e.SignedSHA256 = hash(theSigned)
		}
		if e.SignedSHA256 != "" {
			v.SHA256 = e.SignedSHA256
		}
		if v.Kind == loa.EventSigned {
			v.Name, v.Disclosure = "Robin Doe", loa.Disclosure
		}
		events = append(events, v)
	}
	if change != nil {
		change(events)
	}
	var l loa.Letter
	e.Events = l.Record(events...)
	e.Head = l.Head
	return e
}

// TestVerifyOrder checks that Verify accepts legal orders of events and refuses others. An empty text means that the order is legal.
func TestVerifyOrder(t *testing.T) {
	t.Parallel()
	for trail, want := range map[string]string{
		"created":                    "",
		"created/sent":               "",
		"created/returned/resent":    "",
		"created/sent/revoked":       "",
		"created/sent/declined":      "",
		"created/signed/sealed":      "",
		"created/sent/signed/sealed": "",
		"created/signed/sealed/sent": "",
		"created/sent/reminded/resent/sent/returned/reminded/signed/sealed/returned": "",

		"sent/created":                                  "event 1 is missing",
		"signed/sealed":                                 "event 1 is missing",
		"created/created":                               "event 2 is misplaced",
		"created/approved":                              `"approved" cannot follow`,
		"created/\u202edengis":                          `"\u202edengis" cannot follow`,
		"created/sealed":                                "event 2 is misplaced",
		"created/signed":                                "event 3 is missing",
		"created/signed/sent/sealed":                    "event 3 is misplaced",
		"created/signed/signed/sealed":                  "event 3 is misplaced",
		"created/signed/sealed/signed/sealed":           "event 4 is misplaced",
		"created/signed/sealed/sealed":                  "event 4 is misplaced",
		"created/signed/sealed/sent/sent":               "event 5 is misplaced",
		"created/signed/sealed/reminded":                "event 4 is misplaced",
		"created/signed/sealed/revoked":                 "event 4 is misplaced",
		"created/declined/revoked/signed/sealed":        "event 3 is misplaced",
		"created/declined/sent":                         "event 3 is misplaced",
		"created/revoked/resent":                        "event 3 is misplaced",
		"created/revoked/signed/sealed":                 "event 3 is misplaced",
		"created/sent/signed/sealed/sent/declined/sent": "event 6 is misplaced",
	} {
		err := loa.Verify(trailOf(strings.Split(trail, "/"), nil), nil, nil)
		if want == "" && err != nil || want != "" && (callwright.CodeOf(err) != callwright.CodeBadRequest || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q gave %v, want %q", trail, err, want)
		}
	}
}

// TestVerifyEvents checks that Verify refuses invalid events even if all hashes are correct. An empty text means that the event is valid.
func TestVerifyEvents(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(events []loa.Event)
		want   string
	}{
		"nobody has signed":           {func(e []loa.Event) { e[2].Name = "" }, "event 3 is not a signature"},
		"nobody was told":             {func(e []loa.Event) { e[2].Disclosure = "" }, "event 3 is not a signature"},
		"another letter was sent":     {func(e []loa.Event) { e[1].SHA256 = hash("x") }, "event 2 is about another letter"},
		"another letter was signed":   {func(e []loa.Event) { e[2].SHA256 = hash("x") }, "event 3 is about another letter"},
		"another copy was sent":       {func(e []loa.Event) { e[4].SHA256 = hash(theLetter) }, "event 5 is about another signed letter"},
		"no copy was made":            {func(e []loa.Event) { e[3].SHA256 = "" }, "event 4 is about"},
		"signed before it was made":   {func(e []loa.Event) { e[2].At = e[0].At.Add(-time.Hour) }, "event 3 is older"},
		"slowly back":                 {func(e []loa.Event) { e[3].At, e[4].At = e[2].At.Add(-59*time.Second), e[2].At.Add(-61*time.Second) }, "event 5 is older"},
		"the clock of another server": {func(e []loa.Event) { e[3].At = e[2].At.Add(-time.Minute) }, ""},
	} {
		err := loa.Verify(trailOf(strings.Fields("created sent signed sealed sent"), test.change), nil, nil)
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s gave %v, want %q", name, err, test.want)
		}
	}
}

// TestCompare checks that Compare detects a trail whose end was cut off, which Verify cannot detect.
func TestCompare(t *testing.T) {
	t.Parallel()
	whole := trailOf(strings.Fields("created sent signed sealed sent"), nil)
	cut := whole
	cut.Events, cut.SignedSHA256, cut.Head = whole.Events[:2], "", whole.Events[1].Hash
	if err := loa.Verify(cut, nil, nil); err != nil {
		t.Errorf("a trail that was cut off gave %v", err)
	}
	hashOf := func(number int) string { return whole.Events[number-1].Hash }
	for name, test := range map[string]struct {
		in   loa.Evidence
		c    loa.Copies
		want int // 0 if an error is expected
	}{
		"the head":                    {whole, loa.Copies{Head: whole.Head}, 5},
		"an earlier head":             {whole, loa.Copies{Head: hashOf(4)}, 4},
		"the certificate":             {whole, loa.Copies{Certificate: hashOf(3)}, 3},
		"both":                        {whole, loa.Copies{Head: hashOf(5), Certificate: hashOf(3)}, 5},
		"the certificate as the head": {whole, loa.Copies{Head: hashOf(3)}, 3},
		"the head as the certificate": {whole, loa.Copies{Certificate: hashOf(5)}, 0},
		"a cut, and the head":         {cut, loa.Copies{Head: whole.Head}, 0},
		"a cut, and the certificate":  {cut, loa.Copies{Certificate: hashOf(3)}, 0},
		"one of two":                  {cut, loa.Copies{Head: cut.Head, Certificate: hashOf(3)}, 0},
	} {
		got, err := loa.Compare(test.in, test.c)
		if got != test.want || (test.want == 0) != (callwright.CodeOf(err) == callwright.CodeBadRequest) {
			t.Errorf("%s: got %d, %v; want %d", name, got, err, test.want)
		}
	}
	if got, err := loa.Compare(whole, loa.Copies{}); got != 0 || err != nil {
		t.Errorf("without copies: got %d, %v", got, err)
	}
}
