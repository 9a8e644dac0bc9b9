package portingapi

import (
	"fmt"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/porting"
	oas "github.com/callwright/callwright/transport/oas/portingoas"
)

// draftOf translates the body of InitiatePort. The function same must return an equal text for all spellings of a number.
func draftOf(req *oas.PortRequestCreate, same func(text string) string) (porting.Draft, error) {
	account := req.LosingCarrierInformation
	d := porting.Draft{
		Account: porting.Account{
			CustomerType: porting.CustomerType(account.CustomerType), BusinessName: account.BusinessName.Or(""),
			FirstName: account.FirstName, LastName: account.LastName, AccountNumber: callwright.Secret(account.AccountNumber),
			Email: account.AuthorizedRepresentativeEmail, NotifyEmails: account.NotificationEmails,
			Address: porting.Address{
				Street: account.Address.Street, Street2: account.Address.Street2.Or(""), City: account.Address.City,
				State: account.Address.State, Zip: account.Address.Zip, Country: account.Address.Country,
			},
		},
		PIN: callwright.Secret(account.Pin.Or("")), TargetDate: req.TargetPortDate.Value,
		Documents: req.Documents, CallsFrom: req.InboundAllowedIps, Webhook: callwright.Secret(req.WebhookURL.Or("")),
	}
	var err error
	d.Numbers, err = numberDrafts(req.PhoneNumbers, req.NumberPins, same)
	return d, err
}

// numberDrafts combines the numbers of a body with their PINs, which the body lists separately. It returns an error for a PIN of an unknown
// number, and for a second PIN of a number.
func numberDrafts(numbers []string, pins []oas.PortNumberPin, same func(string) string) ([]porting.NumberDraft, error) {
	drafts := make([]porting.NumberDraft, len(numbers))
	places := map[string]int{}
	for i, n := range numbers {
		drafts[i].Number = n
		places[same(n)] = i
	}
	var errs callwright.FieldErrors
	for i, p := range pins {
		field := fmt.Sprintf("number_pins[%d].phone_number", i)
		switch at, ok := places[same(p.PhoneNumber)]; {
		case !ok:
			errs = append(errs, callwright.Invalid(field, "must be one of phone_numbers"))
		case drafts[at].PIN != "":
			errs = append(errs, callwright.Invalid(field, "must be unique"))
		default:
			drafts[at].PIN = callwright.Secret(p.Pin)
		}
	}
	return drafts, errs.OrNil()
}
