package sip_test

import (
	"context"
	"slices"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip"
)

// TestServedElsewhere checks that an organization cannot attach a number that another one has attached in either direction, and that
// ServedElsewhere returns it.
func TestServedElsewhere(t *testing.T) {
	t.Parallel()
	h := open(t)
	const free = "+15550000003"
	h.attach("a", []string{one}, outbound("sip:pbx.example.com"))
	h.attach("b", []string{two}, inbound())
	for org, want := range map[callwright.OrgID]callwright.PhoneNumber{"a": two, "b": one} {
		got, err := h.ServedElsewhere(t.Context(), org, []callwright.PhoneNumber{free, one, two})
		if err != nil || !slices.Equal(got, []callwright.PhoneNumber{want}) {
			t.Errorf("for %s: %v, %v", org, got, err)
		}
		done, err := h.Attach(t.Context(), org, sip.Attachment{Numbers: []string{string(want)}, Directions: []sip.DirectionInput{inbound()}})
		if err != nil || len(done.Failed) != 1 {
			t.Fatalf("%s attached %+v, %v", org, done, err)
		}
		wantField(t, done.Failed[0].Err, callwright.CodeConflict, "phone_numbers")
	}
}

// reserved is a sip.Reservations that maps numbers to the organizations that have reserved them.
type reserved map[callwright.PhoneNumber]callwright.OrgID

func (r reserved) ReservedElsewhere(
	_ context.Context, org callwright.OrgID, numbers []callwright.PhoneNumber,
) (elsewhere []callwright.PhoneNumber, _ error) {
	for _, n := range numbers {
		if holder, held := r[n]; held && holder != org {
			elsewhere = append(elsewhere, n)
		}
	}
	return elsewhere, nil
}

// TestReservedNumberIsNotAttached checks that a number that another organization has reserved cannot be attached in any direction, even by
// a port, and that the error does not name the owner.
func TestReservedNumberIsNotAttached(t *testing.T) {
	t.Parallel()
	held := reserved{one: "owner"}
	h := open(t, func(c *sip.Config) { c.Reservations = held })
	for _, d := range []sip.DirectionInput{inbound(), outbound("sip:pbx.example.com")} {
		done, err := h.Attach(t.Context(), "b", sip.Attachment{Numbers: []string{one, two}, Directions: []sip.DirectionInput{d}})
		if err != nil || len(done.Failed) != 1 || len(done.Configured) != 1 {
			t.Fatalf("got %+v, %v", done, err)
		}
		wantField(t, done.Failed[0].Err, callwright.CodeConflict, "phone_numbers")
		if text := done.Failed[0].Err.Message; text != "the number is not available to this organization: use another number, or ask the operator of this service" {
			t.Errorf("the error says %s", text)
		}
	}
	if _, err := h.AttachPorted(t.Context(), "b", one, nil); callwright.CodeOf(err) != callwright.CodeConflict {
		t.Errorf("by a port: %v", err)
	}
	if got, err := h.ServedElsewhere(t.Context(), "b", []callwright.PhoneNumber{one}); err != nil || len(got) > 0 {
		t.Errorf("what is only reserved is served by %v, %v", got, err)
	}
	h.attach("owner", []string{one}, inbound())
	if _, err := h.Detach(t.Context(), "owner", one, []sip.Direction{sip.Inbound}); err != nil {
		t.Fatal(err)
	}
	delete(held, one)
	h.attach("b", []string{one}, inbound())
}

// TestRelease checks that an operator can find the organization that has attached a number, and release every direction.
func TestRelease(t *testing.T) {
	t.Parallel()
	h := open(t)
	if _, _, err := h.Holder(t.Context(), one); callwright.CodeOf(err) != callwright.CodeNotFound {
		t.Errorf("nobody: %v", err)
	}
	h.attach("a", []string{one, two}, outbound("sip:pbx.example.com"), inbound())
	org, r, err := h.Holder(t.Context(), one)
	if err != nil || org != "a" || r.Inbound == nil || r.Outbound == nil || r.Inbound.CreatedAt.IsZero() {
		t.Errorf("got %s, %+v, %v", org, r, err)
	}
	if r, err := h.Release(t.Context(), "b", one); err != nil || r != (sip.Record{}) || h.get("a", one).Inbound == nil {
		t.Errorf("released from another organization: %+v, %v", r, err)
	}
	if r, err := h.Release(t.Context(), "a", one); err != nil || r.Inbound == nil || r.Outbound == nil {
		t.Errorf("released %+v, %v", r, err)
	}
	if r := h.get("a", one); r != (sip.Record{}) || h.numbers[one] != "" || len(h.monitor.forgotten) != 2 {
		t.Errorf("after that: %+v, %v", r, h.numbers)
	}
	if h.get("a", two).Inbound == nil {
		t.Error("another number was released, too")
	}
	h.numbers[one] = "a" // as after a port that attached no trunk
	if _, err := h.Release(t.Context(), "a", one); err != nil || h.numbers[one] != "" {
		t.Errorf("without a trunk: %v, %v", h.numbers, err)
	}
	h.attach("b", []string{one}, inbound())
}
