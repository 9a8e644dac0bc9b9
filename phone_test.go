package callwright_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/callwright/callwright"
)

func TestParseTypedNumber(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text   string
		number callwright.PhoneNumber
		fault  string
	}{
		{"+14155550108", "+14155550108", ""},
		{" +1 (202) 555-0102 ", "+12025550102", ""},
		{"+44\u00a020.7946.0018", "+442079460018", ""},
		{"+49\u202f30\u2011901820", "+4930901820", ""},
		{"4155550108", "", "must begin with +"},
		{" 14155550108", "", "must begin with +"},
		{"(415) 555-0108", "", "must begin with +"},
		{"0014155550108", "", "must begin with +"},
		{"", "", "must begin with +"},
		{"+44 (0) 20 7946 0018", "", "must not have (0)"},
		{"++14155550108", "", "must be an E.164"},
		{"+ +14155550108", "", "must be an E.164"},
		{"+1 415 555 0108 x2", "", "must be an E.164"},
		{"+0 415 555 0108", "", "must be an E.164"},
		{"+1-2", "", "must be an E.164"},
		{"+()", "", "must be an E.164"},
		{"+1234567890123456", "", "must be an E.164"},
	} {
		number, err := callwright.ParseTypedNumber(c.text)
		if number != c.number || (err == nil) != (c.fault == "") {
			t.Errorf("%q: got %q, %v", c.text, number, err)
		}
		if c.fault != "" && (!errors.Is(err, callwright.ErrBadRequest) || !strings.HasPrefix(callwright.MessageOf(err), c.fault)) {
			t.Errorf("%q: got %v, want %s", c.text, err, c.fault)
		}
	}
}

// FuzzParseTypedNumber wants a number that is parsed to be one in E.164, with the digits that were typed.
func FuzzParseTypedNumber(f *testing.F) {
	f.Add("+1 (202) 555-0102")
	f.Add("4155550108")
	f.Fuzz(func(t *testing.T, text string) {
		number, err := callwright.ParseTypedNumber(text)
		if err != nil {
			return
		}
		if again, err := callwright.ParsePhoneNumber(number.String()); err != nil || again != number {
			t.Errorf("%q became %q, which is %q, %v", text, number, again, err)
		}
		var digits strings.Builder
		for _, c := range text {
			if c >= '0' && c <= '9' {
				digits.WriteRune(c)
			}
		}
		if digits.String() != number.Digits() {
			t.Errorf("%q became %q", text, number)
		}
	})
}
