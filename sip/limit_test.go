package sip_test

import (
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore/orgstore"
	"github.com/callwright/callwright/sip"
)

// limited returns a house with an organization "few" that may attach at most two numbers.
func limited(t *testing.T) *house {
	t.Helper()
	var tenants orgstore.Tenants
	h := open(t, func(c *sip.Config) { c.Numbering = &tenants })
	tenants.Store = h.store
	if err := tenants.InsertOrganization(t.Context(), callwright.Organization{ID: "few", MaxNumbers: 2}); err != nil {
		t.Fatal(err)
	}
	return h
}

func TestAttachWithinLimit(t *testing.T) {
	t.Parallel()
	h := limited(t)
	const first, second, third = "+14155550171", "+14155550172", "+14155550173"
	attach := func(numbers ...string) []sip.FailedNumber {
		t.Helper()
		done, err := h.Attach(t.Context(), "few", sip.Attachment{Numbers: numbers, Directions: []sip.DirectionInput{inbound()}})
		if err != nil {
			t.Fatal(err)
		}
		return done.Failed
	}
	failed := attach(first, second, third)
	if len(failed) != 1 || failed[0].Number != third {
		t.Fatalf("failed: %+v", failed)
	}
	if e := failed[0].Err; e.Code != callwright.CodeTooManyRequests || e.Field != "phone_numbers" || !strings.Contains(e.Message, "2 attached numbers") {
		t.Errorf("the error is %+v", e)
	}
	if _, taken := h.numbers[third]; taken {
		t.Error("the refused number is registered")
	}
	if failed := attach(first); failed != nil {
		t.Errorf("an attached number is not replaced: %+v", failed)
	}
	h.attach("few", []string{first}, outbound("sip:pbx.example.com")) // another direction of an attached number does not count
	h.attach("a", []string{third}, inbound())                         // the limit does not apply to other organizations
	if got, err := h.AttachPorted(t.Context(), "few", "+14155550174", []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}); got || err != nil {
		t.Errorf("a ported number beyond the limit: attached %v, %v", got, err)
	}
	if !strings.Contains(h.printed.String(), "a ported number is not attached") {
		t.Errorf("the log says %s", h.printed)
	}
}

func TestParallelAttachesKeepLimit(t *testing.T) {
	t.Parallel()
	h := limited(t)
	var running sync.WaitGroup
	done := make([]sip.Attached, 6)
	for i := range done {
		running.Go(func() {
			var err error
			if done[i], err = h.Attach(t.Context(), "few", sip.Attachment{
				Numbers: []string{fmt.Sprintf("+1415555017%d", i)}, Directions: []sip.DirectionInput{inbound()},
			}); err != nil {
				t.Error(err)
			}
		})
	}
	running.Wait()
	attached := 0
	for _, d := range done {
		attached += len(d.Configured)
	}
	if attached != 2 {
		t.Errorf("%d numbers are attached, want 2", attached)
	}
}
