package sip_test

import (
	"errors"
	"net/netip"
	"slices"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip"
)

func TestAttachPorted(t *testing.T) {
	t.Parallel()
	h := open(t)
	from := []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}
	const number, org = "+14155550177", "acme"
	for _, c := range []struct {
		org  callwright.OrgID
		from []netip.Prefix
		want bool
		err  error
	}{
		{org, nil, false, nil}, {org, from, true, nil}, {org, from, true, nil}, {org, nil, true, nil},
		{"other", from, false, callwright.ErrConflict},
	} {
		if got, err := h.AttachPorted(t.Context(), c.org, number, c.from); got != c.want || !errors.Is(err, c.err) {
			t.Errorf("%s from %v: got %v, %v", c.org, c.from, got, err)
		}
	}
	trunk, err := h.Trunk(t.Context(), org, number, sip.Inbound)
	if err != nil || !slices.Equal(trunk.Options.AllowedIPs, from) {
		t.Errorf("got %+v, %v", trunk, err)
	}
}
