package settings

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/access"
	"github.com/callwright/callwright/transport/dashboard/internal/page"
)

// organizations holds the data of the page that lists all organizations. Only operators see it.
type organizations struct {
	menu

	Organizations []access.Summary
	Own           callwright.OrgID
	Next          string

	ID, Name string // of a new organization, as typed
	Rights   []right
	Faults   page.Faults
}

// right is an entitlement with the state of its checkbox.
type right struct {
	callwright.Entitlement

	Checked bool
}

// rights returns the entitlements that operators may grant. Those in held are checked.
func rights(held []callwright.Entitlement) (all []right) {
	for _, e := range access.Grantable() {
		all = append(all, right{e, slices.Contains(held, e)})
	}
	return all
}

// granted returns the entitlements that are checked in a form.
func granted(r *page.Request) (all []callwright.Entitlement) {
	for _, name := range r.PostForm["entitlement"] {
		all = append(all, callwright.Entitlement(name))
	}
	return all
}

// entitlementField maps the domain's name of the entitlements to the name of the form's input.
var entitlementField = map[string]string{"entitlements": "entitlement"}

func (p pages) organizations(ctx context.Context, r *page.Request) (page.Answer, error) {
	return p.organizationsPage(ctx, r, organizations{Rights: rights(nil)})
}

func (p pages) organizationsPage(ctx context.Context, r *page.Request, o organizations) (page.Answer, error) {
	operator, err := p.cfg.Access.Operator(r.Principal)
	if err != nil {
		return nil, err
	}
	after, err := r.After()
	if err != nil {
		return nil, err
	}
	found, err := operator.Organizations(ctx, after, pageSize)
	if err != nil {
		return nil, err
	}
	o.menu, o.Organizations, o.Own, o.Next = p.menu(r), found.Items, r.Org(), r.Next(found.Next)
	v := &page.View{Page: "organizations", Title: "Organizations", Data: o}
	if o.Faults != nil {
		v.Status = http.StatusUnprocessableEntity
	}
	return v, nil
}

// createOrganization creates an organization, and shows the organization's first key for the only time. If the request is invalid, it shows
// the form again.
func (p pages) createOrganization(ctx context.Context, r *page.Request) (page.Answer, error) {
	operator, err := p.cfg.Access.Operator(r.Principal)
	if err != nil {
		return nil, err
	}
	made, key, err := operator.Create(ctx, callwright.OrgID(r.Field("id")), r.Field("name"), granted(r)...)
	if faults, ok := page.FaultsOf(err, entitlementField); ok {
		return p.organizationsPage(ctx, r, organizations{ID: r.Field("id"), Name: r.Field("name"), Rights: rights(granted(r)), Faults: faults})
	}
	if err != nil {
		return nil, err
	}
	return p.showOnce(r, "The first API key of "+made.Name, key.Key, page.Path("/settings/organizations", string(made.ID))), nil
}

// organization holds the data of the page of an organization.
type organization struct {
	menu
	access.Summary

	Keys   int // number of keys in force
	Typed  access.Details
	Rights []right
	Faults page.Faults
}

func (p pages) organization(ctx context.Context, r *page.Request) (page.Answer, error) {
	return p.organizationPage(ctx, r, nil)
}

// organizationPage shows an organization with the form that changes it. If there are faults, the form contains the submitted values.
func (p pages) organizationPage(ctx context.Context, r *page.Request, faults page.Faults) (page.Answer, error) {
	operator, err := p.cfg.Access.Operator(r.Principal)
	if err != nil {
		return nil, err
	}
	o := organization{menu: p.menu(r), Faults: faults}
	if o.Summary, o.Keys, err = operator.Organization(ctx, callwright.OrgID(r.PathValue("id"))); err != nil {
		return nil, err
	}
	o.Typed, o.Rights = o.Details, rights(o.Entitlements)
	v := &page.View{Page: "organization", Title: o.Name, Data: &o}
	if faults != nil {
		v.Status, o.Typed, o.Rights = http.StatusUnprocessableEntity, details(r), rights(granted(r))
	}
	return v, nil
}

// details reads the form of an organization's details. A maximum that is not a number becomes -1, which the service refuses.
func details(r *page.Request) access.Details {
	numbers, err := strconv.Atoi(cmp.Or(r.Field("max_numbers"), "0"))
	if err != nil {
		numbers = -1 // the service refuses it
	}
	return access.Details{
		Name: r.Field("name"), DefaultCountry: callwright.Country(strings.ToUpper(r.Field("default_country"))), MaxNumbers: numbers,
	}
}

func (p pages) changeOrganization(ctx context.Context, r *page.Request) (page.Answer, error) {
	operator, err := p.cfg.Access.Operator(r.Principal)
	if err != nil {
		return nil, err
	}
	id := r.PathValue("id")
	err = operator.Change(ctx, callwright.OrgID(id), details(r), granted(r)...)
	if faults, ok := page.FaultsOf(err, entitlementField); ok {
		return p.organizationPage(ctx, r, faults)
	}
	if err != nil {
		return nil, err
	}
	return page.SeeOther{To: page.Path("/settings/organizations", id), Notice: "The organization is changed."}, nil
}
