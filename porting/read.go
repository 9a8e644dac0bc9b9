package porting

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/callwright/callwright"
)

// Get returns a request. It returns CodeNotFound if the organization has no such request.
func (s *Service) Get(ctx context.Context, org callwright.OrgID, id string) (Request, error) {
	return s.cfg.Store.Request(ctx, org, id)
}

// History returns the history of a request in order, at most MaxHistory entries. It returns CodeNotFound if the organization has no such
// request.
func (s *Service) History(ctx context.Context, org callwright.OrgID, id string) ([]Entry, error) {
	if _, err := s.cfg.Store.Request(ctx, org, id); err != nil {
		return nil, err
	}
	return s.cfg.Store.History(ctx, org, id)
}

// List returns a page of an organization's requests, newest first. A Limit outside the range from 1 to MaxPage means MaxPage.
func (s *Service) List(ctx context.Context, org callwright.OrgID, f Filter) (callwright.Page[Request], error) {
	if f.Limit < 1 || f.Limit > MaxPage {
		f.Limit = MaxPage
	}
	limit := f.Limit
	f.Limit++ // one more request shows whether a next page exists
	found, err := s.cfg.Store.Requests(ctx, org, f)
	if err != nil {
		return callwright.Page[Request]{}, err
	}
	page := callwright.Page[Request]{Items: found}
	if len(found) > limit {
		page.Items = found[:limit]
		last := page.Items[limit-1]
		page.Next = callwright.Keyset{At: last.CreatedAt, ID: last.ID}
	}
	return page, nil
}

// openRead is the maximum number of requests that Open returns. Of the submitted and in-progress requests, Open examines only the openRead
// newest, and the requests that are held up.
const openRead = 50

// Open returns at most limit requests that have not ended. First come the requests that wait for a signature or are held up, oldest first.
// Then come the newest others: first the requests for which a party other than the losing carrier must act, then the rest. A limit outside
// the range from 1 to openRead means openRead.
func (s *Service) Open(ctx context.Context, org callwright.OrgID, limit int) ([]Request, error) {
	if limit < 1 || limit > openRead {
		limit = openRead
	}
	all, err := s.cfg.Store.WaitingRequests(ctx, org, limit)
	if err != nil || len(all) == limit {
		return all, err
	}
	others, err := s.cfg.Store.Requests(ctx, org, Filter{States: []State{Submitted, InProgress}, Limit: openRead})
	for _, byCarrier := range []bool{false, true} {
		for _, r := range others {
			if r.HeldSince.IsZero() && (r.WaitsFor() == ActCarrier) == byCarrier {
				all = append(all, r)
			}
		}
	}
	return all[:min(limit, len(all))], err
}

// Hear handles a hint from a gateway: it schedules an immediate comparison of the request with the carrier's order. A hint about an unknown
// or ended request changes nothing.
func (s *Service) Hear(ctx context.Context, gateway string, h Hint) error {
	found, err := s.cfg.Store.RequestByRef(ctx, gateway, h.Ref)
	if errors.Is(err, callwright.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = s.change(ctx, found.Org, found.ID, func(ctx context.Context, r *Request) ([]Entry, error) {
		now := s.cfg.Clock.Now()
		switch {
		case r.State.Ended():
			return nil, errUnchanged
		case !r.DueAt.After(now) && !r.DueAt.IsZero(): // a step that is about to finish may have missed the hint: enqueue another
			return nil, cmp.Or(s.wake(ctx, *r), errUnchanged)
		}
		r.DueAt = now
		return nil, s.wake(ctx, *r)
	})
	return err
}

// Hasten schedules the next step of the request whose order has the id ref at the gateway; a running Service with the same Store executes
// the step within a minute or two. Programs other than the server, such as the operator's, call it after they have changed an order. It
// does nothing if the request has ended or no request has the order.
func Hasten(ctx context.Context, store Store, gateway, ref string, now time.Time) error {
	return callwright.Retry(ctx, func(ctx context.Context) error {
		r, err := store.RequestByRef(ctx, gateway, ref)
		if errors.Is(err, callwright.ErrNotFound) {
			return nil
		}
		if err != nil || r.State.Ended() || !r.DueAt.IsZero() && !r.DueAt.After(now) {
			return err
		}
		r.DueAt = now
		return store.UpdateRequest(ctx, r)
	})
}

// Number parses a phone number, using the organization's default country if one is configured. A CodeBadRequest error names no field.
func (s *Service) Number(ctx context.Context, org callwright.OrgID, text string) (callwright.PhoneNumber, error) {
	return callwright.ReadNumber(ctx, s.cfg.Numbering, org, text)
}

// reasonInUse is the message about a number that belongs to another organization. It does not name the owner.
const reasonInUse = "is already in use on this service: ask the operator of this service to let it move to your organization"

// elsewhere returns the given numbers that belong to another organization of this deployment.
func (s *Service) elsewhere(
	ctx context.Context, org callwright.OrgID, numbers []callwright.PhoneNumber,
) ([]callwright.PhoneNumber, error) {
	elsewhere, err := Reserved{s.cfg.Store}.ReservedElsewhere(ctx, org, numbers)
	if err != nil || s.cfg.Trunks == nil {
		return elsewhere, err
	}
	served, err := s.cfg.Trunks.ServedElsewhere(ctx, org, numbers)
	return append(elsewhere, served...), err
}

// Check reports for each number whether it can be ported, in the order of numbers. A number cannot be ported if it is invalid (Problem
// contains the error), is in an open request, or belongs to another organization of this deployment. Check asks the gateway about the other
// numbers that can be ported according to their area codes; if the gateway fails, this local result remains, which shows little. Check
// returns CodeBadRequest if numbers is empty or longer than MaxNumbers.
func (s *Service) Check(ctx context.Context, org callwright.OrgID, numbers []string) ([]Portability, error) {
	var f faults
	f.addIf(len(numbers) == 0 || len(numbers) > MaxNumbers, "phone_numbers", "must have from 1 to %d numbers", MaxNumbers)
	if err := f.err(); err != nil {
		return nil, err
	}
	all := make([]Portability, len(numbers))
	var parsed, ask []callwright.PhoneNumber
	for i, text := range numbers {
		number, err := s.Number(ctx, org, text)
		switch {
		case errors.Is(err, callwright.ErrBadRequest):
			all[i] = Portability{Number: callwright.PhoneNumber(text), Type: UnknownType, Failure: NumberNotFound, Problem: callwright.MessageOf(err)}
			continue
		case err != nil:
			return nil, err
		}
		all[i], parsed = checkLocally(number), append(parsed, number)
	}
	taken, err := s.cfg.Store.ActiveNumbers(ctx, parsed)
	if err != nil {
		return nil, err
	}
	elsewhere, err := s.elsewhere(ctx, org, parsed)
	if err != nil {
		return nil, err
	}
	for i := range all {
		switch number := all[i].Number; {
		case all[i].Problem != "":
		case slices.Contains(taken, number):
			all[i].Portable, all[i].Failure = false, PendingOrder
		case all[i].Portable && slices.Contains(elsewhere, number):
			all[i].Portable, all[i].Failure, all[i].Problem = false, NumberNotPortable, reasonInUse
		}
		if all[i].Portable {
			ask = append(ask, all[i].Number)
		}
	}
	s.ask(ctx, ask, all)
	return all, nil
}

// ask replaces the local results of numbers with the gateway's. If the gateway fails, the local results remain.
func (s *Service) ask(ctx context.Context, numbers []callwright.PhoneNumber, all []Portability) {
	if len(numbers) == 0 {
		return
	}
	asking, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	said, err := s.cfg.Gateway.CheckNumbers(asking, numbers)
	if err != nil {
		if !errors.Is(err, callwright.ErrNotImplemented) {
			s.cfg.Logger.WarnContext(ctx, "the gateway cannot check numbers now", "error", err)
		}
		return
	}
	for _, p := range said {
		p.Confirmed = true
		for i := range all {
			if all[i].Number != p.Number || !all[i].Portable {
				continue
			}
			if p.Type == "" || p.Type == UnknownType {
				p.Type = all[i].Type
			}
			all[i] = p
		}
	}
}

// North American (NANPA) area codes that determine the type of a number, or exclude porting.
var (
	tollFree = []string{"800", "833", "844", "855", "866", "877", "888"}
	special  = []string{"900", "500", "521", "522", "523", "524", "525", "526", "527", "528", "529", "533", "544", "566", "577", "588", "700", "710"}
)

// checkLocally derives the portability from a number alone. For North America it detects numbers that are toll-free, cannot exist, or are
// never ported (premium, personal). It cannot detect mobile numbers, so it assumes that a PIN may be required. For other countries it
// detects nothing.
func checkLocally(number callwright.PhoneNumber) Portability {
	p := Portability{Number: number, Portable: true, Type: UnknownType}
	national, american := strings.CutPrefix(string(number), "+1")
	if !american {
		return p
	}
	p.PINRequired = true
	switch {
	case len(national) != 10 || national[0] < '2' || national[3] < '2':
		p.Portable, p.PINRequired, p.Failure = false, false, NumberNotFound
	case slices.Contains(tollFree, national[:3]):
		p.Type, p.PINRequired = TollFree, false
	case slices.Contains(special, national[:3]):
		p.Portable, p.PINRequired, p.Failure = false, false, NumberNotPortable
	}
	return p
}
