package codec

import (
	"context"

	"github.com/ogen-go/ogen/middleware"
	"github.com/ogen-go/ogen/openapi"
)

// Handle runs an operation inside the middleware m, or directly if m is nil. The operation receives the arguments of the request that the
// middleware passes on.
func Handle[R any](m middleware.Middleware, request middleware.Request, unpack func(middleware.Parameters) struct{}, operation func(context.Context) (R, error)) (R, error) {
	return HandleBodyParams(m, request, unpack, func(ctx context.Context, _, _ struct{}) (R, error) { return operation(ctx) })
}

// HandleParams is like Handle, for an operation with parameters.
func HandleParams[P, R any](m middleware.Middleware, request middleware.Request, unpack func(middleware.Parameters) P,
	operation func(context.Context, P) (R, error),
) (R, error) {
	return HandleBodyParams(m, request, unpack, func(ctx context.Context, _ struct{}, params P) (R, error) { return operation(ctx, params) })
}

// HandleBody is like Handle, for an operation with a body.
func HandleBody[B, R any](m middleware.Middleware, request middleware.Request, unpack func(middleware.Parameters) struct{},
	operation func(context.Context, B) (R, error),
) (R, error) {
	return HandleBodyParams(m, request, unpack, func(ctx context.Context, body B, _ struct{}) (R, error) { return operation(ctx, body) })
}

// HandleBodyParams is like Handle, for an operation with a body and parameters.
func HandleBodyParams[B, P, R any](m middleware.Middleware, request middleware.Request, unpack func(middleware.Parameters) P,
	operation func(context.Context, B, P) (R, error),
) (R, error) {
	if m == nil {
		m = func(request middleware.Request, next middleware.Next) (middleware.Response, error) {
			return next(request)
		}
	}
	return middleware.HookMiddleware(m, request, unpack, operation)
}

// Unpack sets a parameter to its value in the request that middleware passes on. It panics if middleware has deleted a required parameter.
func Unpack[T any](parameters middleware.Parameters, name string, in openapi.ParameterLocation, required bool, to *T) {
	if value, ok := parameters[middleware.ParameterKey{Name: name, In: in}]; ok || required {
		*to = value.(T) //nolint:forcetypeassert // the value was of this type
	}
}
