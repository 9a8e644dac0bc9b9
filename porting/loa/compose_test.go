package loa_test

import (
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/porting"
	"github.com/callwright/callwright/porting/loa"
)

func content() loa.Content {
	return loa.Content{
		Provider: "Acme Telecom",
		Request:  "port_1", Date: time.Date(2026, 3, 2, 23, 30, 0, 0, time.UTC), Numbers: []callwright.PhoneNumber{"+14155550100", "+14155550101"},
		CustomerType: porting.Business, BusinessName: "Acme Bakery", FirstName: "Robin", LastName: "Doe", AccountNumber: "****8231",
		Email:      "robin@example.com",
		Address:    porting.Address{Street: "1 Main Street", City: "Oakland", State: "CA", Zip: "94607", Country: "US"},
		TargetDate: time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC), Template: loa.Template,
	}
}

func TestCompose(t *testing.T) {
	t.Parallel()
	c := content()
	text := loa.Compose(c)
	var facts []string
	for _, f := range text.Facts {
		facts = append(facts, f.Name+": "+f.Value)
	}
	const want = `Port request: port_1
Date: 2 March 2026
Billing name: Acme Bakery
Billing and service address: 1 Main Street, Oakland, CA 94607, US
Account number: ****8231
Authorized representative: Robin Doe
E-mail: robin@example.com
New provider: Acme Telecom
Requested date of the port: 1 April 2026`
	if got := strings.Join(facts, "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := strings.Join(text.Numbers, " "); got != "+14155550100 +14155550101" {
		t.Errorf("the numbers are %s", got)
	}
	declared := strings.Join(text.Paragraphs, "\n")
	for _, duty := range []string{
		"decided to change the carrier of every telephone number listed", "designate the new provider", "as my agent", "only one carrier for a service",
		"local service", "intraLATA", "interLATA", "may have to pay a fee", "authorized to act",
	} {
		if !strings.Contains(declared, duty) {
			t.Errorf("the letter does not say %q", duty)
		}
	}
	c.BusinessName, c.Address.Street2 = "", "Suite 2"
	text = loa.Compose(c)
	if text.Facts[2].Value != "Robin Doe" || text.Facts[3].Value != "1 Main Street, Suite 2, Oakland, CA 94607, US" {
		t.Errorf("a person's letter says %+v", text.Facts)
	}
	text.Paragraphs[0] = "spoiled"
	if loa.Compose(c).Paragraphs[0] == "spoiled" {
		t.Error("texts share memory")
	}
}

// TestWordingIsFrozen fails if the wording of a template or of the disclosure changes: waiting letters would then be signed with a
// different text than the signer was shown. A new wording requires a new template.
func TestWordingIsFrozen(t *testing.T) {
	t.Parallel()
	text := loa.Compose(content())
	var all strings.Builder
	all.WriteString(text.Title)
	for _, f := range text.Facts {
		all.WriteString("\n" + f.Name)
	}
	for _, p := range text.Paragraphs {
		all.WriteString("\n" + p)
	}
	for name, test := range map[string][2]string{
		"us-1":       {all.String(), "82a6808820d6114116fdd06486b134e7bf6608c13cecc7f4ac0ca51233943d65"},
		"disclosure": {loa.Disclosure, "136d5fbfafdffa9d270cfc620420fd827dfa137ff8b8309463f3dc7bf81b9575"},
	} {
		if got := hash(test[0]); got != test[1] {
			t.Errorf("the SHA-256 of %s is %s, want %s", name, got, test[1])
		}
	}
}

func TestSameName(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		a, b string
		want bool
	}{
		{"Robin Doe", "robin  DOE ", true}, {"Robin Doe", "Robin\u00a0Doe", true}, {"Robin Doe", "RobinDoe", false}, {"Robin Doe", "Robin", false},
		{"Robin Doe", "", false}, {"Zo\u00eb O'Doe", "Zoe\u0308 O\u2019Doe", true}, {"ZO\u00cb", "zoe\u0308", true}, {"Zo\u00eb", "Zoe", false},
		{"\u0141ukasz \u017b\u00f3\u0142\u0107", "\u0142UKASZ Z\u0307o\u0301\u0142c\u0301", true}, {"\u010ciri\u0107", "C\u030Ciric\u0301", true}, {"Anne-Marie", "anne\u2010marie", true},
		{"\u0391\u03b8\u03b7\u03bd\u03ac", "\u0391\u0398\u0397\u039d\u0386", true}, {"\u0308a", "\u0308A", true}, {"\u1e9e", "ss", false},
	} {
		if got := loa.SameName(test.a, test.b); got != test.want {
			t.Errorf("%q and %q: %t", test.a, test.b, got)
		}
		if got := loa.SameName(test.b, test.a); got != test.want {
			t.Errorf("%q and %q: %t", test.b, test.a, got)
		}
	}
}
