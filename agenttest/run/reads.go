package run

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/node"
)

// MaxReads is the maximum number of concurrent requests of one kind that read many runs, on one node and for all organizations together.
// Each organization may execute only one of them at any time; further requests wait. Reading statistics of simulation sets and analytics is
// one kind, and rescoring runs is another.
const MaxReads = 2

// readWait is the maximum wait for a read of the same organization, and then for reads of other organizations.
const readWait = 3 * time.Second

// Reads limits the concurrent reads of one kind: see MaxReads. Organizations take turns, regardless of their numbers of requests.
type Reads struct{ own, all node.Budget }

// NewReads returns a Reads for one kind of reads.
func NewReads() *Reads {
	const busy = "too many test runs are being read at once: send the request again later"
	return &Reads{
		own: node.Budget{Total: math.MaxInt64, Share: 1, Wait: readWait, Busy: busy},
		all: node.Budget{Total: MaxReads, Wait: readWait, Busy: busy},
	}
}

// Hold waits until a read may begin. The caller must call release after the read. If the wait is too long, Hold returns CodeTooManyRequests
// with RetryAfter.
func (r *Reads) Hold(ctx context.Context, org callwright.OrgID) (release func(), err error) {
	own, err := r.own.Claim(ctx, string(org), 1)
	if err != nil {
		return nil, tooMany(ctx, err)
	}
	all, err := r.all.Claim(ctx, string(org), 1)
	if err != nil {
		own()
		return nil, tooMany(ctx, err)
	}
	return func() { all(); own() }, nil
}

// tooMany returns the error of a full Budget with CodeTooManyRequests. It returns other errors, and the error of a ctx that is done,
// unchanged.
func tooMany(ctx context.Context, err error) error {
	e, coded := errors.AsType[*callwright.Error](err)
	if !coded || ctx.Err() != nil {
		return err
	}
	full := *e
	full.Code = callwright.CodeTooManyRequests
	return &full
}
