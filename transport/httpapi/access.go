package httpapi

import (
	"context"
	"strings"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/transport/oas"
)

// HandleApiKey checks the key of a request, and the entitlements that its operation asks for. It runs before anything
// else of the request is looked at.
func (a *api) HandleApiKey(
	ctx context.Context, _ oas.OperationName, given oas.ApiKey,
) (context.Context, error) {
	principal, err := a.Access.Authenticate(ctx, bareKey(given.APIKey))
	if err != nil {
		return ctx, err
	}
	exchangeOf(ctx).principal = principal
	for _, role := range given.Roles {
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
