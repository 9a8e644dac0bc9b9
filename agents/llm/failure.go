package llm

import (
	"errors"
	"time"
)

// Class is the class of a failure, which determines the reaction.
type Class string

// The classes of failures.
const (
	ClassTransient   Class = "transient"    // try again immediately or soon
	ClassRateLimited Class = "rate_limited" // try again after RetryAfter
	ClassQuota       Class = "quota"        // the account has no quota left
	ClassPermanent   Class = "permanent"    // the request or the credentials are wrong
	ClassTooLong     Class = "too_long"     // the conversation does not fit the model's context
	ClassUnsupported Class = "unsupported"  // a substitute for a model cannot do the task
	ClassInvalid     Class = "invalid"      // the answer is invalid, after all attempts
)

// Failure is a failure of a model. Its message is human-readable, not empty, and contains no key and no prompt.
type Failure struct {
	Class      Class
	Message    string
	RetryAfter time.Duration
	Cause      error
}

// Error returns the message with its class.
func (f *Failure) Error() string { return "llm: " + string(f.Class) + ": " + f.Message }

// Unwrap returns the cause.
func (f *Failure) Unwrap() error { return f.Cause }

// ClassOf returns the class of the Failure in err's chain. Any other error is transient.
func ClassOf(err error) Class {
	if f, ok := errors.AsType[*Failure](err); ok {
		return f.Class
	}
	return ClassTransient
}

// reasons maps classes to human-readable reasons.
var reasons = map[Class]string{
	ClassTransient:   "the language model did not answer",
	ClassRateLimited: "the language model is asked too often",
	ClassQuota:       "the account with the language model is used up",
	ClassPermanent:   "the language model refuses the key or the request",
	ClassTooLong:     "the conversation is too long for the language model",
	ClassUnsupported: "there is no language model, and the rules do not say what to do",
	ClassInvalid:     "the language model gave no answer that could be used",
}

// Reason returns a short reason for a model's failure, by the class of the error. It never contains the service's text.
func Reason(err error) string { return reasons[ClassOf(err)] }

// longestWait bounds the wait before another attempt. A caller on the telephone cannot wait longer.
const longestWait = 2 * time.Second

// Again reports whether to retry, and the wait before: none after a transient failure, and RetryAfter after a rate limit, if that
// is at most 2 seconds.
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
