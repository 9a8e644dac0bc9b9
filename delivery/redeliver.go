package delivery

import (
	"errors"
	"net/url"
	"time"

	"github.com/callwright/callwright"
)

// redeliveries are the times of the attempts at a message to a webhook, since the first one failed. After the last one the
// message is given up.
var redeliveries = []time.Duration{
	5 * time.Second, 30 * time.Second, 5 * time.Minute, 30 * time.Minute,
	2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour,
}

// longestRedelay bounds the time by which a webhook may delay the next attempt.
const longestRedelay = time.Hour

// Redeliver returns the wait before the next attempt at a message to a webhook after a number of failures, the last with err. It
// returns false after a permanent refusal (CodeForbidden), and after the last attempt, which takes 24 hours. The RetryAfter of err
// counts up to an hour.
func Redeliver(err error, attempts int) (wait time.Duration, again bool) {
	if errors.Is(err, callwright.ErrForbidden) || attempts > len(redeliveries) {
		return 0, false
	}
	wait = redeliveries[attempts-1]
	if attempts > 1 {
		wait -= redeliveries[attempts-2]
	}
	asked, _ := callwright.RetryAfter(err)
	return max(wait, min(asked, longestRedelay)), true
}

// Attempts returns the number of attempts at a message of an age, for messages without a count of attempts.
func Attempts(age time.Duration) int {
	n := 1
	for n <= len(redeliveries) && age >= redeliveries[n-1] {
		n++
	}
	return n
}

// Redelivery returns the error with which a task sends a message again that is as old as age and was not delivered because of err, by the
// schedule of Redeliver; nil: the message is given up.
func Redelivery(err error, age time.Duration) error {
	wait, again := Redeliver(err, Attempts(age))
	if !again {
		return nil
	}
	return &callwright.Error{Code: callwright.CodeOf(err), Message: callwright.MessageOf(err), RetryAfter: wait}
}

// HostOf returns the part of an address that may be logged. The rest of it may hold secrets.
func HostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Host
}
