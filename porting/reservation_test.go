package porting_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/porting"
)

const other = callwright.OrgID("b")

// elsewhere returns the given numbers that org cannot port because another organization has reserved them.
func (h *house) elsewhere(org callwright.OrgID, numbers ...callwright.PhoneNumber) []callwright.PhoneNumber {
	h.t.Helper()
	found, err := porting.Reserved{Reservations: h.store}.ReservedElsewhere(h.t.Context(), org, numbers)
	if err != nil {
		h.t.Fatal(err)
	}
	return found
}

// TestFinishedPortReserves checks that a ported number is reserved for its organization until an operator releases it, and that a rejected
// number is not reserved.
func TestFinishedPortReserves(t *testing.T) {
	t.Parallel()
	var printed bytes.Buffer
	inHouse(t, func(t *testing.T, h *house) {
		r := h.after(20*day, h.signed("00", "12").ID) // the simulated carrier rejects the number that ends in 12
		if r.State != porting.Completed {
			t.Fatalf("got %+v", r)
		}
		held := []callwright.PhoneNumber{"+14155550100"}
		if got := h.elsewhere(other, "+14155550100", "+14155550112"); !slices.Equal(got, held) {
			t.Errorf("reserved are %v", got)
		}
		if got := h.elsewhere(org, held...); len(got) > 0 {
			t.Errorf("its organization sees %v elsewhere", got)
		}
		if all, err := h.store.Reserved(t.Context(), held); err != nil || len(all) != 1 || all[0].Request != r.ID || all[0].Since.IsZero() {
			t.Errorf("got %+v, %v", all, err)
		}
		if all, err := h.Check(t.Context(), other, []string{"+14155550100"}); err != nil || all[0].Portable || all[0].Failure != porting.NumberNotPortable {
			t.Errorf("another organization: %+v, %v", all, err)
		}
		_, _, err := h.Initiate(t.Context(), other, draft("01", "00"))
		wantError(t, "reserved", err, callwright.CodeConflict, "phone_numbers[1]")
		if reserved, err := h.Release(t.Context(), other, "+14155550100", "nothing of theirs"); reserved || err != nil {
			t.Errorf("release from another organization: %t, %v", reserved, err)
		}
		_, err = h.Release(t.Context(), org, "+14155550100", " ")
		wantError(t, "no note", err, callwright.CodeBadRequest, "note")
		if _, err := h.Cancel(t.Context(), org, h.initiate("00").ID); err != nil { // the organization may port its own number again
			t.Error(err)
		}

		if reserved, err := h.Release(t.Context(), org, "+14155550100", "moves to b, ticket 17"); !reserved || err != nil {
			t.Fatalf("release: %t, %v", reserved, err)
		}
		if r = h.after(0, r.ID); r.Numbers[0].Inbound != porting.Released || r.State != porting.Completed {
			t.Errorf("released: %+v", r.Numbers[0])
		}
		if reserved, err := h.Release(t.Context(), org, "+14155550100", "again"); reserved || err != nil {
			t.Errorf("again: %t, %v", reserved, err)
		}
		if said := printed.String(); !strings.Contains(said, "an operator has released a number") || !strings.Contains(said, "phone_number=+14155550100 org=a reserved=true") ||
			!strings.Contains(said, "ticket 17") {
			t.Errorf("the log has %s", said)
		}
		if _, _, err := h.Initiate(t.Context(), other, draft("00")); err != nil {
			t.Errorf("after the release: %v", err)
		}
	}, func(c *porting.Config) { c.Logger = slog.New(slog.NewTextHandler(&printed, nil)) })
}

// TestReleaseEndsTheWaitForATrunk checks that a released number no longer waits for a trunk, and that no step of its request is due any
// more.
func TestReleaseEndsTheWaitForATrunk(t *testing.T) {
	t.Parallel()
	s := &trunks{}
	inHouse(t, func(t *testing.T, h *house) {
		r := h.after(20*day, h.signed("00").ID)
		if r.Numbers[0].Inbound != porting.WaitsForTrunk || r.DueAt.IsZero() {
			t.Fatalf("got %+v", r)
		}
		if _, err := h.Release(t.Context(), org, "+14155550100", "moves"); err != nil {
			t.Fatal(err)
		}
		if r = h.after(day, r.ID); r.Numbers[0].Inbound != porting.Released || !r.DueAt.IsZero() || r.WaitsFor() != "" {
			t.Errorf("got %+v", r)
		}
	}, func(c *porting.Config) { c.Trunks = s })
}

// TestReservedMeanwhile checks that a number that another organization reserves during the port stays with that organization, and that the
// operator must act.
func TestReservedMeanwhile(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		r := h.signed("00", "99")
		if err := h.store.Reserve(t.Context(), porting.Reservation{Number: "+14155550199", Org: other, Request: "port_0", Since: r.CreatedAt}); err != nil {
			t.Fatal(err)
		}
		r = h.after(20*day, r.ID)
		if r.State != porting.Completed || r.Numbers[0].Inbound != porting.Registered || r.Numbers[1].Inbound != porting.RegistrationTaken ||
			r.Numbers[1].Failure == nil || r.Numbers[1].Failure.Code != porting.RegistrationConflict {
			t.Errorf("got %+v", r.Numbers)
		}
		if got := h.elsewhere(org, "+14155550100", "+14155550199"); !slices.Equal(got, []callwright.PhoneNumber{"+14155550199"}) {
			t.Errorf("elsewhere are %v", got)
		}
	})
}

// TestReservationIsOfTheTransaction checks that a step that fails to store the end of a port reserves nothing.
func TestReservationIsOfTheTransaction(t *testing.T) {
	t.Parallel()
	lost := errors.New("the connection is lost")
	inHouse(t, func(t *testing.T, h *house) {
		r := h.after(20*day, h.signed("00").ID)
		if r.State == porting.Completed {
			t.Fatalf("got %+v", r)
		}
		if got := h.elsewhere(other, "+14155550100"); len(got) > 0 {
			t.Errorf("%v are reserved", got)
		}
	}, func(c *porting.Config) { c.Store = forgetful{c.Store, lost} })
}

// forgetful is a store whose updates fail when they end a request.
type forgetful struct {
	porting.Store

	err error
}

func (s forgetful) UpdateRequest(ctx context.Context, r porting.Request, entries ...porting.Entry) error {
	if r.State.Ended() {
		return s.err
	}
	return s.Store.UpdateRequest(ctx, r, entries...)
}
