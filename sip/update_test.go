package sip_test

import (
	"context"
	"errors"
	"net/netip"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/header"
)

// update changes the number in the constant one of organization "a", and stops the test if the change is refused.
func (h *house) update(in sip.DirectionInput) sip.Updated {
	h.t.Helper()
	done, err := h.Update(h.t.Context(), "a", one, in)
	if err != nil {
		h.t.Fatal(err)
	}
	return done
}

func TestUpdateKeepsTheRest(t *testing.T) {
	t.Parallel()
	h := open(t)
	list := []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}
	in := inbound()
	in.CallUsername, in.CallPassword, in.AllowedIPs = new("u"), new(callwright.Secret("p")), &list
	in.Headers = &[]header.Rule{{Custom: &header.Custom{Key: "X-A", Value: "a"}}}
	h.attach("a", []string{one}, in)
	h.clock.now = start.Add(1)

	done := h.update(sip.DirectionInput{Type: sip.Inbound, CallUsername: new("v")})
	o := done.Trunk.Options
	if o.Call.Username != "v" || o.Call.Password.Reveal() != "p" || len(o.AllowedIPs) != 1 || len(done.Trunk.Headers) != 1 {
		t.Errorf("got %+v", done.Trunk)
	}
	if done.Trunk.Version != 2 || !done.Trunk.UpdatedAt.Equal(h.clock.now) || !done.Trunk.CreatedAt.Equal(start) || done.Password != "" {
		t.Errorf("got %+v", done)
	}
	if stored := h.get("a", one).Inbound; stored.Options.Call.Username != "v" || stored.Version != 2 {
		t.Errorf("stored %+v", stored)
	}
	done = h.update(sip.DirectionInput{
		Type: sip.Inbound, CallUsername: new(""), CallPassword: new(callwright.Secret("")), AllowedIPs: &[]netip.Prefix{},
		Headers: &[]header.Rule{},
	})
	if o := done.Trunk.Options; o.Call != (sip.Credentials{}) || len(o.AllowedIPs)+len(done.Trunk.Headers) != 0 {
		t.Errorf("got %+v: what is given empty is taken away", done.Trunk)
	}
}

func TestUpdateRefuses(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.attach("a", []string{one}, outbound("sip:x.example"))
	h.attach("a", []string{two}, inbound())
	h.attach("b", []string{"+15550000003"}, inbound())
	for name, test := range map[string]struct {
		number string
		in     sip.DirectionInput
		code   callwright.Code
		field  string
	}{
		"no number":         {"abc", inbound(), callwright.CodeBadRequest, "phone_number"},
		"no direction":      {one, sip.DirectionInput{}, callwright.CodeBadRequest, "updates.type"},
		"not attached":      {one, inbound(), callwright.CodeNotFound, ""},
		"a foreign number":  {"+15550000003", inbound(), callwright.CodeNotFound, ""},
		"an unknown number": {"+15550000004", inbound(), callwright.CodeNotFound, ""},
		"no endpoint":       {one, outbound(""), callwright.CodeBadRequest, "updates.sip_endpoint"},
		"half credentials":  {one, sip.DirectionInput{Type: sip.Outbound, CallUsername: new("u")}, callwright.CodeBadRequest, "updates.options.sip_username"},
		"no registrar":      {two, registering(""), callwright.CodeBadRequest, "updates.sip_endpoint"},
		"no credentials":    {two, sip.DirectionInput{Type: sip.Inbound, AuthMode: new(sip.AuthRegister)}, callwright.CodeBadRequest, "updates.register_auth"},
		"register by ip":    {two, sip.DirectionInput{Type: sip.Inbound, Register: new(sip.Credentials{})}, callwright.CodeBadRequest, "updates.register_auth"},
		"SIP's header": {two, sip.DirectionInput{
			Type: sip.Inbound, Headers: &[]header.Rule{{Custom: &header.Custom{Key: "Via", Value: "a"}}},
		}, callwright.CodeBadRequest, "updates.headers.headers[0].key"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := h.Update(t.Context(), "a", test.number, test.in)
			wantField(t, err, test.code, test.field)
		})
	}
}

// TestRegistrationFollowsTrunk checks that a registration restarts if and only if one of its settings changes, and is deleted when the
// trunk no longer registers.
func TestRegistrationFollowsTrunk(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.attach("a", []string{one}, registering("sip:x.example"))
	id := h.get("a", one).Inbound.ID
	registered := func(want string, version int64) {
		t.Helper()
		r, err := h.registrations.Registration(t.Context(), "a", id)
		if version == 0 && !errors.Is(err, callwright.ErrNotFound) {
			t.Errorf("%s: got %+v, %v; want none", want, r, err)
		}
		if version > 0 && (err != nil || (r.Reason == "old") != (version > 1)) {
			t.Errorf("%s: got %+v, %v", want, r, err)
		}
	}
	age := func() {
		t.Helper()
		r, err := h.registrations.Registration(t.Context(), "a", id)
		r.Reason = "old"
		if err := errors.Join(err, h.registrations.StoreRegistration(t.Context(), r)); err != nil {
			t.Fatal(err)
		}
	}
	registered("attached", 1)
	age()
	h.update(sip.DirectionInput{Type: sip.Inbound, Headers: &[]header.Rule{}})
	h.attach("a", []string{one}, registering("sip:x.example"))
	registered("nothing new", 2)

	done := h.update(sip.DirectionInput{Type: sip.Inbound, Register: &sip.Credentials{Username: "bob", Password: "12345678"}})
	if done.Password == "" || done.Password != done.Trunk.Options.Register.Password || done.Trunk.Options.Register.Username != "bob" {
		t.Errorf("got %+v", done)
	}
	registered("another user", 1)
	age()
	h.update(sip.DirectionInput{Type: sip.Inbound, Endpoint: new("sip:y.example")})
	registered("another server", 1)
	age()
	h.update(sip.DirectionInput{Type: sip.Inbound, Verify: new(sip.VerifyChain)})
	registered("another check", 1)
	age()
	h.update(sip.DirectionInput{Type: sip.Inbound, Port: new(5071)})
	registered("another port", 1)

	done = h.update(sip.DirectionInput{Type: sip.Inbound, AuthMode: new(sip.AuthIP)})
	if o := done.Trunk; o.Endpoint != "" || o.Options.Register != (sip.Credentials{}) {
		t.Errorf("got %+v: nothing of a registration stays", o)
	}
	registered("by address", 0)
	h.update(registering("sip:x.example"))
	registered("again", 1)
	h.attach("a", []string{one}, inbound())
	registered("attached by address", 0)
	h.update(registering("sip:x.example"))
	if _, err := h.Detach(t.Context(), "a", one, []sip.Direction{sip.Inbound}); err != nil {
		t.Fatal(err)
	}
	registered("detached", 0)
}

func TestDetach(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.attach("a", []string{one}, inbound(), outbound("sip:x.example"))
	h.attach("a", []string{two}, inbound())
	h.attach("b", []string{"+15550000003"}, inbound())
	in, out := []sip.Direction{sip.Inbound}, []sip.Direction{sip.Outbound}
	both := []sip.Direction{sip.Inbound, sip.Outbound}
	for name, test := range map[string]struct {
		number     string
		directions []sip.Direction
		code       callwright.Code
		field      string
	}{
		"no number":      {"abc", in, callwright.CodeBadRequest, "phone_number"},
		"no directions":  {one, nil, callwright.CodeBadRequest, "directions"},
		"the same twice": {one, []sip.Direction{sip.Inbound, sip.Inbound}, callwright.CodeBadRequest, "directions[1].type"},
		"odd direction":  {one, []sip.Direction{sip.Inbound, "both"}, callwright.CodeBadRequest, "directions[1].type"},
		"not attached":   {two, both, callwright.CodeNotFound, ""},
		"unknown number": {"+15550000004", in, callwright.CodeNotFound, ""},
		"foreign number": {"+15550000003", in, callwright.CodeNotFound, ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := h.Detach(t.Context(), "a", test.number, test.directions)
			wantField(t, err, test.code, test.field)
		})
	}
	if h.get("a", two).Inbound == nil || h.get("b", "+15550000003").Inbound == nil {
		t.Error("something was removed")
	}
	h.monitor.forgotten = nil // ignores the change that was rolled back

	if n, err := h.Detach(t.Context(), "a", "15550000001", out); err != nil || n != one {
		t.Errorf("got %s, %v", n, err)
	}
	if r := h.get("a", one); r.Outbound != nil || r.Inbound == nil {
		t.Errorf("got %+v", r)
	}
	if len(h.monitor.forgotten) != 1 || h.monitor.forgotten[0].Direction != sip.Outbound {
		t.Errorf("forgot %+v", h.monitor.forgotten)
	}
	if _, err := h.Detach(t.Context(), "a", one, out); !errors.Is(err, callwright.ErrNotFound) {
		t.Errorf("again gave %v", err)
	}
	if _, err := h.Detach(t.Context(), "a", one, in); err != nil || h.numbers[one] != "" {
		t.Errorf("got %v, %v", err, h.numbers)
	}
	h.attach("b", []string{one}, inbound()) // the number is free for other organizations
}

// rival is a store whose writes return CodeConflict a given number of times, as if another writer, possibly of another organization, were
// faster.
type rival struct {
	sip.Store
	times int
	owner callwright.OrgID
}

func (r *rival) Insert(ctx context.Context, t sip.Trunk) error {
	if r.times--; r.times >= 0 {
		return callwright.ErrConflict
	}
	return r.Store.Insert(ctx, t)
}

func (r *rival) Update(ctx context.Context, t sip.Trunk) error {
	if r.times--; r.times >= 0 {
		return callwright.ErrConflict
	}
	return r.Store.Update(ctx, t)
}

func (r *rival) Holders(ctx context.Context, numbers []callwright.PhoneNumber) (map[callwright.PhoneNumber]callwright.OrgID, error) {
	if r.owner != "" && r.times < 8 { // the other organization has attached the number meanwhile
		return map[callwright.PhoneNumber]callwright.OrgID{numbers[0]: r.owner}, nil
	}
	return r.Store.Holders(ctx, numbers)
}

func TestSomebodyIsQuicker(t *testing.T) {
	t.Parallel()
	r := &rival{}
	h := open(t, func(c *sip.Config) { r.Store, c.Store = c.Store, r })
	r.times = 7
	h.attach("a", []string{one}, inbound())
	r.times = 7
	if done := h.update(sip.DirectionInput{Type: sip.Inbound, Verify: new(sip.VerifyChain)}); done.Trunk.Options.Verify != sip.VerifyChain {
		t.Errorf("got %+v", done)
	}
	r.times = 8
	if _, err := h.Update(t.Context(), "a", one, inbound()); !errors.Is(err, callwright.ErrConflict) {
		t.Errorf("got %v", err)
	}
	r.times, r.owner = 8, "b"
	done, err := h.Attach(t.Context(), "a", sip.Attachment{Numbers: []string{two}, Directions: []sip.DirectionInput{inbound()}})
	if err != nil || len(done.Failed) != 1 || done.Failed[0].Err.Message != "the number is not available to this organization: use another number, or ask the operator of this service" {
		t.Errorf("got %+v, %v", done, err)
	}
}
