package access

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/callwright/callwright"
)

// grantable lists the entitlements that operators grant and withdraw. It omits EntitlementOperator, which only the first start and
// `callwright admin` grant, with the methods of Service. Both require access to the deployment's database.
var grantable = []callwright.Entitlement{callwright.EntitlementSIP}

// Grantable returns the entitlements that operators grant and withdraw.
func Grantable() []callwright.Entitlement { return slices.Clone(grantable) }

// Operator lists, creates and changes organizations on behalf of a principal. It reveals no secrets of organizations, and no keys except
// the first key of a new organization.
type Operator struct {
	s  *Service
	by callwright.Principal
}

// Operator returns the Operator of a principal. It returns CodeNotFound for a principal without EntitlementOperator, to hide the operator's
// pages.
func (s *Service) Operator(by callwright.Principal) (*Operator, error) {
	if !by.Entitled(callwright.EntitlementOperator) {
		return nil, callwright.NotFound("page")
	}
	return &Operator{s, by}, nil
}

// Summary describes an organization to operators. It contains no secrets.
type Summary struct {
	Details

	ID           callwright.OrgID
	Entitlements []callwright.Entitlement
	CreatedAt    time.Time
}

// Has reports whether the organization has an entitlement.
func (s Summary) Has(e callwright.Entitlement) bool { return slices.Contains(s.Entitlements, e) }

func summaryOf(o callwright.Organization) Summary {
	return Summary{Details: Details{o.Name, o.DefaultCountry, o.NumberLimit()}, ID: o.ID, Entitlements: o.Entitlements, CreatedAt: o.CreatedAt}
}

// Organizations returns a page of organizations, newest first. limit must be 1 to MaxPage.
func (o *Operator) Organizations(ctx context.Context, after callwright.Keyset, limit int) (callwright.Page[Summary], error) {
	found, err := o.s.Organizations(ctx, after, limit)
	all := callwright.Page[Summary]{Next: found.Next}
	for _, org := range found.Items {
		all.Items = append(all.Items, summaryOf(org))
	}
	return all, err
}

// Organization returns an organization and the number of its keys that are in force. It returns CodeNotFound if the organization is absent.
func (o *Operator) Organization(ctx context.Context, id callwright.OrgID) (Summary, int, error) {
	org, err := o.s.cfg.Store.Organization(ctx, id)
	if err != nil {
		return Summary{}, 0, err
	}
	keys, err := o.s.cfg.Store.CountKeys(ctx, id, o.s.cfg.Clock.Now())
	return summaryOf(org), keys, err
}

// Create stores a new organization and its first key in one transaction. The key does not expire. Create returns the errors of
// CreateOrganization, and CodeBadRequest for an entitlement that is not in Grantable.
func (o *Operator) Create(
	ctx context.Context, id callwright.OrgID, name string, grant ...callwright.Entitlement,
) (made Summary, key NewKey, err error) {
	if err := checkGrantable(grant); err != nil {
		return Summary{}, NewKey{}, err
	}
	err = o.s.cfg.Atomic.Do(ctx, func(ctx context.Context) error {
		org, err := o.s.CreateOrganization(ctx, id, name, grant...)
		if errors.Is(err, callwright.ErrConflict) {
			return (&callwright.Error{Code: callwright.CodeConflict, Field: "id", Message: "must be unique: another organization has this id"}).Because(err)
		}
		if err != nil {
			return err
		}
		made = summaryOf(org)
		key, err = o.s.CreateKey(ctx, org.ID, "first key", 0)
		return err
	})
	if err != nil {
		return Summary{}, NewKey{}, err
	}
	o.log(ctx, "an operator has created an organization", made)
	return made, key, nil
}

// Details holds the fields of an organization that operators change, in addition to its entitlements.
type Details struct {
	Name           string
	DefaultCountry callwright.Country
	MaxNumbers     int // maximum of numbers attached to trunks; 0 means callwright.DefaultMaxNumbers
}

// Change replaces the details of an organization. It grants the entitlements in grant, and withdraws all other entitlements in Grantable.
// Further entitlements stay unchanged. Change returns the errors of UpdateOrganization, and CodeBadRequest for an entitlement that is not
// in Grantable.
func (o *Operator) Change(ctx context.Context, id callwright.OrgID, d Details, grant ...callwright.Entitlement) error {
	if err := checkGrantable(grant); err != nil {
		return err
	}
	withdraw := slices.DeleteFunc(Grantable(), func(e callwright.Entitlement) bool { return slices.Contains(grant, e) })
	org, err := o.s.UpdateOrganization(ctx, id, OrganizationChange{Name: &d.Name, Country: &d.DefaultCountry, Numbers: &d.MaxNumbers, Grant: grant, Withdraw: withdraw})
	if err != nil {
		return err
	}
	o.log(ctx, "an operator has changed an organization", summaryOf(org))
	return nil
}

func checkGrantable(grant []callwright.Entitlement) error {
	for _, e := range grant {
		if !slices.Contains(grantable, e) {
			return callwright.Invalid("entitlements", "must be among %v: only `callwright admin` grants other entitlements", grantable)
		}
	}
	return nil
}

func (o *Operator) log(ctx context.Context, event string, about Summary) {
	o.s.cfg.Logger.InfoContext(ctx, event, "organization", about.ID, "entitlements", about.Entitlements, "org", o.by.Org, "key", o.by.KeyID)
}
