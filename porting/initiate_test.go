package porting_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/porting"
)

// TestDraftsAreChecked checks that Initiate refuses drafts with a single invalid field, names that field, and stores nothing.
func TestDraftsAreChecked(t *testing.T) {
	t.Parallel()
	for want, spoil := range map[string]func(d *porting.Draft){
		"phone_numbers":        func(d *porting.Draft) { d.Numbers = nil },
		"phone_numbers ":       func(d *porting.Draft) { d.Numbers = slices.Repeat(d.Numbers[:1], porting.MaxNumbers+1) },
		"phone_numbers[1]":     func(d *porting.Draft) { d.Numbers[1].Number = "415 555 0100" },
		"phone_numbers[1] ":    func(d *porting.Draft) { d.Numbers[1].Number = " 14155550100" }, // a space in place of the plus
		"phone_numbers[0]":     func(d *porting.Draft) { d.Numbers[0].Number = "+19005550100" },
		"phone_numbers[0] ":    func(d *porting.Draft) { d.Numbers[0].Number = "+1415555010" },
		"phone_numbers[0].pin": func(d *porting.Draft) { d.Numbers[0].PIN = callwright.Secret(strings.Repeat("1", 33)) },
		"documents":            func(d *porting.Draft) { d.Documents = nil },
		"documents ":           func(d *porting.Draft) { d.Documents = make([]string, 21) },
		"documents[0]":         func(d *porting.Draft) { d.Documents[0] = "" },
		"documents[0] ":        func(d *porting.Draft) { d.Documents[0] = "doc_theirs" },
		"documents[1]":         func(d *porting.Draft) { d.Documents = []string{"doc_1", "doc_1"} },
		"target_port_date":     func(d *porting.Draft) { d.TargetDate = time.Now().AddDate(0, 0, 6) },
		"target_port_date ":    func(d *porting.Draft) { d.TargetDate = time.Now().AddDate(0, 0, 366) },

		"losing_carrier_information.customer_type":                   func(d *porting.Draft) { d.Account.CustomerType = "club" },
		"losing_carrier_information.business_name":                   func(d *porting.Draft) { d.Account.BusinessName = " " },
		"losing_carrier_information.first_name":                      func(d *porting.Draft) { d.Account.FirstName = strings.Repeat("é", 101) },
		"losing_carrier_information.last_name":                       func(d *porting.Draft) { d.Account.LastName = "Do\ne" },
		"losing_carrier_information.account_number":                  func(d *porting.Draft) { d.Account.AccountNumber = "" },
		"losing_carrier_information.authorized_representative_email": func(d *porting.Draft) { d.Account.Email = "Robin <robin@example.com>" },
		"losing_carrier_information.notification_emails":             func(d *porting.Draft) { d.Account.NotifyEmails = slices.Repeat(d.Account.NotifyEmails, 11) },
		"losing_carrier_information.notification_emails[0]":          func(d *porting.Draft) { d.Account.NotifyEmails[0] = "a@example.com\r\nBcc: b@example.com" },
		"losing_carrier_information.address.street":                  func(d *porting.Draft) { d.Account.Address.Street = "" },
		"losing_carrier_information.address.street2":                 func(d *porting.Draft) { d.Account.Address.Street2 = strings.Repeat("x", 201) },
		"losing_carrier_information.address.city":                    func(d *porting.Draft) { d.Account.Address.City = "" },
		"losing_carrier_information.address.state":                   func(d *porting.Draft) { d.Account.Address.State = "" },
		"losing_carrier_information.address.zip":                     func(d *porting.Draft) { d.Account.Address.Zip = "" },
		"losing_carrier_information.address.country":                 func(d *porting.Draft) { d.Account.Address.Country = "u1" },
		"losing_carrier_information.pin":                             func(d *porting.Draft) { d.PIN = callwright.Secret(strings.Repeat("1", 33)) },
	} {
		inHouse(t, func(t *testing.T, h *house) {
			d := draft("00", "01")
			spoil(&d)
			_, _, err := h.Initiate(t.Context(), org, d)
			wantError(t, want, err, callwright.CodeBadRequest, strings.TrimSpace(want))
			var all callwright.FieldErrors
			if !errors.As(err, &all) || len(all) != 1 && !strings.HasSuffix(want, "s ") {
				t.Errorf("%q: %v; want one error", want, err)
			}
			if page, err := h.List(t.Context(), org, porting.Filter{}); err != nil || len(page.Items) > 0 {
				t.Errorf("%q: what was refused is stored: %v", want, err)
			}
		})
	}
}

// TestTextsAreVisible checks that no text of a draft may contain control or format characters: they are invisible, or disguise the other
// characters.
func TestTextsAreVisible(t *testing.T) {
	t.Parallel()
	const account = "losing_carrier_information."
	for field, put := range map[string]func(d *porting.Draft, c string){
		"phone_numbers[0].pin":    func(d *porting.Draft, c string) { d.Numbers[0].PIN = callwright.Secret("47" + c + "11") },
		account + "pin":           func(d *porting.Draft, c string) { d.PIN = callwright.Secret("47" + c + "11") },
		account + "business_name": func(d *porting.Draft, c string) { d.Account.BusinessName = "A" + c + "B" },
		account + "business_name ": func(d *porting.Draft, c string) {
			d.Account.BusinessName, d.Account.CustomerType = "A"+c+"B", porting.Personal
		},
		account + "first_name":                      func(d *porting.Draft, c string) { d.Account.FirstName = "A" + c + "B" },
		account + "last_name":                       func(d *porting.Draft, c string) { d.Account.LastName = "A" + c + "B" },
		account + "account_number":                  func(d *porting.Draft, c string) { d.Account.AccountNumber = callwright.Secret("88" + c + "31") },
		account + "authorized_representative_email": func(d *porting.Draft, c string) { d.Account.Email = "a" + c + "b@example.com" },
		account + "notification_emails[0]":          func(d *porting.Draft, c string) { d.Account.NotifyEmails[0] = "\"a" + c + "b\"@example.com" },
		account + "address.street":                  func(d *porting.Draft, c string) { d.Account.Address.Street = "A" + c + "B" },
		account + "address.street2":                 func(d *porting.Draft, c string) { d.Account.Address.Street2 = "A" + c + "B" },
		account + "address.city":                    func(d *porting.Draft, c string) { d.Account.Address.City = "A" + c + "B" },
		account + "address.state":                   func(d *porting.Draft, c string) { d.Account.Address.State = "A" + c + "B" },
		account + "address.zip":                     func(d *porting.Draft, c string) { d.Account.Address.Zip = "9" + c + "4" },
	} {
		inHouse(t, func(t *testing.T, h *house) {
			for _, c := range []string{"\x00", "\t", "\n", "\x1b", "\x7f", "\u0085", "\u009b", "\u200b", "\u202e", "\u2066", "\ufeff", "\u2028", "\u2029"} {
				d := draft("00", "01")
				put(&d, c)
				_, _, err := h.Initiate(t.Context(), org, d)
				wantError(t, fmt.Sprintf("%s with %q", field, c), err, callwright.CodeBadRequest, strings.TrimSpace(field))
			}
		})
	}
}

// TestAddressesHaveNoSpaces checks that spaces are refused even in a quoted local part, because mail servers split addresses there.
func TestAddressesHaveNoSpaces(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		for _, address := range []string{`"a b"@example.com`, "\"a\u00a0b\"@example.com"} {
			d := draft("00")
			d.Account.Email = address
			_, _, err := h.Initiate(t.Context(), org, d)
			wantError(t, address, err, callwright.CodeBadRequest, "losing_carrier_information.authorized_representative_email")
		}
	})
}

// TestNamesHaveNoLinks checks that names with web addresses are refused: the names appear in unsolicited mail.
func TestNamesHaveNoLinks(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		for field, name := range map[string]func(d *porting.Draft) *string{
			"business_name": func(d *porting.Draft) *string { return &d.Account.BusinessName },
			"first_name":    func(d *porting.Draft) *string { return &d.Account.FirstName },
			"last_name":     func(d *porting.Draft) *string { return &d.Account.LastName },
		} {
			for _, text := range []string{"Win at https://x.example", "WWW.x.example", "hxxp://x"} {
				d := draft("00")
				*name(&d) = text
				_, _, err := h.Initiate(t.Context(), org, d)
				wantError(t, text, err, callwright.CodeBadRequest, "losing_carrier_information."+field)
				if err == nil || !strings.Contains(err.Error(), "must not contain a web address") {
					t.Errorf("%s %q gave %v", field, text, err)
				}
			}
		}
		d := draft("00")
		d.Account.BusinessName = "Dr. Jos\u00e9 O\u2019Neil & Sons, Inc."
		if _, _, err := h.Initiate(t.Context(), org, d); err != nil {
			t.Error(err)
		}
	})
}

// TestEverythingWrongIsListed checks that a single error lists every invalid field.
func TestEverythingWrongIsListed(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		_, _, err := h.Initiate(t.Context(), org, porting.Draft{Numbers: []porting.NumberDraft{{Number: "1"}, {Number: "2"}}})
		var all callwright.FieldErrors
		if !errors.As(err, &all) || len(all) != 13 {
			t.Errorf("%d errors: %v", len(all), err)
		}
	})
}

func TestDatesAreThoseOfTheZone(t *testing.T) {
	t.Parallel()
	zone := time.FixedZone("", 10*60*60)
	inHouse(t, func(t *testing.T, h *house) {
		h.sleep(20 * time.Hour) // 20:00 UTC is 6:00 on the next day in the zone
		r := h.initiate("00")
		if want := time.Date(2000, 1, 9, 0, 0, 0, 0, time.UTC); !r.TargetDate.Equal(want) {
			t.Errorf("got %s, want %s", r.TargetDate, want)
		}
		d := draft("01")
		d.TargetDate = time.Date(2000, 1, 9, 1, 0, 0, 0, zone) // still the 8th in UTC
		if r, _, err := h.Initiate(t.Context(), org, d); err != nil || r.TargetDate.Day() != 9 {
			t.Errorf("got %s, %v", r.TargetDate, err)
		}
	}, func(c *porting.Config) { c.Zone = zone })
}

// TestNumbersAreInOneRequest checks that a number cannot be in two open requests, and that the error does not reveal the other request or
// its owner.
func TestNumbersAreInOneRequest(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		first := h.initiate("00", "01")
		var said []string
		for _, other := range []callwright.OrgID{org, "b"} {
			_, _, err := h.Initiate(t.Context(), other, draft("02", "01"))
			wantError(t, string(other), err, callwright.CodeConflict, "phone_numbers[1]")
			said = append(said, err.Error())
		}
		if said[0] != said[1] || strings.Contains(said[0], first.ID) {
			t.Errorf("the answers tell whose request it is: %q", said)
		}
		if _, _, err := h.Initiate(t.Context(), "b", draft("02")); err != nil {
			t.Errorf("what was refused has taken its numbers: %v", err)
		}
	})
}

func TestPINs(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		d := draft("00", "01")
		d.Numbers[1].PIN = "0815"
		r, _, err := h.Initiate(t.Context(), org, d)
		if err != nil || r.Numbers[0].PIN != "4711" || r.Numbers[1].PIN != "0815" {
			t.Errorf("got %q and %q, %v", r.Numbers[0].PIN.Reveal(), r.Numbers[1].PIN.Reveal(), err)
		}
		if none, _, err := h.Initiate(t.Context(), org, withoutPIN(draft("02"))); err != nil || none.Numbers[0].HasPIN {
			t.Errorf("got %+v, %v", none.Numbers, err)
		}
	})
}

func withoutPIN(d porting.Draft) porting.Draft {
	d.PIN = ""
	return d
}

func TestCheck(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		h.initiate("00")
		numbers := []string{"+18005550100", "+19005550100", "+11155550100", "+4930123456", " 14155550100", "+14155550112", "+14155550109"}
		got, err := h.Check(t.Context(), "acme", numbers)
		if err != nil || len(got) != len(numbers) {
			t.Fatalf("got %+v, %v", got, err)
		}
		for i, want := range []porting.Portability{
			{Portable: true, Type: porting.TollFree, Confirmed: true},
			{Type: porting.UnknownType, Failure: porting.NumberNotPortable},
			{Type: porting.UnknownType, Failure: porting.NumberNotFound},
			{Portable: true, Type: porting.Landline, Confirmed: true},
			{Type: porting.UnknownType, PINRequired: true, Failure: porting.PendingOrder},
			{Type: porting.Landline, Confirmed: true, Failure: porting.NumberNotPortable},
			{Portable: true, Type: porting.Landline, PINRequired: true, Confirmed: true},
		} {
			if want.Number = got[i].Number; got[i] != want {
				t.Errorf("%s: got %+v, want %+v", numbers[i], got[i], want)
			}
		}
		some, err := h.Check(t.Context(), "acme", []string{"no", "+19005550100", "+1"})
		if err != nil || len(some) != 3 || some[0].Portable || some[0].Number != "no" || some[0].Problem == "" || some[1].Problem != "" ||
			some[1].Failure != porting.NumberNotPortable || some[2].Problem == "" {
			t.Errorf("no numbers: %+v, %v", some, err)
		}
		_, err = h.Check(t.Context(), "acme", nil)
		wantError(t, "none", err, callwright.CodeBadRequest, "phone_numbers")
	})
}

// TestCheckWithoutAnswer checks that Check derives the portability from the number alone if the gateway fails.
func TestCheckWithoutAnswer(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		got, err := h.Check(t.Context(), "acme", []string{"+18885550100", "+14155550100", "+4930123456"})
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range []porting.Portability{
			{Portable: true, Type: porting.TollFree}, {Portable: true, Type: porting.UnknownType, PINRequired: true},
			{Portable: true, Type: porting.UnknownType},
		} {
			if want.Number = got[i].Number; got[i] != want {
				t.Errorf("got %+v, want %+v", got[i], want)
			}
		}
	}, func(c *porting.Config) { c.Gateway = &carrier{Gateway: c.Gateway, away: true} })
}
