package httpapi

import (
	"context"
	"strings"

	"github.com/callwright/callwright"
)

// Authorize checks the key of a request, and the entitlements that its operation asks for. Generated servers call it before
// they look at anything else of the request.
func (a *API) Authorize(ctx context.Context, key string, roles []string) (context.Context, error) {
	principal, err := a.cfg.Access.Authenticate(ctx, bareKey(key))
	if err != nil {
		return ctx, err
	}
	infoOf(ctx).principal = principal
	for _, role := range roles {
		if !principal.Entitled(callwright.Entitlement(role)) {
			return ctx, &callwright.Error{
				Code: callwright.CodeFeatureNotEnabled, Message: role + " is not enabled for this organization",
			}
		}
	}
	return ctx, nil
}

// bareKey is the key of an authorization header: what follows "Bearer", whose case does not matter (RFC 9110, section
// 11.1), or all of it, which is how many clients send it.
func bareKey(header string) string {
	scheme, key, ok := strings.Cut(strings.TrimSpace(header), " ")
	if ok && strings.EqualFold(scheme, "Bearer") {
		return strings.TrimSpace(key)
	}
	return strings.TrimSpace(header)
}
