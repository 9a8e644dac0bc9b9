package access_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/access"
)

// operator creates an organization with EntitlementOperator, and returns it with the Operator of its key.
func (h *house) operator(t *testing.T) (callwright.Organization, *access.Operator) {
	t.Helper()
	org, orgErr := h.CreateOrganization(t.Context(), "ops", "Operators", callwright.EntitlementOperator)
	key, keyErr := h.CreateKey(t.Context(), org.ID, "desk", 0)
	p, checkErr := h.CheckKey(t.Context(), key.Key.Reveal())
	o, err := h.Operator(p)
	if err := errors.Join(orgErr, keyErr, checkErr, err); err != nil {
		t.Fatal(err)
	}
	return org, o
}

func TestOperatorNeedsEntitlement(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	p, err := h.CheckKey(t.Context(), h.key(t, 0).Key.Reveal())
	if err != nil {
		t.Fatal(err)
	}
	for _, by := range []callwright.Principal{{}, p} {
		if o, err := h.Operator(by); !errors.Is(err, callwright.ErrNotFound) || o != nil {
			t.Errorf("%+v is an operator: %v", by, err)
		}
	}
}

func TestOperatorCreates(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	_, o := h.operator(t)
	made, key, err := o.Create(t.Context(), "beta", "Beta", callwright.EntitlementSIP)
	if err != nil || made.ID != "beta" || !made.Has(callwright.EntitlementSIP) {
		t.Fatalf("made %+v, %v", made, err)
	}
	p, err := h.CheckKey(t.Context(), key.Key.Reveal())
	if err != nil || p.Org != "beta" || p.Entitled(callwright.EntitlementOperator) {
		t.Errorf("the first key is of %+v, %v", p, err)
	}
	if got, keys, err := o.Organization(t.Context(), "beta"); err != nil || got.Name != "Beta" || keys != 1 {
		t.Errorf("got %+v with %d keys, %v", got, keys, err)
	}
	_, _, err = o.Create(t.Context(), "beta", "Beta")
	wantError(t, "a taken id", err, callwright.CodeConflict, "id")
	_, _, err = o.Create(t.Context(), "b c", "Beta")
	wantError(t, "a bad id", err, callwright.CodeBadRequest, "id")
	_, _, err = o.Create(t.Context(), "", " ")
	wantError(t, "no name", err, callwright.CodeBadRequest, "name")
	page, err := o.Organizations(t.Context(), callwright.Keyset{}, 2)
	if err != nil || len(page.Items) != 2 || page.Next.IsZero() {
		t.Errorf("a page has %+v, %v", page, err)
	}
}

func TestOperatorChanges(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ops, o := h.operator(t)
	if _, err := h.UpdateOrganization(t.Context(), h.org.ID, access.OrganizationChange{Grant: []callwright.Entitlement{"GOLD"}}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		id   callwright.OrgID
		give []callwright.Entitlement
		want []callwright.Entitlement
	}{
		{h.org.ID, nil, []callwright.Entitlement{"GOLD"}},
		{h.org.ID, []callwright.Entitlement{"SIP"}, []callwright.Entitlement{"GOLD", "SIP"}},
		{ops.ID, nil, []callwright.Entitlement{"OPERATOR"}},
	} {
		if err := o.Change(t.Context(), c.id, access.Details{Name: "New", DefaultCountry: "US"}, c.give...); err != nil {
			t.Fatal(err)
		}
		if now, err := h.Organization(t.Context(), c.id); err != nil || now.Name != "New" || now.DefaultCountry != "US" || !slices.Equal(now.Entitlements, c.want) {
			t.Errorf("got %+v, %v, want %v", now, err, c.want)
		}
	}
	wantError(t, "absent", o.Change(t.Context(), "absent", access.Details{Name: "New"}), callwright.CodeNotFound, "")
	wantError(t, "no name", o.Change(t.Context(), h.org.ID, access.Details{}), callwright.CodeBadRequest, "name")
	wantError(t, "too many numbers", o.Change(t.Context(), h.org.ID, access.Details{Name: "New", MaxNumbers: access.MaxNumbers + 1}), callwright.CodeBadRequest, "max_numbers")
	wantError(t, "no country", o.Change(t.Context(), h.org.ID, access.Details{Name: "New", DefaultCountry: "us"}), callwright.CodeBadRequest, "default_country")
}

// TestOperatorsMakeNoOperators checks that an Operator cannot grant EntitlementOperator or an unknown entitlement, neither to a new
// organization nor to an existing one.
func TestOperatorsMakeNoOperators(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	_, o := h.operator(t)
	for _, e := range []callwright.Entitlement{callwright.EntitlementOperator, "operator", "GOLD", ""} {
		_, _, err := o.Create(t.Context(), "evil", "Evil", callwright.EntitlementSIP, e)
		wantError(t, "creation with "+string(e), err, callwright.CodeBadRequest, "entitlements")
		wantError(t, "change to "+string(e), o.Change(t.Context(), h.org.ID, access.Details{Name: "Evil"}, e), callwright.CodeBadRequest, "entitlements")
	}
	if _, err := h.Organization(t.Context(), "evil"); !errors.Is(err, callwright.ErrNotFound) {
		t.Errorf("the organization was made: %v", err)
	}
	if now, err := h.Organization(t.Context(), h.org.ID); err != nil || now.Name == "Evil" || now.Entitled(callwright.EntitlementOperator) {
		t.Errorf("it has become %+v, %v", now, err)
	}
}
