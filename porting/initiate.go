package porting

import (
	"context"
	"fmt"
	"net/mail"
	"net/netip"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/callwright/callwright"
)

// Draft is the input of a request to port numbers.
type Draft struct {
	Numbers    []NumberDraft
	Account    Account
	PIN        callwright.Secret // default for numbers without a PIN; may be empty
	TargetDate time.Time         // zero means the earliest possible date
	Documents  []string          // document ids
	CallsFrom  []string          // addresses and networks that may send calls to the ported numbers; empty means Config.CallsFrom
	Webhook    callwright.Secret // URL that receives every history entry; may be empty
}

// NumberDraft is one number of a Draft, with its PIN.
type NumberDraft struct {
	Number string            // E.164
	PIN    callwright.Secret // PIN at the losing carrier; empty means the Draft's PIN
}

// Limits of a Draft: the maximum numbers of list items, and the maximum lengths of texts in characters (maxEmail in bytes).
const (
	MaxDocuments     = 20
	MaxNotifyEmails  = 10
	MaxCallsFrom     = 100 // addresses and networks
	maxID            = 64
	maxName          = 100
	maxBusinessName  = 200
	maxAccountNumber = 64
	maxPIN           = 32
	maxEmail         = 254
	maxStreet        = 200
	maxCity          = 100
	maxZip           = 20
	maxURL           = 2048
)

// Initiate stores a new request and mails its letter of authorization. It returns the letter, because the letter's URL is not stored with
// the request. The error lists all invalid fields.
//
// It returns CodeBadRequest if a field is invalid or a document does not belong to the organization, CodeConflict if a number is in another
// open request or belongs to another organization of this deployment, and CodeTooManyRequests if the organization has Config.MaxOpen open
// requests or has created Config.MaxHourly requests within an hour.
func (s *Service) Initiate(ctx context.Context, org callwright.OrgID, d Draft) (r Request, l Letter, err error) {
	if r, err = s.draft(ctx, org, d); err != nil {
		return Request{}, Letter{}, err
	}
	entry, err := r.move(Initiated, API, r.CreatedAt, "")
	if err != nil {
		return Request{}, Letter{}, err
	}
	err = s.cfg.Atomic.Do(ctx, func(ctx context.Context) error {
		if err := s.admit(ctx, org); err != nil {
			return err
		}
		if err := s.claim(ctx, r); err != nil {
			return err
		}
		if err := s.cfg.Store.InsertRequest(ctx, r, entry); err != nil {
			return err
		}
		if err := s.admitNumbers(ctx, r); err != nil {
			return err
		}
		if l, err = s.cfg.Letters.SendLetter(ctx, r); err != nil {
			return err
		}
		return s.enqueueNotices(ctx, r, []Entry{entry})
	})
	if err != nil {
		return Request{}, Letter{}, err
	}
	return r, l, nil
}

// draft converts a draft to a request. It returns an error that lists every invalid field.
func (s *Service) draft(ctx context.Context, org callwright.OrgID, d Draft) (Request, error) {
	now := s.cfg.Clock.Now()
	r := Request{
		ID: "port_" + strings.ReplaceAll(s.cfg.IDs.New(), "-", ""), Org: org, Account: d.Account.trimmed(), Documents: slices.Clone(d.Documents), Webhook: d.Webhook,
		SignBy: now.Add(SignFor), Gateway: s.cfg.Gateway.Capabilities().Name, CreatedAt: now, UpdatedAt: now, Revision: 1,
	}
	var f faults
	r.Numbers = s.checkNumbers(ctx, org, &f, d)
	r.Account.check(&f)
	checkDocuments(&f, d.Documents)
	r.CallsFrom = checkCallsFrom(&f, d.CallsFrom)
	s.checkWebhook(&f, d.Webhook.Reveal())
	r.TargetDate = s.checkDate(&f, d.TargetDate, now)
	if target := r.TargetDate.Add(systemDay); target.Before(r.SignBy) {
		r.SignBy = target
	}
	r.DueAt = r.SignBy
	return r, f.err()
}

// admit returns CodeTooManyRequests if an organization has reached its limit of open requests, or of requests within an hour.
func (s *Service) admit(ctx context.Context, org callwright.OrgID) error {
	open, err := s.cfg.Store.CountOpen(ctx, org)
	if err != nil {
		return err
	}
	if open >= s.cfg.MaxOpen {
		return callwright.Errorf(callwright.CodeTooManyRequests,
			"an organization can have at most %d port requests that have not ended: wait until some end, or cancel some", s.cfg.MaxOpen)
	}
	last, err := s.cfg.Store.Requests(ctx, org, Filter{Limit: s.cfg.MaxHourly})
	if err != nil || len(last) < s.cfg.MaxHourly {
		return err
	}
	wait := time.Hour - s.cfg.Clock.Now().Sub(last[len(last)-1].CreatedAt)
	if wait <= 0 {
		return nil
	}
	full := callwright.Errorf(callwright.CodeTooManyRequests,
		"an organization can make at most %d port requests within an hour, including those that have ended: try again later", s.cfg.MaxHourly)
	full.RetryAfter = wait
	return full
}

// claim marks the documents of a request as used. It returns an error if a document is absent or a number is in another open request.
func (s *Service) claim(ctx context.Context, r Request) error {
	var f faults
	absent, err := s.cfg.Documents.UseDocuments(ctx, r.Org, r.ID, r.Documents)
	if err != nil {
		return err
	}
	for i, id := range r.Documents {
		f.addIf(slices.Contains(absent, id), fmt.Sprintf("documents[%d]", i), "must be the id of an uploaded document: upload it first")
	}
	if err := f.err(); err != nil {
		return err
	}
	taken, err := s.cfg.Store.ActiveNumbers(ctx, r.phoneNumbers())
	if err != nil {
		return err
	}
	return r.conflicts(taken, "is in another port request that has not ended: wait until it ends, or cancel it")
}

// admitNumbers returns an error if a number of a request belongs to another organization of this deployment. The caller must store r first:
// if another request for the same number has just ended, admitNumbers then finds the number's new owner.
func (s *Service) admitNumbers(ctx context.Context, r Request) error {
	elsewhere, err := s.elsewhere(ctx, r.Org, r.phoneNumbers())
	if err != nil {
		return err
	}
	return r.conflicts(elsewhere, reasonInUse)
}

func (r Request) phoneNumbers() []callwright.PhoneNumber {
	numbers := make([]callwright.PhoneNumber, len(r.Numbers))
	for i, n := range r.Numbers {
		numbers[i] = n.Number
	}
	return numbers
}

// conflicts returns a CodeConflict error with message for each of the request's numbers that the list some contains, or nil if it contains
// none of them.
func (r Request) conflicts(some []callwright.PhoneNumber, message string) error {
	var f faults
	for i, n := range r.Numbers {
		if slices.Contains(some, n.Number) {
			f = append(f, &callwright.Error{Code: callwright.CodeConflict, Field: fmt.Sprintf("phone_numbers[%d]", i), Message: message})
		}
	}
	return f.err()
}

// faults collects the errors of a draft or a note.
type faults callwright.FieldErrors

// addIf adds an error about a field if wrong is set.
func (f *faults) addIf(wrong bool, field, format string, args ...any) {
	if wrong {
		*f = append(*f, callwright.Invalid(field, format, args...))
	}
}

// addText adds an error if a required text is empty, if a text has more characters than the limit most, or if it contains hidden
// characters.
func (f *faults) addText(field, text string, most int, required bool) {
	f.addIf(required && text == "", field, "is required")
	f.addIf(callwright.Longer(text, most), field, "must have at most %d characters", most)
	f.addIf(strings.ContainsFunc(text, callwright.Hidden), field, "must be one line without control characters or invisible characters")
}

// addName adds the errors of addText, and an error if a name contains a web address: names appear in unsolicited mail.
func (f *faults) addName(field, text string, most int, required bool) {
	f.addText(field, text, most, required)
	lower := strings.ToLower(text)
	f.addIf(strings.Contains(lower, "://") || strings.Contains(lower, "www."), field, "must not contain a web address")
}

func (f faults) err() error { return callwright.FieldErrors(f).OrNil() }

// checkNumbers parses the numbers of a draft. It returns the numbers that it could parse and adds an error to f for each invalid field.
func (s *Service) checkNumbers(ctx context.Context, org callwright.OrgID, f *faults, d Draft) (numbers []Number) {
	most := min(MaxNumbers, s.cfg.Gateway.Capabilities().MaxNumbers)
	f.addIf(len(d.Numbers) == 0 || len(d.Numbers) > most, "phone_numbers", "must have from 1 to %d numbers", most)
	f.addText(account+"pin", d.PIN.Reveal(), maxPIN, false)
	seen := map[callwright.PhoneNumber]bool{}
	for i, n := range d.Numbers[:min(len(d.Numbers), most)] {
		field := fmt.Sprintf("phone_numbers[%d]", i)
		number, err := s.Number(ctx, org, n.Number)
		if err != nil {
			f.addIf(true, field, "%s", callwright.MessageOf(err))
			continue
		}
		f.addIf(seen[number], field, "must be unique")
		seen[number] = true
		if p := checkLocally(number); !p.Portable {
			f.addIf(true, field, "%s", p.Failure.Remedy().Text)
		}
		pin := n.PIN
		if pin == "" {
			pin = d.PIN
		}
		f.addText(field+".pin", n.PIN.Reveal(), maxPIN, false)
		numbers = append(numbers, Number{Number: number, State: NumberPending, PIN: pin, HasPIN: pin != ""})
	}
	return numbers
}

// trimmed returns a copy of an account with surrounding spaces removed from its texts, and with its country code in capital letters.
func (a Account) trimmed() Account {
	for _, text := range []*string{
		&a.BusinessName, &a.FirstName, &a.LastName, &a.Email,
		&a.Address.Street, &a.Address.Street2, &a.Address.City, &a.Address.State, &a.Address.Zip, &a.Address.Country,
	} {
		*text = strings.TrimSpace(*text)
	}
	a.Address.Country = strings.ToUpper(a.Address.Country)
	a.AccountNumber = callwright.Secret(strings.TrimSpace(a.AccountNumber.Reveal()))
	a.NotifyEmails = slices.Clone(a.NotifyEmails)
	for i, email := range a.NotifyEmails {
		a.NotifyEmails[i] = strings.TrimSpace(email)
	}
	return a
}

// check adds an error to f for each invalid field of an account.
func (a Account) check(f *faults) {
	f.addIf(a.CustomerType != Business && a.CustomerType != Personal, account+"customer_type", "must be business or personal")
	f.addName(account+"business_name", a.BusinessName, maxBusinessName, a.CustomerType == Business)
	f.addName(account+"first_name", a.FirstName, maxName, true)
	f.addName(account+"last_name", a.LastName, maxName, true)
	f.addText(account+"account_number", a.AccountNumber.Reveal(), maxAccountNumber, true)
	f.addEmail(account+"authorized_representative_email", a.Email)
	f.addIf(len(a.NotifyEmails) > MaxNotifyEmails, account+"notification_emails", "must have at most %d addresses", MaxNotifyEmails)
	for i, email := range a.NotifyEmails[:min(len(a.NotifyEmails), MaxNotifyEmails)] {
		f.addEmail(fmt.Sprintf(account+"notification_emails[%d]", i), email)
	}
	const address = account + "address."
	f.addText(address+"street", a.Address.Street, maxStreet, true)
	f.addText(address+"street2", a.Address.Street2, maxStreet, false)
	f.addText(address+"city", a.Address.City, maxCity, true)
	f.addText(address+"state", a.Address.State, maxCity, true)
	f.addText(address+"zip", a.Address.Zip, maxZip, true)
	country := a.Address.Country
	f.addIf(len(country) != 2 || strings.ContainsFunc(country, func(c rune) bool { return c < 'A' || c > 'Z' }),
		address+"country", "must be a country code of ISO 3166-1, two letters such as US")
}

// addEmail adds an error if a text is not an e-mail address, or if the address is longer than maxEmail bytes.
func (f *faults) addEmail(field, text string) {
	f.addIf(!isEmail(text), field, "must be one e-mail address without a display name, such as robin@example.com")
	f.addIf(isEmail(text) && len(text) > maxEmail, field, "must have at most %d bytes", maxEmail)
}

// isEmail reports whether a text is exactly one e-mail address, without a display name, spaces or hidden characters.
func isEmail(text string) bool {
	a, err := mail.ParseAddress(text)
	return err == nil && a.Address == text &&
		!strings.ContainsFunc(text, func(c rune) bool { return callwright.Hidden(c) || unicode.IsSpace(c) })
}

func checkDocuments(f *faults, ids []string) {
	f.addIf(len(ids) == 0 || len(ids) > MaxDocuments, "documents", "must have from 1 to %d documents", MaxDocuments)
	for i, id := range ids[:min(len(ids), MaxDocuments)] {
		field := fmt.Sprintf("documents[%d]", i)
		f.addText(field, id, maxID, true)
		f.addIf(slices.Contains(ids[:i], id), field, "must be unique")
	}
}

// checkCallsFrom parses the first MaxCallsFrom addresses and networks. It adds an error to f for each invalid text, and one if there are
// more texts.
func checkCallsFrom(f *faults, texts []string) (all []netip.Prefix) {
	f.addIf(len(texts) > MaxCallsFrom, "inbound_allowed_ips", "must have at most %d addresses", MaxCallsFrom)
	for i, text := range texts[:min(len(texts), MaxCallsFrom)] {
		network, err := callwright.ParseNetwork(text)
		f.addIf(err != nil, fmt.Sprintf("inbound_allowed_ips[%d]", i), "%s", callwright.MessageOf(err))
		all = append(all, network)
	}
	return all
}

// checkWebhook adds an error to f if webhooks are not configured, or if url is not an acceptable address. An empty url is valid.
func (s *Service) checkWebhook(f *faults, url string) {
	if url == "" {
		return
	}
	if s.cfg.Notifier == nil {
		f.addIf(true, "webhook_url", "must be empty: this service sends no webhooks for port requests")
		return
	}
	f.addText("webhook_url", url, maxURL, false)
	if err := s.cfg.URLs.CheckURL(url); err != nil {
		f.addIf(true, "webhook_url", "%s", callwright.MessageOf(err))
	}
}

// checkDate returns the target date of a draft as midnight UTC, or the earliest date if target is zero. It determines days in Config.Zone,
// and adds an error to f if the date is out of range.
func (s *Service) checkDate(f *faults, target, now time.Time) time.Time {
	date := func(t time.Time) time.Time {
		year, month, day := t.In(s.cfg.Zone).Date()
		return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
	}
	first := date(now).AddDate(0, 0, LeastAhead)
	if target.IsZero() {
		return first
	}
	day := date(target)
	f.addIf(day.Before(first) || day.After(date(now).AddDate(0, 0, MostAhead)), "target_port_date",
		"must be from %s (%d days from today) to %s (%d days from today)",
		first.Format(time.DateOnly), LeastAhead, date(now).AddDate(0, 0, MostAhead).Format(time.DateOnly), MostAhead)
	return day
}
