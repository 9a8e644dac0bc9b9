package httpapi

import (
	"context"
	"net/http"

	"github.com/callwright/callwright"
)

// Authenticator returns who makes a request, by whatever of it says so: a key in its header, as transport/access reads it, or
// the cookie of a session, for a program whose pages call the API.
//
// A browser sends a cookie along with requests that other sites cause. An Authenticator that reads one must therefore refuse
// a request that is not of its own pages (CSRF): it sets the cookie with SameSite=Lax or Strict, Secure and HttpOnly, and
// refuses any method but GET and HEAD whose Sec-Fetch-Site is neither same-origin nor none, as http.CrossOriginProtection
// does. A key in a header needs none of this, because no browser adds it by itself.
type Authenticator interface {
	// Authenticate returns who makes a request; CodeAuthFailure if nobody who is known does. It runs before anything else of
	// the request is looked at, and must not read its body.
	Authenticate(r *http.Request) (callwright.Principal, error)
}

// Authorize has the Authenticator look at a request, and checks the entitlements that its operation asks for. Generated
// servers call it first of all, so that a request without a key learns nothing else.
func (a *API) Authorize(ctx context.Context, r *http.Request, entitlements []string) (context.Context, error) {
	principal, err := a.cfg.Access.Authenticate(r.WithContext(ctx))
	if err != nil {
		return ctx, err
	}
	infoOf(ctx).principal = principal
	for _, name := range entitlements {
		if !principal.Entitled(callwright.Entitlement(name)) {
			return ctx, &callwright.Error{
				Code: callwright.CodeFeatureNotEnabled, Message: name + " is not enabled for this organization",
			}
		}
	}
	return ctx, nil
}
