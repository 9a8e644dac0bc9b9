package settings

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/transport/dashboard/internal/page"
)

// The units of durations in forms.
const (
	hour = time.Hour
	day  = 24 * time.Hour
)

// maxUnits is the number of units to which span clips larger numbers. It exceeds every service's limit, so the service refuses it and names
// the limit.
const maxUnits = 100_000

// span parses a field that holds a duration in whole units. It returns CodeBadRequest with the field if the text is empty, is not a whole
// number, or is below the given minimum.
func span(text, field string, least int, unit time.Duration) (time.Duration, error) {
	if text == "" {
		return 0, callwright.Invalid(field, "is required")
	}
	n, err := strconv.Atoi(text)
	if err != nil && !errors.Is(err, strconv.ErrRange) || n < least {
		return 0, callwright.Invalid(field, "must be a whole number, at least %d", least)
	}
	return time.Duration(min(n, maxUnits)) * unit, nil
}

// keys holds the data of the page of API keys.
type keys struct {
	menu

	Keys []callwright.APIKey
	Own  string                   // id of the reader's own key
	May  []callwright.Entitlement // entitlements of the organization
	Now  time.Time
	Next string

	Name, Lifetime string // of a new key, as typed
	Faults         page.Faults
}

// State returns the style and the text of a key's badge.
func (k keys) State(key callwright.APIKey) [2]string {
	switch {
	case key.RevokedAt != nil:
		return [2]string{"plain", "revoked"}
	case !key.InForce(k.Now):
		return [2]string{"plain", "expired"}
	case key.ReplacedBy != "":
		return [2]string{"warn", "rotated"}
	}
	return [2]string{"good", "active"}
}

func (p pages) keys(ctx context.Context, r *page.Request) (page.Answer, error) {
	return p.keysPage(ctx, r, keys{})
}

func (p pages) keysPage(ctx context.Context, r *page.Request, k keys) (page.Answer, error) {
	after, err := r.After()
	if err != nil {
		return nil, err
	}
	found, err := p.cfg.Access.Keys(ctx, r.Org(), after, pageSize)
	if err != nil {
		return nil, err
	}
	k.menu, k.May = p.menu(r), r.Principal.Entitlements
	k.Keys, k.Own, k.Now = found.Items, r.Principal.KeyID, p.cfg.Clock.Now()
	if next := r.Next(found.Next); next != "" {
		k.Next = r.Below("/settings") + next // the form's address differs from the list's
	}
	v := &page.View{Page: "keys", Title: "API keys", Data: k}
	if k.Faults != nil {
		v.Status = http.StatusUnprocessableEntity
	}
	return v, nil
}

// create creates a key, and shows its secret for the only time. If the request is invalid, create shows the form again.
func (p pages) create(ctx context.Context, r *page.Request) (page.Answer, error) {
	var lifetime time.Duration // 0 means that the key never expires
	var err error
	if text := r.Field("lifetime"); text != "" {
		lifetime, err = span(text, "lifetime", 1, day)
	}
	if err == nil {
		made, failed := p.cfg.Access.CreateKey(ctx, r.Org(), r.Field("name"), lifetime)
		if failed == nil {
			return p.showOnce(r, "The new API key", made.Key, "/settings"), nil
		}
		err = failed
	}
	if faults, ok := page.FaultsOf(err, nil); ok {
		return p.keysPage(ctx, r, keys{Name: r.Field("name"), Lifetime: r.Field("lifetime"), Faults: faults})
	}
	return nil, err
}

// rotate creates a key that replaces another key, and shows the new key's secret for the only time. The replaced key remains valid for up
// to a day.
func (p pages) rotate(ctx context.Context, r *page.Request) (page.Answer, error) {
	made, err := p.cfg.Access.RotateKey(ctx, r.Org(), r.PathValue("id"), day)
	if err != nil {
		return nil, err
	}
	return p.showOnce(r, "The new API key", made.Key, "/settings"), nil
}

func (p pages) revoke(ctx context.Context, r *page.Request) (page.Answer, error) {
	if err := p.cfg.Access.RevokeKey(ctx, r.Org(), r.PathValue("id")); err != nil {
		return nil, err
	}
	notice := "The key is revoked."
	if r.PathValue("id") == r.Principal.KeyID {
		notice = "Your key is revoked: sign in with another one."
	}
	return page.SeeOther{To: "/settings", Notice: notice}, nil
}
