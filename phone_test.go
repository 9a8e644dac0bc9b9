package callwright_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/callwright/callwright"
)

func TestParseNumber(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		country callwright.Country
		text    string
		number  callwright.PhoneNumber
		fault   string // texts that the error must contain, separated by spaces
	}{
		{"", "+14155550108", "+14155550108", ""},
		{"", " 14155550108", "+14155550108", ""},
		{"US", "+4155550123", "+4155550123", ""}, // the plus makes it E.164
		{"", "14155550108", "+14155550108", ""},
		{"", "442079460018", "+442079460018", ""},
		{"", "4930901820", "+4930901820", ""}, // no exchange of North America begins with 0

		{"", "4155550123", "", "+14155550123 +4155550123"}, // ambiguous, although Switzerland's numbers have nine digits after +41
		{"", "6505550123", "", "+16505550123 +6505550123"}, // Palo Alto or Singapore
		{"", "9175550123", "", "+19175550123 +9175550123"}, // New York or India
		{"", "5550123", "", "must begin with +"},
		{"", "0014155550108", "", "must begin with +"},
		{"", "02079460018", "", "must begin with +"},

		{"US", "4155550123", "+14155550123", ""},
		{"US", "6505550123", "+16505550123", ""},
		{"US", "14155550123", "+14155550123", ""},
		{"CA", "6135550123", "+16135550123", ""},
		{"US", "442079460018", "+442079460018", ""}, // has no other reading
		{"US", "0155550123", "", "must begin with +"},
		{"US", "1155550123", "", "must begin with +"},
		{"US", "01144207946", "", "must begin with +"},
		{"CH", "0446681800", "+41446681800", ""},
		{"CH", "446681800", "+41446681800", ""},
		{"GB", "02079460018", "+442079460018", ""},
		{"GB", "2079460018", "", "+2079460018 +442079460018"}, // Cairo, or London without its 0
		{"GB", "442079460018", "+442079460018", ""},
		{"DE", "030901820", "+4930901820", ""},
		{"DE", "4930901820", "", "+4930901820 +494930901820"},
		{"DE", "004930901820", "", "must begin with +"},
		{"IT", "0669812345", "+390669812345", ""},
		{"SG", "61234567", "+6561234567", ""},
		{"SG", "6561234567", "+6561234567", ""},
		{"HU", "0612345678", "+3612345678", ""},
		{"RU", "84951234567", "+74951234567", ""},

		{"", "", "", "must be an E.164"},
		{"", "+", "", "must be an E.164"},
		{"US", "++14155550108", "", "must be an E.164"},
		{"US", "+0415555010", "", "must be an E.164"},
		{"US", "+1234567890123456", "", "must be an E.164"},
		{"US", "415-555-0123", "", "must be an E.164"},
		{"US", "41555501२3", "", "must be an E.164"},
		{"GB", "+44(0)2079460018", "", "must not contain (0)"},
	} {
		number, err := c.country.ParseNumber(c.text)
		if number != c.number || (err == nil) != (c.fault == "") {
			t.Errorf("%s %q: got %q, %v", c.country, c.text, number, err)
		}
		if c.fault == "" {
			continue
		}
		texts := []string{c.fault}
		if c.fault[0] == '+' {
			texts = append(strings.Fields(c.fault), "ambiguous")
		}
		for _, text := range texts {
			if !errors.Is(err, callwright.ErrBadRequest) || !strings.Contains(callwright.MessageOf(err), text) {
				t.Errorf("%s %q: got %v, want %s", c.country, c.text, err, text)
			}
		}
	}
}

func TestTypedNumber(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]string{
		" +1 (202) 555-0102 ": "+12025550102", "+44\u00a020.7946.0018": "+442079460018", "+49\u202f30\u2011901820": "+4930901820",
		"(415) 555-0123": "4155550123", "+1 415 555 0108 x2": "+14155550108x2", "+44 (0) 20": "+44 (0) 20", "+ +1": "+ +1", "+()": "+", "": "",
	} {
		if got := callwright.TypedNumber(typed); got != want {
			t.Errorf("%q became %q, want %q", typed, got, want)
		}
	}
}

// tenants is a Numbering that counts the calls of Organization.
type tenants struct {
	countries map[callwright.OrgID]callwright.Country
	asked     int
}

func (t *tenants) Organization(_ context.Context, id callwright.OrgID) (callwright.Organization, error) {
	t.asked++
	switch country, ok := t.countries[id]; {
	case id == "down":
		return callwright.Organization{}, callwright.ErrUnavailable
	case !ok:
		return callwright.Organization{}, callwright.NotFound("organization")
	default:
		return callwright.Organization{ID: id, DefaultCountry: country}, nil
	}
}

func TestReadNumber(t *testing.T) {
	t.Parallel()
	in := &tenants{countries: map[callwright.OrgID]callwright.Country{"acme": "US", "bern": "CH"}}
	for _, c := range []struct {
		org  callwright.OrgID
		text string
		want callwright.PhoneNumber
		err  error
	}{
		{"acme", "4155550123", "+14155550123", nil}, {"bern", "0446681800", "+41446681800", nil},
		{"absent", "4155550123", "", callwright.ErrBadRequest}, {"down", "4155550123", "", callwright.ErrUnavailable},
	} {
		if got, err := callwright.ReadNumber(t.Context(), in, c.org, c.text); got != c.want || !errors.Is(err, c.err) {
			t.Errorf("%s %s: got %q, %v", c.org, c.text, got, err)
		}
	}
	in.asked = 0
	if got, err := callwright.ReadNumber(t.Context(), in, "down", "+14155550123"); got != "+14155550123" || err != nil || in.asked != 0 {
		t.Errorf("with a plus: got %q, %v after %d questions", got, err, in.asked)
	}
	if got, err := callwright.ReadNumber(t.Context(), nil, "acme", "4155550123"); got != "" || !errors.Is(err, callwright.ErrBadRequest) {
		t.Errorf("without organizations: got %q, %v", got, err)
	}
}

func TestCountryCheck(t *testing.T) {
	t.Parallel()
	for country, ok := range map[callwright.Country]bool{"": true, "US": true, "DE": true, "us": false, "XX": false, "001": false} {
		if err := country.Check(); (err == nil) != ok {
			t.Errorf("%q: %v", country, err)
		}
	}
}

// FuzzParseNumber checks that a parsed number is in E.164 and ends with the typed digits, except for a trunk prefix.
func FuzzParseNumber(f *testing.F) {
	f.Add("US", "+12025550102")
	f.Add("US", "4155550108")
	f.Add("DE", "030901820")
	f.Add("HU", "0612345678")
	f.Fuzz(func(t *testing.T, country, text string) {
		number, err := callwright.Country(country).ParseNumber(text)
		if err != nil {
			return
		}
		if again, err := callwright.ParsePhoneNumber(number.String()); err != nil || again != number {
			t.Errorf("%q became %q, which is %q, %v", text, number, again, err)
		}
		digits := strings.Trim(text, " +")
		if !strings.HasSuffix(number.Digits(), digits) && !strings.HasSuffix(number.Digits(), digits[1:]) && !strings.HasSuffix(number.Digits(), digits[2:]) {
			t.Errorf("%q became %q", text, number)
		}
	})
}

func TestNumberReadings(t *testing.T) {
	t.Parallel()
	for digits, some := range map[string][]callwright.PhoneNumber{
		"4155550123": {"+14155550123", "+494155550123"}, "3012345678": {"+13012345678", "+493012345678"}, "02079460123": {"+442079460123"}, "14155550123": {"+14155550123"},
	} {
		all := callwright.NumberReadings(digits)
		for _, n := range some {
			if !slices.Contains(all, n) {
				t.Errorf("%s may not stand for %s, but for %v", digits, n, all)
			}
		}
		if !slices.IsSorted(all) || len(slices.Compact(slices.Clone(all))) != len(all) {
			t.Errorf("%s: %v", digits, all)
		}
	}
	for _, none := range []string{"", "+14155550123", "x", strings.Repeat("1", 40)} {
		if all := callwright.NumberReadings(none); len(all) > 0 {
			t.Errorf("%q may stand for %v", none, all)
		}
	}
}
