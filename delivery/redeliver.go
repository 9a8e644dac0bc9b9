package delivery

import (
	"errors"
	"net/url"
	"time"

	"github.com/callwright/callwright"
)

// redeliveries are the ages at which a message is attempted again after its first attempt. After the last attempt the message is given up.
var redeliveries = []time.Duration{
	5 * time.Second, 30 * time.Second, 5 * time.Minute, 30 * time.Minute,
	2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour,
}

// longestRedelay limits the delay that a webhook may request with RetryAfter.
const longestRedelay = time.Hour

// Redeliver returns the wait before the next attempt at a message to a webhook. attempts is the number of failed attempts, at least 1, and
// err is the last failure. again is false after a permanent refusal (CodeForbidden), and after the last attempt, at an age of 24 hours. If
// err contains a RetryAfter, the wait is at least this long, but the RetryAfter counts for at most an hour.
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

// Attempts returns how many attempts are scheduled up to the given age of a message. It serves messages whose attempts are not counted.
func Attempts(age time.Duration) int {
	n := 1
	for n <= len(redeliveries) && age >= redeliveries[n-1] {
		n++
	}
	return n
}

// Redelivery returns the error with which a task retries a message of the given age after the failure err, by the schedule of Redeliver. It
// returns nil if the message is given up.
func Redelivery(err error, age time.Duration) error {
	wait, again := Redeliver(err, Attempts(age))
	if !again {
		return nil
	}
	return &callwright.Error{Code: callwright.CodeOf(err), Message: callwright.MessageOf(err), RetryAfter: wait}
}

// HostOf returns the host and port of a URL, or "" if the URL is invalid. Only this part may be logged, because the rest may contain
// secrets.
func HostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Host
}
