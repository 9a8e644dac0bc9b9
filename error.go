package callwright

import (
	"errors"
	"fmt"
	"time"
)

// Code is an error code from a closed list. Clients branch on codes, which are part of the public contract, so no code is
// ever renamed.
type Code string

// The error codes. A transport translates each code into a status of its protocol.
const (
	CodeAuthFailure         Code = "AUTH_FAILURE"          // the key is missing, unknown, expired or revoked
	CodeFeatureNotEnabled   Code = "FEATURE_NOT_ENABLED"   // the organization lacks the entitlement
	CodeForbidden           Code = "FORBIDDEN"             // the client is authenticated, but not allowed to do this; or another system refuses a message permanently
	CodeBadRequest          Code = "BAD_REQUEST"           // the input is invalid; Field names the invalid part
	CodeNotFound            Code = "NOT_FOUND"             // the object is absent or belongs to another organization
	CodeConflict            Code = "CONFLICT"              // the name or key exists, or another writer changed the data first
	CodeInvalidState        Code = "INVALID_STATE"         // the object's state does not allow the operation
	CodeIdempotencyConflict Code = "IDEMPOTENCY_CONFLICT"  // the idempotency key was used with another body
	CodeDiscoveryInProgress Code = "DISCOVERY_IN_PROGRESS" // a discovery of the organization is still running
	CodePromotionGateFailed Code = "PROMOTION_GATE_FAILED" // a test that the version requires has not passed; see Batch
	CodeCallNotAttached     Code = "CALL_NOT_ATTACHED"     // a call must be attached to an issue before it is flagged there
	CodeMethodNotAllowed    Code = "METHOD_NOT_ALLOWED"    // HTTP only: the path does not allow this method
	CodePayloadTooLarge     Code = "PAYLOAD_TOO_LARGE"     // the body exceeds its size limit
	CodeUnsupportedMedia    Code = "UNSUPPORTED_MEDIA"     // the file's type is not accepted
	CodeTooManyRequests     Code = "TOO_MANY_REQUESTS"     // a limit is reached; see RetryAfter
	CodeNotImplemented      Code = "NOT_IMPLEMENTED"       // the operation is in the contract, but not in this build
	CodeUnavailable         Code = "SERVICE_UNAVAILABLE"   // a required component is missing, draining or down
	CodeInternal            Code = "INTERNAL_SERVER_ERROR" // any error without a code
)

// Error is the domains' type of errors with a Code. They return it alone or in FieldErrors. Message is written for the client and contains
// no internals. The cause, which Unwrap returns, is for the log.
type Error struct {
	Code       Code
	Message    string
	Field      string        // path of the invalid input, for example "directions[0].type"; empty if no single input is at fault
	RetryAfter time.Duration // with CodeTooManyRequests and CodeUnavailable: time to wait before a retry; 0 if unknown
	Batch      string        // with CodePromotionGateFailed: id of the batch of tests; otherwise empty
	cause      error
}

// Sentinels for errors.Is, one for each code. Errors compare by code alone.
var (
	ErrAuthFailure         = &Error{Code: CodeAuthFailure, Message: "Unauthorized"}
	ErrFeatureNotEnabled   = &Error{Code: CodeFeatureNotEnabled, Message: "this feature is not enabled for the organization"}
	ErrForbidden           = &Error{Code: CodeForbidden, Message: "not allowed"}
	ErrBadRequest          = &Error{Code: CodeBadRequest, Message: "bad request"}
	ErrNotFound            = &Error{Code: CodeNotFound, Message: "not found"}
	ErrConflict            = &Error{Code: CodeConflict, Message: "the object already exists, or another request has changed it: read it again, then retry"}
	ErrInvalidState        = &Error{Code: CodeInvalidState, Message: "the current state does not allow this"}
	ErrIdempotencyConflict = &Error{Code: CodeIdempotencyConflict, Message: "this idempotency key was used with another body"}
	ErrDiscoveryInProgress = &Error{Code: CodeDiscoveryInProgress, Message: "a discovery of this organization is still running"}
	ErrPromotionGateFailed = &Error{Code: CodePromotionGateFailed, Message: "the tests that are required for promotion have not passed"}
	ErrCallNotAttached     = &Error{Code: CodeCallNotAttached, Message: "the call is not attached to the issue"}
	ErrMethodNotAllowed    = &Error{Code: CodeMethodNotAllowed, Message: "this method is not allowed"}
	ErrPayloadTooLarge     = &Error{Code: CodePayloadTooLarge, Message: "the body is too large"}
	ErrUnsupportedMedia    = &Error{Code: CodeUnsupportedMedia, Message: "this type of file is not accepted"}
	ErrTooManyRequests     = &Error{Code: CodeTooManyRequests, Message: "too many requests: try again later"}
	ErrNotImplemented      = &Error{Code: CodeNotImplemented, Message: "this operation is not implemented yet"}
	ErrUnavailable         = &Error{Code: CodeUnavailable, Message: "the service is not available: try again later"}
	ErrInternal            = &Error{Code: CodeInternal, Message: "internal error"}
)

// Errorf returns an Error with the given code and a formatted message. The argument of %w becomes the cause.
func Errorf(code Code, format string, args ...any) *Error {
	wrapped := fmt.Errorf(format, args...)
	return &Error{Code: code, Message: wrapped.Error(), cause: errors.Unwrap(wrapped)}
}

// Invalid returns a CodeBadRequest error for the named field of the input.
func Invalid(field, format string, args ...any) *Error {
	return &Error{Code: CodeBadRequest, Field: field, Message: fmt.Sprintf(format, args...)}
}

// NotFound returns a CodeNotFound error for an absent object, or an object of another organization. kind names the object in the message,
// for example "call".
func NotFound(kind string) *Error {
	return &Error{Code: CodeNotFound, Message: kind + " not found"}
}

// Because returns a copy of e with the given cause. The message stays the same.
func (e *Error) Because(cause error) *Error {
	c := *e
	c.cause = cause
	return &c
}

// Error returns the message. If Field is set, the message follows the field and a colon.
func (e *Error) Error() string {
	if e.Field != "" {
		return e.Field + ": " + e.Message
	}
	return e.Message
}

// Unwrap returns the cause, which is for logs only.
func (e *Error) Unwrap() error { return e.cause }

// Is reports whether target is an *Error with the same code, so that errors.Is(err, ErrNotFound) holds for every error with CodeNotFound.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Code == e.Code
}

// CodeOf returns the code of the first *Error in err's chain. It returns CodeInternal if the chain contains no *Error, and an empty code if
// err is nil.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return CodeInternal
}

// RetryAfter returns the time to wait before a retry, and false if err states no such time.
func RetryAfter(err error) (time.Duration, bool) {
	e, ok := errors.AsType[*Error](err)
	if !ok || e.RetryAfter <= 0 {
		return 0, false
	}
	return e.RetryAfter, true
}

// InField returns a copy of the first *Error in err's chain with the given field, if that error does not name a field yet. It returns any
// other error unchanged.
func InField(field string, err error) error {
	e, ok := errors.AsType[*Error](err)
	if !ok || e.Field != "" {
		return err
	}
	named := *e
	named.Field = field
	return &named
}

// IgnoreNotFound returns nil if errors.Is(err, ErrNotFound), and otherwise err.
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
