package codec

import (
	"context"

	"github.com/ogen-go/ogen/middleware"
	"github.com/ogen-go/ogen/openapi"
)

// Handle runs an operation behind middleware, if there is any. The request that the middleware passes on contains the operation's
// arguments.
func Handle[R any](m middleware.Middleware, request middleware.Request, unpack func(middleware.Parameters) struct{}, operation func(context.Context) (R, error)) (R, error) {
	return HandleBodyParams(m, request, unpack, func(ctx context.Context, _, _ struct{}) (R, error) { return operation(ctx) })
}

// HandleParams is Handle for an operation with parameters.
func HandleParams[P, R any](m middleware.Middleware, request middleware.Request, unpack func(middleware.Parameters) P,
	operation func(context.Context, P) (R, error),
) (R, error) {
	return HandleBodyParams(m, request, unpack, func(ctx context.Context, _ struct{}, params P) (R, error) { return operation(ctx, params) })
}

// HandleBody is Handle for an operation with a body.
func HandleBody[B, R any](m middleware.Middleware, request middleware.Request, unpack func(middleware.Parameters) struct{},
	operation func(context.Context, B) (R, error),
) (R, error) {
	return HandleBodyParams(m, request, unpack, func(ctx context.Context, body B, _ struct{}) (R, error) { return operation(ctx, body) })
}

// HandleBodyParams is Handle for an operation with a body and parameters.
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

// Unpack sets a parameter from the parameters of a request behind middleware. A required parameter that middleware has deleted is a
// fault of the program: it panics.
func Unpack[T any](parameters middleware.Parameters, name string, in openapi.ParameterLocation, required bool, to *T) {
	if value, ok := parameters[middleware.ParameterKey{Name: name, In: in}]; ok || required {
		*to = value.(T) //nolint:forcetypeassert // the value was of this type
	}
}
