package porting_test

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/porting"
)

// trunks implements porting.Trunks in memory.
type trunks struct {
	attached  map[callwright.PhoneNumber][]netip.Prefix
	elsewhere []callwright.PhoneNumber // numbers that other organizations have attached
	failures  []error
}

func (s *trunks) AttachPorted(_ context.Context, _ callwright.OrgID, number callwright.PhoneNumber, from []netip.Prefix) (bool, error) {
	if len(s.failures) > 0 {
		err := s.failures[0]
		s.failures = s.failures[1:]
		return false, err
	}
	if _, has := s.attached[number]; !has && len(from) > 0 {
		s.attached[number] = from
	}
	_, has := s.attached[number]
	return has, nil
}

func (s *trunks) ServedElsewhere(_ context.Context, _ callwright.OrgID, numbers []callwright.PhoneNumber) (elsewhere []callwright.PhoneNumber, _ error) {
	for _, n := range numbers {
		if slices.Contains(s.elsewhere, n) {
			elsewhere = append(elsewhere, n)
		}
	}
	return elsewhere, nil
}

// TestServedElsewhere checks that Check and Initiate refuse a number that another organization has attached to a trunk.
func TestServedElsewhere(t *testing.T) {
	t.Parallel()
	s := &trunks{elsewhere: []callwright.PhoneNumber{"+14155550101", "+19005550123"}}
	inHouse(t, func(t *testing.T, h *house) {
		all, err := h.Check(t.Context(), org, []string{"+14155550100", "+14155550101", "+19005550123"})
		if err != nil || !all[0].Portable || all[1].Portable || all[1].Failure != porting.NumberNotPortable || !strings.Contains(all[1].Problem, "operator") {
			t.Errorf("got %+v, %v", all, err)
		}
		if all[2].Failure != porting.NumberNotPortable || all[2].Problem != "" {
			t.Errorf("what nobody ports: %+v", all[2])
		}
		_, _, err = h.Initiate(t.Context(), org, draft("00", "01"))
		wantError(t, "served elsewhere", err, callwright.CodeConflict, "phone_numbers[1]")
		if open, err := h.store.CountOpen(t.Context(), org); open != 0 || err != nil {
			t.Errorf("%d requests are open, %v", open, err)
		}
		s.elsewhere = nil
		if all, err := h.Check(t.Context(), org, []string{"+14155550101"}); err != nil || !all[0].Portable {
			t.Errorf("once it is free: %+v, %v", all, err)
		}
		h.initiate("00", "01")
	}, func(c *porting.Config) { c.Trunks = s })
}

// TestPortedNumberGetsATrunk checks that a ported number is attached to an inbound trunk that admits the addresses of its request or, if
// the request names none, of the deployment.
func TestPortedNumberGetsATrunk(t *testing.T) {
	t.Parallel()
	s := &trunks{attached: map[callwright.PhoneNumber][]netip.Prefix{}, failures: []error{errors.New("away")}}
	ours := []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}
	inHouse(t, func(t *testing.T, h *house) {
		d := draft("99")
		d.CallsFrom = []string{"198.51.100.7"}
		own, _, err := h.Initiate(t.Context(), org, d)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := h.Sign(t.Context(), org, own.ID, porting.Signer, ""); err != nil {
			t.Fatal(err)
		}
		r := h.after(12*day, h.signed("00").ID)
		if r.Numbers[0].Inbound != porting.Registered || r.Status().Detail != porting.DetailNone || !slices.Equal(s.attached["+14155550100"], ours) {
			t.Errorf("got %+v, attached %v", r.Numbers[0], s.attached)
		}
		r = h.after(0, own.ID)
		if r.Numbers[0].Inbound != porting.Registered || s.attached["+14155550199"][0] != netip.MustParsePrefix("198.51.100.7/32") {
			t.Errorf("with addresses of its own: got %+v, attached %v", r.Numbers[0], s.attached)
		}
		d.CallsFrom = []string{"192.0.2.1", "office"}
		var all callwright.FieldErrors
		if _, _, err := h.Initiate(t.Context(), org, d); !errors.As(err, &all) || all[len(all)-1].Field != "inbound_allowed_ips[1]" {
			t.Errorf("a name of a host: %v", err)
		}
	}, func(c *porting.Config) { c.Trunks, c.CallsFrom = s, ours })
}

// TestPortedNumberWaitsForATrunk checks that a completed request shows that a number has no inbound trunk, and that the number is
// registered after a trunk is attached.
func TestPortedNumberWaitsForATrunk(t *testing.T) {
	t.Parallel()
	s := &trunks{attached: map[callwright.PhoneNumber][]netip.Prefix{}}
	inHouse(t, func(t *testing.T, h *house) {
		r := h.after(20*day, h.signed("00").ID)
		if r.State != porting.Completed || r.Numbers[0].Inbound != porting.WaitsForTrunk || r.Status().Detail != porting.DetailTrunk || r.WaitsFor() != porting.ActCustomer {
			t.Fatalf("got %+v, %s, %s", r.Numbers[0], r.Status().Detail, r.WaitsFor())
		}
		if text := r.Text(porting.Entry{To: porting.Completed, Event: porting.Ported}); !strings.Contains(text, "waits for a trunk") {
			t.Errorf("the mail says %s", text)
		}
		s.attached["+14155550100"] = nil
		if r = h.after(15*time.Minute, r.ID); r.Numbers[0].Inbound != porting.Registered || r.Status().Detail != porting.DetailNone || r.WaitsFor() != "" || !r.DueAt.IsZero() {
			t.Errorf("with a trunk: got %+v", r)
		}
		s.failures = []error{callwright.ErrConflict, callwright.ErrConflict}
		if r = h.after(20*day, h.signed("97").ID); r.Numbers[0].Inbound != porting.RegistrationTaken {
			t.Errorf("with another organization's trunk: got %+v", r.Numbers[0])
		}
	}, func(c *porting.Config) { c.Trunks = s })
}
