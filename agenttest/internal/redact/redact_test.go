package redact_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/callwright/callwright/agenttest/internal/redact"
)

func TestText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Call me at +1 415 555 0123, please.":                                  "Call me at +[number], please.",
		"It is (415) 555-0123.":                                                "It is ([number].",
		"four one five, five six five, oh one two three":                       "[number]",
		"my number is four one five 555 01 twenty three":                       "my number is [number]",
		"double five five, one two three four":                                 "[number]",
		"the card is 4111 1111 1111 1111":                                      "the card is [number]",
		"4\u200b15\u200b5550123":                                               "[number]",
		"robin@example.com":                                                    "[email]",
		"robin dot doe at example dot com":                                     "robin dot [email]",
		"see https://crm.example.com/hook?token=abc and www.example.com/x":     "see [url] and [url]",
		"sip:robin@10.0.0.1;transport=tls":                                     "[url]",
		"Authorization: Bearer abc123":                                         "Authorization: Bearer [key]",
		"the token is 9f8e7d":                                                  "the token is [key]",
		"sk-proj-abcdefgh12345":                                                "[key]",
		"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc":                             "[key]",
		"01932c27-94ba-72a9-83eb-a7f3a4b5c6d7":                                 "[key]",
		"I live at 12 Main Street, apartment 4b.":                              "I live at [address].",
		"twenty one Old Mill Road":                                             "[address]",
		"Oakland, CA 94607":                                                    "Oakland, [address]",
		"in der Hauptstraße 12a":                                               "in der [address]",
		"On Tuesday at three thirty, for two people.":                          "On Tuesday at three thirty, for two people.",
		"The 2026-03-02 at 10:30, or 3/2/2026.":                                "The 2026-03-02 at 10:30, or 3/2/2026.",
		"It costs $1,250.00, or 99 cents a day.":                               "It costs $1,250.00, or 99 cents a day.",
		"Order 4711, in nineteen ninety nine.":                                 "Order 4711, in nineteen ninety nine.",
		"We met at the station on the main street.":                            "We met at the station on the main street.",
		"What is the token? The key is on the table. My password is a secret.": "What is the token? The key is on the table. My password is a secret.",
		"a well-known-and-long-hyphenated-expression":                          "a well-known-and-long-hyphenated-expression",
		"I will be there at example street":                                    "I will be there at example street",
		"":                                                                     "",
	} {
		if got := redact.Text(text); got != want {
			t.Errorf("%q gives %q, want %q", text, got, want)
		}
	}
}

func TestValue(t *testing.T) {
	t.Parallel()
	var value any
	const text = `{"clinic":"North","phone":"+14155550123","api_key":"short","account":4155550123,"count":7,
		"list":[{"url":"https://example.com/x","password":"a"},null,true],"+14155550123":"x"}`
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(redact.Value(value))
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"+[number]":"x","account":"[number]","api_key":"[key]","clinic":"North","count":7,` +
		`"list":[{"password":"[key]","url":"[url]"},null,true],"phone":"+[number]"}`
	if string(got) != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

// words returns the digits of a number as English words.
func words(number string) string {
	var said []string
	for _, d := range number {
		said = append(said, strings.Fields("zero one two three four five six seven eight nine")[d-'0'])
	}
	return strings.Join(said, " ")
}

// TestNothingPlantedStays checks that personal data that are planted in several forms among other words are deleted.
func TestNothingPlantedStays(t *testing.T) {
	t.Parallel()
	around := rapid.StringMatching(`([a-z]{1,8}[ ,.;:!?\n]{1,2}){0,6}`)
	rapid.Check(t, func(r *rapid.T) {
		number := rapid.StringMatching(`[2-9]\d{9}`).Draw(r, "number")
		key := rapid.StringMatching(`[a-z]{4}[0-9]{4}[A-Z]{4}[0-9]{4}[a-z]{8}`).Draw(r, "key")
		for planted, secret := range map[string]string{
			"+1" + number: number,
			fmt.Sprintf("(%s) %s-%s", number[:3], number[3:6], number[6:]): number[6:],
			fmt.Sprintf("%s.%s.%s", number[:3], number[3:6], number[6:]):   number[6:],
			words(number):                           words(number[6:]),
			key:                                     key,
			"https://" + key + ".example/" + number: key,
			"a" + number + "@example.com":           number,
			number[:3] + " West " + key[:4] + " Avenue": key[:4] + " Avenue",
		} {
			text := around.Draw(r, "before") + " " + planted + " " + around.Draw(r, "after")
			if got := redact.Text(text); strings.Contains(got, secret) {
				r.Fatalf("%q leaves %q", text, got)
			}
		}
	})
}

// FuzzText checks that Text does not panic, and that the length of its result is bounded.
func FuzzText(f *testing.F) {
	f.Add("call (415) 555-0123 or 12 Main St")
	f.Fuzz(func(t *testing.T, text string) {
		text = text[:min(len(text), 10_000)]
		once := redact.Text(text)
		if len(once) > 3*len(text)+20 {
			t.Errorf("%d bytes became %d", len(text), len(once))
		}
	})
}
