package sip_test

import (
	"context"
	"errors"
	"net/netip"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip"
)

// proofs is a sip.Proofs that maps numbers to the organizations that have proven them.
type proofs map[callwright.PhoneNumber]callwright.OrgID

func (p proofs) Proven(_ context.Context, org callwright.OrgID, number callwright.PhoneNumber) (bool, error) {
	return p[number] == org, nil
}

func TestAttachWithProof(t *testing.T) {
	t.Parallel()
	const ported, third = "+15550000003", "+15550000004"
	proven := proofs{}
	h := open(t, func(c *sip.Config) {
		c.Proofs, c.Reservations = proven, reserved{ported: "a"}
	})
	attach := func(org callwright.OrgID, number string, directions ...sip.DirectionInput) *sip.FailedNumber {
		t.Helper()
		done, err := h.Attach(t.Context(), org, sip.Attachment{Numbers: []string{number}, Directions: directions})
		if err != nil {
			t.Fatal(err)
		}
		if len(done.Failed) == 0 {
			return nil
		}
		return &done.Failed[0]
	}
	refuse := func(what string, f *sip.FailedNumber) {
		t.Helper()
		if f == nil || !f.Unproven || f.Err.Code != callwright.CodeInvalidState || f.Err.Field != "phone_numbers" {
			t.Errorf("%s: %+v", what, f)
		}
	}
	refuse("unproven", attach("a", one, inbound()))
	refuse("both ways", attach("a", one, inbound(), outbound("sip:pbx.example.com")))
	if r := h.get("a", one); r != (sip.Record{}) {
		t.Errorf("it is attached: %+v", r)
	}
	if _, err := h.ProofCaller(t.Context(), "a", one); !errors.Is(err, callwright.ErrInvalidState) {
		t.Errorf("a caller without outbound numbers: %v", err)
	}
	if f := attach("a", one, outbound("sip:pbx.example.com")); f != nil {
		t.Errorf("outbound: %+v", f)
	}
	refuse("attached outbound", attach("a", one, inbound()))
	for _, want := range []callwright.PhoneNumber{one, two} {
		if want == two {
			h.attach("a", []string{two}, outbound("sip:pbx.example.com"))
		}
		if got, err := h.ProofCaller(t.Context(), "a", one); err != nil || got != want {
			t.Errorf("%s calls, %v; want %s", got, err, want)
		}
	}
	proven[one] = "b"
	refuse("proven by another organization", attach("a", one, inbound()))
	proven[one] = "a"
	if f := attach("a", one, inbound()); f != nil {
		t.Errorf("proven: %+v", f)
	}
	delete(proven, one)
	if f := attach("a", one, inbound()); f != nil {
		t.Errorf("attached before: %+v", f)
	}
	if f := attach("a", ported, inbound()); f != nil {
		t.Errorf("reserved: %+v", f)
	}
	if f := attach("b", ported, inbound()); f == nil || f.Unproven || f.Err.Code != callwright.CodeConflict {
		t.Errorf("reserved by another: %+v", f)
	}
	if ok, err := h.AttachPorted(t.Context(), "a", third, []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}); err != nil || !ok {
		t.Errorf("ported: %t, %v", ok, err)
	}
}
