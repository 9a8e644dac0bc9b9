package sip_test

import (
	"errors"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip"
)

// TestTransferPolicy checks that a transfer is accepted only if the trunk's policy allows its target, and that the new call comes from the
// number of the transferred call. This number itself is never an allowed target.
func TestTransferPolicy(t *testing.T) {
	t.Parallel()
	const three, theirs, foreign = "+15550000003", "+15550000009", "+15559999999"
	h := open(t)
	with := func(in sip.DirectionInput, p sip.TransferPolicy) sip.DirectionInput {
		if p != "" {
			in.Transfers = &p
		}
		return in
	}
	h.attach("b", []string{theirs}, inbound())
	h.attach("a", []string{three}, inbound())
	for _, tt := range []struct {
		policy sip.TransferPolicy
		to     callwright.PhoneNumber
		ok     bool
	}{
		{"", three, true}, {"", theirs, false}, {"", foreign, false}, {"", one, false},
		{sip.TransferOrganization, three, true}, {sip.TransferOrganization, foreign, false},
		{sip.TransferOff, three, false}, {sip.TransferOff, foreign, false},
		{sip.TransferAny, three, true}, {sip.TransferAny, foreign, true}, {sip.TransferAny, one, false},
	} {
		h.attach("a", []string{one}, with(outbound("sip:pbx.example.com"), tt.policy), with(inbound(), tt.policy))
		out, err := h.Outbound(t.Context(), "a", one)
		if err != nil {
			t.Fatal(err)
		}
		in, err := h.Inbound(t.Context(), one, sip.Peer{})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range []sip.Route{out, in} {
			route, err := h.Transfer(t.Context(), r, tt.to)
			switch {
			case tt.ok && (err != nil || route.Number != one || len(route.Servers) != 1):
				t.Errorf("%q to %s: %+v, %v", tt.policy, tt.to, route, err)
			case !tt.ok && (!errors.Is(err, callwright.ErrForbidden) || callwright.MessageOf(err) == ""):
				t.Errorf("%q to %s: %v", tt.policy, tt.to, err)
			}
		}
	}
}

// TestTransferOfInboundNumber checks that the organization's only outbound number places the new call if the number of the call is attached
// only inbound.
func TestTransferOfInboundNumber(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.attach("a", []string{one}, inbound())
	in, err := h.Inbound(t.Context(), one, sip.Peer{})
	if err != nil {
		t.Fatal(err)
	}
	in.Transfers = sip.TransferAny
	for _, tt := range []struct {
		attached string
		ok       bool
	}{{"", false}, {two, true}, {"+15550000003", false}} {
		if tt.attached != "" {
			h.attach("a", []string{tt.attached}, outbound("sip:pbx.example.com"))
		}
		route, err := h.Transfer(t.Context(), in, "+15559999999")
		if (err == nil) != tt.ok || tt.ok && route.Number != two || err != nil && !errors.Is(err, callwright.ErrForbidden) {
			t.Errorf("with %q: %+v, %v", tt.attached, route, err)
		}
	}
}

func TestTransferPolicyIsChecked(t *testing.T) {
	t.Parallel()
	h := open(t)
	in := inbound()
	in.Transfers = new(sip.TransferPolicy("some"))
	_, err := h.Attach(t.Context(), "a", sip.Attachment{Numbers: []string{one}, Directions: []sip.DirectionInput{in}})
	wantField(t, err, callwright.CodeBadRequest, "directions[0].options.transfer_policy")
	if _, err := h.Transfer(t.Context(), sip.Route{Org: "a", Number: one}, two); !errors.Is(err, callwright.ErrForbidden) {
		t.Errorf("a route without a policy: %v", err)
	}
}
