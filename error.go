package callwright

import (
	"errors"
	"fmt"
	"time"
)

// Code is an error code from a closed list. Clients branch on codes, which are part of the public contract, so no code is
// ever renamed.
type Code string

// The error codes. A transport translates each into one of its statuses.
const (
	CodeAuthFailure         Code = "AUTH_FAILURE"          // no key, or an unknown, expired or revoked one
	CodeFeatureNotEnabled   Code = "FEATURE_NOT_ENABLED"   // the organization lacks the entitlement
	CodeForbidden           Code = "FORBIDDEN"             // known, but not allowed to this caller
	CodeBadRequest          Code = "BAD_REQUEST"           // the input is invalid; Field names the invalid part
	CodeNotFound            Code = "NOT_FOUND"             // absent, or another organization's, without distinction
	CodeConflict            Code = "CONFLICT"              // the name or key exists, or a concurrent change was first
	CodeInvalidState        Code = "INVALID_STATE"         // the object's state does not allow the operation
	CodeIdempotencyConflict Code = "IDEMPOTENCY_CONFLICT"  // the same idempotency key with another body
	CodeDiscoveryInProgress Code = "DISCOVERY_IN_PROGRESS" // the organization's one discovery still runs
	CodePromotionGateFailed Code = "PROMOTION_GATE_FAILED" // a test that the version must pass has not passed; Batch names the batch
	CodeCallNotAttached     Code = "CALL_NOT_ATTACHED"     // a call must be attached to an issue before it is flagged there
	CodeMethodNotAllowed    Code = "METHOD_NOT_ALLOWED"    // HTTP only: the path accepts other methods
	CodePayloadTooLarge     Code = "PAYLOAD_TOO_LARGE"     // the body is over its limit
	CodeUnsupportedMedia    Code = "UNSUPPORTED_MEDIA"     // the file's type is not accepted
	CodeTooManyRequests     Code = "TOO_MANY_REQUESTS"     // a limit is reached; see RetryAfter
	CodeNotImplemented      Code = "NOT_IMPLEMENTED"       // the operation is in the contract, but not in this build
	CodeUnavailable         Code = "SERVICE_UNAVAILABLE"   // a needed part is missing, draining or down
	CodeInternal            Code = "INTERNAL_SERVER_ERROR" // anything uncoded
)

// Error is the only type of error that domains return. Message is written for the caller and contains no internals. The cause,
// which Unwrap returns, is for the log.
type Error struct {
	Code       Code
	Message    string
	Field      string        // path of the invalid input, for example "directions[0].type"; empty: no single input
	RetryAfter time.Duration // with CodeTooManyRequests and CodeUnavailable: wait before a retry; 0: unknown
	Batch      string        // with CodePromotionGateFailed: id of the batch of tests; empty: none
	cause      error
}

// Sentinels for errors.Is, one for each code. Errors compare by code alone.
var (
	ErrAuthFailure         = &Error{Code: CodeAuthFailure, Message: "Unauthorized"}
	ErrFeatureNotEnabled   = &Error{Code: CodeFeatureNotEnabled, Message: "this feature is not enabled for the organization"}
	ErrForbidden           = &Error{Code: CodeForbidden, Message: "not allowed"}
	ErrBadRequest          = &Error{Code: CodeBadRequest, Message: "bad request"}
	ErrNotFound            = &Error{Code: CodeNotFound, Message: "not found"}
	ErrConflict            = &Error{Code: CodeConflict, Message: "conflict"}
	ErrInvalidState        = &Error{Code: CodeInvalidState, Message: "the current state does not allow this"}
	ErrIdempotencyConflict = &Error{Code: CodeIdempotencyConflict, Message: "this idempotency key was used with another body"}
	ErrDiscoveryInProgress = &Error{Code: CodeDiscoveryInProgress, Message: "a discovery of this organization is still running"}
	ErrPromotionGateFailed = &Error{Code: CodePromotionGateFailed, Message: "the tests that are required for promotion have not passed"}
	ErrCallNotAttached     = &Error{Code: CodeCallNotAttached, Message: "the call is not attached to the issue"}
	ErrMethodNotAllowed    = &Error{Code: CodeMethodNotAllowed, Message: "this method is not allowed"}
	ErrPayloadTooLarge     = &Error{Code: CodePayloadTooLarge, Message: "the body is too large"}
	ErrUnsupportedMedia    = &Error{Code: CodeUnsupportedMedia, Message: "this type of file is not accepted"}
	ErrTooManyRequests     = &Error{Code: CodeTooManyRequests, Message: "too many requests"}
	ErrNotImplemented      = &Error{Code: CodeNotImplemented, Message: "this operation is not implemented yet"}
	ErrUnavailable         = &Error{Code: CodeUnavailable, Message: "the service is not available"}
	ErrInternal            = &Error{Code: CodeInternal, Message: "internal error"}
)

// Errorf returns an error of a code with a formatted message. The argument of %w becomes the cause.
func Errorf(code Code, format string, args ...any) *Error {
	wrapped := fmt.Errorf(format, args...)
	return &Error{Code: code, Message: wrapped.Error(), cause: errors.Unwrap(wrapped)}
}

// Invalid returns a CodeBadRequest about one field of the input.
func Invalid(field, format string, args ...any) *Error {
	return &Error{Code: CodeBadRequest, Field: field, Message: fmt.Sprintf(format, args...)}
}

// NotFound returns a CodeNotFound for an object of a kind, for example "call", that is absent or another organization's.
func NotFound(kind string) *Error {
	return &Error{Code: CodeNotFound, Message: kind + " not found"}
}

// Because returns a copy of the error with a cause. The message stays the same.
func (e *Error) Because(cause error) *Error {
	c := *e
	c.cause = cause
	return &c
}

// Error returns the message, after the field, if any.
func (e *Error) Error() string {
	if e.Field != "" {
		return e.Field + ": " + e.Message
	}
	return e.Message
}

// Unwrap returns the cause, which is for logs only.
func (e *Error) Unwrap() error { return e.cause }

// Is reports whether target has the same code, so that errors.Is(err, ErrNotFound) holds for every error of that code.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Code == e.Code
}

// CodeOf returns the code of the first *Error in err's chain: CodeInternal without one, empty for nil.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return CodeInternal
}

// RetryAfter returns the wait before a retry; the bool is false if err has none.
func RetryAfter(err error) (time.Duration, bool) {
	e, ok := errors.AsType[*Error](err)
	if !ok || e.RetryAfter <= 0 {
		return 0, false
	}
	return e.RetryAfter, true
}

// InField sets the field of an *Error without a field. It returns any other error unchanged.
func InField(field string, err error) error {
	e, ok := errors.AsType[*Error](err)
	if !ok || e.Field != "" {
		return err
	}
	named := *e
	named.Field = field
	return &named
}

// IgnoreNotFound returns nil for ErrNotFound, and any other error unchanged.
func IgnoreNotFound(err error) error {
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
}

// MessageOf returns the public text of an error: the message of an *Error, without its field, and a general text for any other
// error.
func MessageOf(err error) string {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Message
	}
	return ErrInternal.Message
}
