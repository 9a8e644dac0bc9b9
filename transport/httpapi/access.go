package httpapi

import (
	"context"
	"errors"
	"net/http"

	"github.com/ogen-go/ogen/ogenerrors"

	"github.com/callwright/callwright"
)

// Authenticator finds the principal of a request by its credentials: a key in its header, as package access does, or
// the cookie of a session, for a program whose pages call the API.
//
// A browser sends a cookie along with requests that other sites cause. An Authenticator that reads one must therefore refuse
// a request that is not of its own pages (CSRF): it sets the cookie with SameSite=Lax or Strict, Secure and HttpOnly, and
// refuses any method but GET and HEAD whose Sec-Fetch-Site is neither same-origin nor none, as http.CrossOriginProtection
// does. A key in a header needs none of this, because no browser adds it by itself.
type Authenticator interface {
	// Authenticate returns the principal of a request. It runs before any other check of the request, and must not read
	// its body. It may run again while the request is answered: a stream ends when it refuses.
	//
	// The Principal must name Org and KeyID: without one of them the request is answered 500, and the log says which is missing.
	// CodeAuthFailure (401) is for a request without a known principal, CodeForbidden (403) for one that this principal may
	// not make, CodeUnavailable (503) for a store that is away. An error without a code becomes 500 and is logged.
	Authenticate(r *http.Request) (callwright.Principal, error)
}

// authorize authenticates a request by the Authenticator, and checks the entitlements that its operation asks for. Generated
// servers call it first of all, so that a request without a key learns nothing else.
func (a *API) authorize(ctx context.Context, r *http.Request, entitlements []string) (context.Context, error) {
	info := infoOf(ctx)
	if info.area.Keyless != nil && info.area.Keyless(info.operation, r) {
		return ctx, ogenerrors.ErrSkipServerSecurity
	}
	principal, err := a.authorized(ctx, r, entitlements)
	info.principal = principal
	if err != nil {
		return ctx, err
	}
	info.authorize = func(ctx context.Context) error {
		now, err := a.authorized(ctx, r, entitlements)
		if err == nil && now.Org != principal.Org {
			return callwright.ErrAuthFailure
		}
		if err == nil {
			info.principal.ExpiresAt = now.ExpiresAt
		}
		return err
	}
	return ctx, nil
}

// authorized returns the principal of a request, and an error when the request must be refused.
func (a *API) authorized(ctx context.Context, r *http.Request, entitlements []string) (callwright.Principal, error) {
	principal, err := a.cfg.Access.Authenticate(r.WithContext(ctx))
	if err != nil {
		return callwright.Principal{}, err
	}
	if err := checkPrincipal(principal); err != nil {
		return callwright.Principal{}, err
	}
	for _, name := range entitlements {
		if !principal.Entitled(callwright.Entitlement(name)) {
			return principal, &callwright.Error{
				Code: callwright.CodeFeatureNotEnabled, Message: name + " is not enabled for this organization",
			}
		}
	}
	return principal, nil
}

// checkPrincipal returns an error without a code for a principal that lacks a field: to serve it would make a tenant without
// a name.
func checkPrincipal(p callwright.Principal) error {
	switch {
	case p.Org == "":
		return errors.New("httpapi: the Principal of Config.Access lacks Org")
	case p.KeyID == "":
		return errors.New("httpapi: the Principal of Config.Access lacks KeyID")
	}
	return nil
}
