package llm

import (
	"errors"
	"time"
)

// Class says what may be done about a failure.
type Class string

// The classes of failures.
const (
	ClassTransient   Class = "transient"    // try again at once or soon
	ClassRateLimited Class = "rate_limited" // try again after RetryAfter
	ClassQuota       Class = "quota"        // the account is used up: trying again is useless until someone pays
	ClassPermanent   Class = "permanent"    // the request or the credentials are wrong
	ClassTooLong     Class = "too_long"     // the conversation does not fit the model's context
	ClassUnsupported Class = "unsupported"  // this stand-in can't do the task, and says so instead of making it up
	ClassInvalid     Class = "invalid"      // the answer is not what was asked for, also after trying again
)

// Failure is a model's failure. The message is for people and holds no key and no prompt.
type Failure struct {
	Class      Class
	Message    string
	RetryAfter time.Duration
	Cause      error
}

// Error is the message with its class.
func (f *Failure) Error() string { return "llm: " + string(f.Class) + ": " + f.Message }

// Unwrap gives the cause.
func (f *Failure) Unwrap() error { return f.Cause }

// ClassOf is the class of a failure in err's chain; any other error is transient.
func ClassOf(err error) Class {
	if f, ok := errors.AsType[*Failure](err); ok {
		return f.Class
	}
	return ClassTransient
}

// longestWait is how long somebody on the telephone can wait for a service to take the next request.
const longestWait = 2 * time.Second

// Again says whether it makes sense to try once more, and how long to wait before: at once after a transient failure,
// RetryAfter after a rate limit, when that is no longer than 2 seconds.
func Again(err error) (wait time.Duration, again bool) {
	if err == nil {
		return 0, false
	}
	switch ClassOf(err) {
	case ClassTransient:
		return 0, true
	case ClassRateLimited:
		f, ok := errors.AsType[*Failure](err)
		return f.RetryAfter, ok && f.RetryAfter <= longestWait
	default:
		return 0, false
	}
}
