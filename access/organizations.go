package access

import (
	"context"
	"encoding/base64"
	"net/mail"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/callwright/callwright"
)

// The limits of organizations.
const (
	MaxName         = 100                 // characters in the name of an organization or a key
	MaxEntitlements = 20                  // entitlements of an organization
	MaxNumbers      = 1000000             // maximum of Organization.MaxNumbers
	MaxEmail        = 254                 // bytes in a contact's email address
	MaxOverlap      = 30 * 24 * time.Hour // maximum time that a key or a webhook secret stays valid after its rotation
	MaxPage         = 1000                // organizations, keys or sessions per page
)

var (
	orgID       = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)
	entitlement = regexp.MustCompile(`^[A-Z][A-Z0-9_]{0,31}$`)
)

// CreateOrganization stores an organization and generates its webhook secret. If id is empty, it generates the id. It returns CodeConflict
// if the id exists, and CodeBadRequest with the field id, name or entitlements for invalid input:
//
//   - An id must consist of 1 to 64 letters, digits, dots, underscores and hyphens, and begin with a letter or a digit.
//   - A name must consist of 1 to MaxName visible characters.
//   - An entitlement must consist of 1 to 32 capital letters, digits and underscores, and begin with a letter. At most MaxEntitlements are
//     allowed.
func (s *Service) CreateOrganization(
	ctx context.Context, id callwright.OrgID, name string, entitlements ...callwright.Entitlement,
) (callwright.Organization, error) {
	if id == "" {
		id = callwright.OrgID(s.cfg.IDs.New())
	}
	if !orgID.MatchString(string(id)) {
		return callwright.Organization{}, callwright.Invalid("id", "must have 1 to 64 letters, digits, dots, underscores and hyphens, and begin with a letter or a digit")
	}
	o := callwright.Organization{ID: id, WebhookSecret: newWebhookSecret(), CreatedAt: s.cfg.Clock.Now()}
	if err := (OrganizationChange{Name: &name, Grant: entitlements}).apply(&o); err != nil {
		return callwright.Organization{}, err
	}
	if err := s.cfg.Store.InsertOrganization(ctx, o); err != nil {
		return callwright.Organization{}, err
	}
	return o, nil
}

// newWebhookSecret returns a random secret of 24 bytes in the format of the Standard Webhooks specification: "whsec_" and base64.
func newWebhookSecret() callwright.Secret {
	return callwright.Secret("whsec_" + base64.StdEncoding.EncodeToString(randomBytes(24)))
}

// Organization returns one organization, or CodeNotFound if it is absent.
func (s *Service) Organization(ctx context.Context, id callwright.OrgID) (callwright.Organization, error) {
	return s.cfg.Store.Organization(ctx, id)
}

// Organizations returns a page of organizations, newest first. limit must be 1 to MaxPage.
func (s *Service) Organizations(
	ctx context.Context, after callwright.Keyset, limit int,
) (callwright.Page[callwright.Organization], error) {
	return page(limit, func(limit int) ([]callwright.Organization, error) {
		return s.cfg.Store.Organizations(ctx, after, limit)
	}, func(o callwright.Organization) callwright.Keyset {
		return callwright.Keyset{At: o.CreatedAt, ID: string(o.ID)}
	})
}

// page returns a page of up to limit items. It reads one more item to learn whether a further page exists, and sets Next only if one does.
// It returns CodeBadRequest unless limit is 1 to MaxPage. The function place returns the keyset of an item.
func page[T any](
	limit int, read func(limit int) ([]T, error), place func(T) callwright.Keyset,
) (callwright.Page[T], error) {
	if limit < 1 || limit > MaxPage {
		return callwright.Page[T]{}, callwright.Invalid("limit", "must be from 1 to %d", MaxPage)
	}
	items, err := read(limit + 1)
	if err != nil || len(items) <= limit {
		return callwright.Page[T]{Items: items}, err
	}
	return callwright.Page[T]{Items: items[:limit], Next: place(items[limit-1])}, nil
}

// OrganizationChange is a change of an organization. Nil pointers and empty lists leave the organization unchanged.
type OrganizationChange struct {
	Name         *string
	ContactEmail *string                  // an email address without a name; an empty string means no mail
	Country      *callwright.Country      // the new DefaultCountry
	Numbers      *int                     // the new MaxNumbers
	Grant        []callwright.Entitlement // entitlements to add
	Withdraw     []callwright.Entitlement // entitlements to delete
}

// apply checks the change and applies it to o. After an error, o may be partly changed.
func (c OrganizationChange) apply(o *callwright.Organization) error {
	if c.Name != nil {
		if err := checkName(*c.Name); err != nil {
			return err
		}
		o.Name = *c.Name
	}
	if c.ContactEmail != nil {
		if err := checkEmail(*c.ContactEmail); err != nil {
			return err
		}
		o.ContactEmail = *c.ContactEmail
	}
	if c.Country != nil {
		if err := c.Country.Check(); err != nil {
			return callwright.InField("default_country", err)
		}
		o.DefaultCountry = *c.Country
	}
	if c.Numbers != nil {
		if *c.Numbers < 0 || *c.Numbers > MaxNumbers {
			return callwright.Invalid("max_numbers", "must be from 1 to %d, or 0 for the default, %d", MaxNumbers, callwright.DefaultMaxNumbers)
		}
		o.MaxNumbers = *c.Numbers
	}
	rights := slices.Clone(o.Entitlements)
	for _, right := range slices.Concat(c.Grant, c.Withdraw) {
		switch {
		case !entitlement.MatchString(string(right)):
			return callwright.Invalid("entitlements", "%q must have 1 to 32 capital letters, digits and underscores, and begin with a letter, such as SIP", right)
		case slices.Contains(c.Grant, right) && slices.Contains(c.Withdraw, right):
			return callwright.Invalid("entitlements", "%s must not be both granted and withdrawn", right)
		}
	}
	for _, right := range c.Grant {
		if !slices.Contains(rights, right) {
			rights = append(rights, right)
		}
	}
	rights = slices.DeleteFunc(rights, func(right callwright.Entitlement) bool { return slices.Contains(c.Withdraw, right) })
	if len(rights) > MaxEntitlements {
		return callwright.Invalid("entitlements", "must have at most %d items", MaxEntitlements)
	}
	o.Entitlements = rights
	return nil
}

// checkName returns CodeBadRequest unless the name of an organization or a key consists of 1 to MaxName visible characters in UTF-8.
func checkName(name string) error {
	switch {
	case strings.TrimSpace(name) == "":
		return callwright.Invalid("name", "must not be empty")
	case callwright.Longer(name, MaxName):
		return callwright.Invalid("name", "must have at most %d characters", MaxName)
	case strings.ContainsFunc(name, callwright.Hidden), strings.ToValidUTF8(name, "") != name:
		return callwright.Invalid("name", "must be one line of valid UTF-8, without control characters or invisible characters")
	}
	return nil
}

// checkEmail returns CodeBadRequest unless text is empty or an email address of at most MaxEmail bytes, without a name.
func checkEmail(text string) error {
	if text == "" {
		return nil
	}
	a, err := mail.ParseAddress(text)
	if err != nil || a.Address != text || len(text) > MaxEmail || strings.ContainsFunc(text, callwright.Hidden) {
		return callwright.Invalid("contact_email", "must be an e-mail address such as noc@example.com, without a name, of at most %d bytes", MaxEmail)
	}
	return nil
}

// UpdateOrganization changes an organization and returns it. It returns CodeNotFound if the organization is absent, and CodeBadRequest with
// the field name, contact_email, default_country, max_numbers or entitlements for invalid input. The change takes effect immediately.
func (s *Service) UpdateOrganization(
	ctx context.Context, id callwright.OrgID, change OrganizationChange,
) (callwright.Organization, error) {
	return s.change(ctx, id, change.apply)
}

// change applies a change to an organization in a transaction that holds the organization, so that concurrent changes are not lost.
func (s *Service) change(
	ctx context.Context, id callwright.OrgID, apply func(*callwright.Organization) error,
) (o callwright.Organization, err error) {
	err = s.cfg.Atomic.Do(ctx, func(ctx context.Context) error {
		if o, err = s.cfg.Store.HoldOrganization(ctx, id); err != nil {
			return err
		}
		if err = apply(&o); err != nil {
			return err
		}
		return s.cfg.Store.UpdateOrganization(ctx, o)
	})
	if err != nil {
		return callwright.Organization{}, err
	}
	return o, nil
}

// RotateWebhookSecret replaces the webhook secret of an organization with a new one and returns the organization. During the overlap, the
// old secret signs messages, too. After a leak, rotate without an overlap: the old secret then ends immediately.
//
// RotateWebhookSecret returns CodeBadRequest with the field overlap unless the overlap is from 0 to MaxOverlap, and CodeNotFound if the
// organization is absent. It returns CodeInvalidState if an overlap is requested while the previous secret is still in its overlap: the
// rotation would end the previous secret, and receivers that know only that secret would refuse messages. A rotation without an overlap is
// always possible; it ends both old secrets.
func (s *Service) RotateWebhookSecret(
	ctx context.Context, id callwright.OrgID, overlap time.Duration,
) (callwright.Organization, error) {
	if err := checkOverlap(overlap); err != nil {
		return callwright.Organization{}, err
	}
	return s.change(ctx, id, func(o *callwright.Organization) error {
		now := s.cfg.Clock.Now()
		if overlap > 0 && len(o.WebhookSecrets(now)) > 1 {
			return callwright.Errorf(callwright.CodeInvalidState, "the previous webhook secret is valid until %s: wait until then, "+
				"or rotate without an overlap, which revokes both older secrets", o.PreviousWebhookEnds.Format(time.RFC3339))
		}
		o.PreviousWebhookSecret, o.PreviousWebhookEnds = "", nil
		if overlap > 0 {
			ends := now.Add(overlap)
			o.PreviousWebhookSecret, o.PreviousWebhookEnds = o.WebhookSecret, &ends
		}
		o.WebhookSecret = newWebhookSecret()
		return nil
	})
}

// checkOverlap returns CodeBadRequest unless the overlap of a rotation is from 0 to MaxOverlap.
func checkOverlap(overlap time.Duration) error {
	if overlap < 0 || overlap > MaxOverlap {
		return callwright.Invalid("overlap", "must be from 0 to %d hours", int(MaxOverlap.Hours()))
	}
	return nil
}
