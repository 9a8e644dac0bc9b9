package loa

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/callwright/callwright/porting"
)

// Template names the current wording of letters. The wording of a template must not change, because a waiting letter is rendered again when
// it is signed. A new wording requires a new template.
const Template = "us-1"

// Disclosure is the text to which signers consent. Each signature records it.
const Disclosure = `Consent to electronic records and signatures (us-1)

You can read and sign this letter electronically. Typing your name and pressing the button to sign has the same effect as your signature on paper.

You do not have to. You can decline, or ignore this page; nothing is signed then. To read or sign the letter on paper instead, ask the person or business that requested the port for a paper copy. They may charge what copying and mailing cost.

Your consent covers this one letter. You can withdraw it until you have signed by declining or by closing this page; a signature that was given stays valid. If your e-mail address is wrong or changes, tell the person or business that requested the port.

To read and keep the letter you need a web browser, an e-mail address, and a program that shows PDF files. Download and keep a copy: you can do so here before and after you sign, and the link to the signed copy is mailed to you.`

// contentOf returns the content of a request's letter, with provider as the new provider.
func contentOf(r porting.Request, provider string) Content {
	c := Content{
		Request: r.ID, Date: r.CreatedAt.UTC(), CustomerType: r.Account.CustomerType, FirstName: r.Account.FirstName, LastName: r.Account.LastName,
		AccountNumber: porting.Masked(r.Account.AccountNumber), Email: r.Account.Email, Address: r.Account.Address,
		TargetDate: r.TargetDate.UTC(), Provider: provider, Template: Template,
	}
	if r.Account.CustomerType == porting.Business {
		c.BusinessName = r.Account.BusinessName
	}
	for _, n := range r.Numbers {
		c.Numbers = append(c.Numbers, n.Number)
	}
	return c
}

// field is a text of a request with its field name in the API.
type field struct{ name, value string }

// fields returns the texts of a letter that come from the customer, so that errors can name their fields.
func (c Content) fields() []field {
	const account = "losing_carrier_information."
	const address = account + "address."
	return []field{
		{account + "business_name", c.BusinessName}, {account + "first_name", c.FirstName}, {account + "last_name", c.LastName},
		{account + "account_number", c.AccountNumber}, {account + "authorized_representative_email", c.Email},
		{address + "street", c.Address.Street}, {address + "street2", c.Address.Street2}, {address + "city", c.Address.City},
		{address + "state", c.Address.State}, {address + "zip", c.Address.Zip}, {address + "country", c.Address.Country},
	}
}

// signer returns the name of the authorized representative.
func (c Content) signer() string { return c.FirstName + " " + c.LastName }

// customer returns the business name of the account or, if it has none, the name of the person.
func (c Content) customer() string {
	if c.BusinessName != "" {
		return c.BusinessName
	}
	return c.signer()
}

// address returns a service address in one line.
func (c Content) address() string {
	a := c.Address
	lines := []string{a.Street, a.Street2, a.City, strings.TrimSpace(a.State + " " + a.Zip), a.Country}
	return strings.Join(slices.DeleteFunc(lines, func(line string) bool { return line == "" }), ", ")
}

// Compose returns the wording of a letter. It contains the statements that 47 CFR 64.1130 requires: the billing name and address, every
// number, the decision to change, the designation of the new provider as the agent, that only one carrier can serve a number, and that a
// change may incur a fee.
func Compose(c Content) Text {
	t := Text{Title: "Letter of Authorization", Paragraphs: slices.Clone(paragraphs)}
	t.Facts = []Fact{
		{"Port request", c.Request}, {"Date", dated(c.Date)}, {"Billing name", c.customer()}, {"Billing and service address", c.address()},
		{"Account number", c.AccountNumber}, {"Authorized representative", c.signer()}, {"E-mail", c.Email},
		{"New provider", c.Provider}, {"Requested date of the port", dated(c.TargetDate)},
	}
	for _, n := range c.Numbers {
		t.Numbers = append(t.Numbers, string(n))
	}
	return t
}

// paragraphs are the signer's declarations in the template us-1.
var paragraphs = []string{
	"I am the customer named above, or I am authorized to act for this customer's telephone account. The name and the address above are those of the account with the carrier that serves the numbers today.",
	"I have decided to change the carrier of every telephone number listed in this letter, and of no other number. I want the numbers to be moved (ported) from the carrier that serves them today to the new provider named above.",
	"I designate the new provider, and the carriers it works with, as my agent for this change. My agent may order the change, and may ask the carrier of today for those records of the account that the change needs.",
	"I understand that I can have only one carrier for a service of a telephone number. For local service, I choose the new provider. For toll calls within my region (intraLATA), I choose the new provider. For long-distance calls (interLATA, interstate and international), I choose the new provider. Each of these choices replaces the carrier that I had for that service.",
	"I understand that I may have to pay a fee for changing a carrier, and that I can ask the carrier of today and the new provider about it before I sign.",
	"I understand that services which come with the numbers today, such as internet access or an alarm line, may end with the change, and that I should not cancel the account before the numbers have been ported.",
}

// dated formats a date, in UTC, for letters and mails.
func dated(t time.Time) string { return t.UTC().Format("2 January 2006") }

// counted returns n followed by noun, in the plural unless n is 1.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
