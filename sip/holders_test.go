package sip_test

import (
	"slices"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip"
)

// TestServedElsewhere: an organization learns that another one serves a number, in either direction, and cannot attach it.
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
