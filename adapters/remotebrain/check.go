package remotebrain

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/callwright/callwright"
)

// CheckConfig configures Check. The Senders sign for the organization Org.
type CheckConfig struct {
	Sender Sender `required:"always"` // signs with the secret that the service knows
	URL    string `required:"always"`

	Forged Sender // signs with another secret; if nil, the duties about signatures are not checked
	Old    Sender // signs with the secret that the service knows, and a time of an hour ago; required with Forged
	Org    callwright.OrgID

	callwright.Runtime
}

// Duty is the result of one duty of a service. docs/brains.md describes the duties by their names.
type Duty struct {
	Name   string
	Result Result
	Detail string // what the service did, if the duty does not hold; or why it was not checked
}

// Result is the result of a check.
type Result string

// The results of a check.
const (
	Holds     Result = "holds"
	Broken    Result = "broken"
	Unchecked Result = "unchecked"
)

// errUnchecked is the error of a duty that cannot be checked.
var errUnchecked = errors.New("not checked")

// unchecked returns an error for a duty that cannot be checked, with the reason.
func unchecked(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{errUnchecked}, args...)...)
}

// dutyTime bounds the check of one duty.
const dutyTime = time.Minute

// Check tests a service duty by duty, in the order of docs/brains.md, and returns a Duty for each. It holds conversations of its own with
// the service, whose ids begin with "check-". It returns an error if the configuration is invalid, or ctx ends.
func Check(ctx context.Context, c CheckConfig) ([]Duty, error) {
	if err := callwright.PrepareConfig(&c); err != nil {
		return nil, err
	}
	k := &checker{cfg: c}
	var all []Duty
	for _, d := range duties {
		all = append(all, k.check(ctx, d))
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	return all, nil
}

// check checks one duty.
func (k *checker) check(ctx context.Context, d duty) Duty {
	ctx, cancel := context.WithTimeout(ctx, dutyTime)
	defer cancel()
	err := d.check(k, ctx)
	out := Duty{Name: d.name, Result: Holds}
	switch {
	case errors.Is(err, errUnchecked):
		out.Result, out.Detail = Unchecked, err.Error()[len(errUnchecked.Error()+": "):]
	case err != nil:
		out.Result, out.Detail = Broken, err.Error()
	}
	return out
}
