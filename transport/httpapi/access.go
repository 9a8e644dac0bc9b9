package httpapi

import (
	"context"
	"errors"
	"net/http"

	"github.com/ogen-go/ogen/ogenerrors"

	"github.com/callwright/callwright"
)

// Authenticator finds the principal of a request by its credentials. The credentials may be a key in a header, as in package access, or the
// cookie of a session, for a program whose pages call the API.
//
// A browser also sends a cookie with requests that other sites cause. An Authenticator that reads a cookie must therefore refuse requests
// from other sites' pages (CSRF). It sets the cookie with SameSite=Lax or Strict, Secure and HttpOnly. It refuses any method but GET and
// HEAD whose Sec-Fetch-Site is neither same-origin nor none, as http.CrossOriginProtection does. A key in a header needs none of this,
// because browsers do not add it by themselves.
type Authenticator interface {
	// Authenticate returns the principal of a request. The API calls it before any other check of the request. It must not read the body.
	// The API may call it again while the request is answered: if it then returns an error, a stream is closed.
	//
	// The Principal must set Org and KeyID. If one of them is empty, the API answers 500 and logs which is missing. Authenticate returns
	// CodeAuthFailure (401) for a request without a known principal, CodeForbidden (403) for a request that this principal may not make,
	// and CodeUnavailable (503) if its store is unavailable. An error without a code becomes 500 and is logged.
	Authenticate(r *http.Request) (callwright.Principal, error)
}

// authorize authenticates a request, and checks the entitlements that its operation requires. It does neither for a request that
// Area.Keyless exempts. Generated servers call it before anything else, so that a request without a valid key learns nothing else.
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

// authorized returns the principal of a request. It returns an error if the principal is unknown, incomplete, or lacks one of the
// entitlements.
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
				Code: callwright.CodeFeatureNotEnabled, Message: name + " is not enabled for this organization: ask the operator to enable it",
			}
		}
	}
	return principal, nil
}

// checkPrincipal returns an error without a code for a principal without Org or KeyID. Serving it would create a tenant without a name.
func checkPrincipal(p callwright.Principal) error {
	switch {
	case p.Org == "":
		return errors.New("httpapi: the Principal of Config.Access lacks Org")
	case p.KeyID == "":
		return errors.New("httpapi: the Principal of Config.Access lacks KeyID")
	}
	return nil
}
