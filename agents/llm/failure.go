package llm

import (
	"errors"
	"time"
)

// Class classifies a failure by the reaction that it requires.
type Class string

// The classes of failures.
const (
	ClassTransient   Class = "transient"    // retry immediately or soon
	ClassRateLimited Class = "rate_limited" // retry after RetryAfter
	ClassQuota       Class = "quota"        // the account's quota is used up
	ClassPermanent   Class = "permanent"    // the request or the credentials are wrong
	ClassTooLong     Class = "too_long"     // the conversation does not fit the model's context
	ClassUnsupported Class = "unsupported"  // the substitute for a model cannot perform the task
	ClassInvalid     Class = "invalid"      // all attempts had invalid answers
)

// Failure is the error of a model. Its message is human-readable, not empty, and contains no key and no prompt. RetryAfter is 0 if the
// service does not state one. A failure of ClassTransient without a Cause is an answer that cannot be used: see IsOutage.
type Failure struct {
	Class      Class
	Message    string
	RetryAfter time.Duration
	Cause      error
}

// Error returns the class and the message.
func (f *Failure) Error() string { return "llm: " + string(f.Class) + ": " + f.Message }

// Unwrap returns the cause, which may be nil.
func (f *Failure) Unwrap() error { return f.Cause }

// ClassOf returns the class of the Failure in err's chain. For any other error it returns ClassTransient.
func ClassOf(err error) Class {
	if f, ok := errors.AsType[*Failure](err); ok {
		return f.Class
	}
	return ClassTransient
}

// reasons maps classes to human-readable reasons.
var reasons = map[Class]string{
	ClassTransient:   "the language model did not answer",
	ClassRateLimited: "the language model limits the rate of requests",
	ClassQuota:       "the quota of the account with the language model is used up",
	ClassPermanent:   "the language model refuses the key or the request",
	ClassTooLong:     "the conversation is too long for the language model",
	ClassUnsupported: "this server has no language model that can do this",
	ClassInvalid:     "the language model gave no usable answer",
}

// IsOutage reports whether a failure says that the model's service does not work at present: it limits the rate of requests, or a transient
// failure has a cause, such as a refused connection. Other requests then probably fail, too. An answer that cannot be used is a transient
// failure without a cause, and says nothing about other requests. An error that is no *Failure is an outage.
func IsOutage(err error) bool {
	f, ok := errors.AsType[*Failure](err)
	return err != nil && (!ok || f.Class == ClassRateLimited || f.Class == ClassTransient && f.Cause != nil)
}

// Reason returns a short human-readable reason for a model's failure, according to the class of the error. It never contains a text of the
// model's service.
func Reason(err error) string { return reasons[ClassOf(err)] }

// longestWait bounds the wait before a retry, because a caller on the telephone cannot wait longer.
const longestWait = 2 * time.Second

// Again reports whether a request can be retried, and returns the wait before the retry: 0 after a transient failure, and RetryAfter after
// a rate limit. An error that is no *Failure counts as transient. Again reports false for a RetryAfter of more than 2 seconds, for failures
// of other classes, and for nil.
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
