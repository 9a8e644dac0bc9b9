package expect_test

import (
	"fmt"
	"testing"

	"github.com/callwright/callwright/agents/conversation/expect"
)

func ExampleOfVariable() {
	fmt.Println(expect.OfVariable("accountNumber", false, "the number on the card, 10 digits"))
	fmt.Println(expect.OfVariable("wants_callback", true, ""))
	// Output:
	// {digits 10 10}
	// {yes_no 0 0}
}

func TestOfVariable(t *testing.T) {
	t.Parallel()
	digits := expect.Answer{Kind: expect.Digits}
	for _, tt := range []struct {
		name, description string
		want              expect.Answer
	}{
		{"phone", "", digits},
		{"phoneNumber", "the caller's number", digits},
		{"callback", "Telephone number at which the caller can be reached", digits},
		{"zip_code", "", digits},
		{"pin", "4 to 6 digits", expect.Answer{Kind: expect.Digits, Min: 4, Max: 6}},
		{"pin", "4-6 digits", expect.Answer{Kind: expect.Digits, Min: 4, Max: 6}},
		{"code", "a 4-digit code", expect.Answer{Kind: expect.Digits, Min: 4, Max: 4}},
		{"Kundennummer", "achtstellig", digits},
		{"nummer", "die 8 Ziffern der Karte", expect.Answer{Kind: expect.Digits, Min: 8, Max: 8}},
		{"code", "les 5 chiffres", expect.Answer{Kind: expect.Digits, Min: 5, Max: 5}},
		{"phone", "the caller's local phone number, six digits", expect.Answer{Kind: expect.Digits, Min: 6, Max: 6}},
		{"code", "four to six digits", expect.Answer{Kind: expect.Digits, Min: 4, Max: 6}},
		{"nummer", "die acht Ziffern der Karte", expect.Answer{Kind: expect.Digits, Min: 8, Max: 8}},
		{"code", "99 digits", digits},
		{"email", "", expect.Answer{Kind: expect.Email}},
		{"eMail", "", expect.Answer{Kind: expect.Email}},
		{"contact", "the e-mail address", expect.Answer{Kind: expect.Email}},
		{"birthday", "", expect.Answer{Kind: expect.Date}},
		{"when", "date of the appointment", expect.Answer{Kind: expect.Date}},
		{"last_name", "spelled letter by letter", expect.Answer{Kind: expect.Spelling}},
		{"home", "street and number", expect.Answer{Kind: expect.Address}},
		{"name", "the caller's full name", expect.Answer{}},
		{"guests", "number of guests", expect.Answer{}},
		{"", "", expect.Answer{}},
		{"updated", "whether the candidate agrees", expect.Answer{}},
	} {
		if got := expect.OfVariable(tt.name, false, tt.description); got != tt.want {
			t.Errorf("OfVariable(%q, %q) = %v, want %v", tt.name, tt.description, got, tt.want)
		}
	}
}

// FuzzOfVariable checks that no text causes impossible bounds.
func FuzzOfVariable(f *testing.F) {
	f.Add("phoneNumber", "6 to 4 digits")
	f.Add("\xff", "0 digits")
	f.Fuzz(func(t *testing.T, name, description string) {
		if a := expect.OfVariable(name, false, description); a.Min < 0 || a.Max < a.Min || a.Min == 0 && a.Max > 0 || a.Max > 40 {
			t.Errorf("OfVariable(%q, %q) = %v", name, description, a)
		}
	})
}
