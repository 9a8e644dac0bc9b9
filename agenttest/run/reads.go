package run

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/node"
)

// MaxReads is the maximum number of concurrent requests of a kind that read many runs, on a node, of all organizations. An
// organization has one at a time. Further requests wait. Statistics of simulation sets and analytics are one kind; scoring runs
// again is another.
const MaxReads = 2

// readWait bounds the wait for reads of the same organization, and then the wait for others.
const readWait = 3 * time.Second

// Reads bounds the concurrent reads of a kind: see MaxReads. Organizations take turns regardless of their numbers of requests.
type Reads struct{ own, all node.Budget }

// NewReads returns a bound of a kind of reads.
func NewReads() *Reads {
	const busy = "too many test runs are being read at once: send the request again later"
	return &Reads{
		own: node.Budget{Total: math.MaxInt64, Share: 1, Wait: readWait, Busy: busy},
		all: node.Budget{Total: MaxReads, Wait: readWait, Busy: busy},
	}
}

// Hold waits until a read may begin. CodeTooManyRequests, with RetryAfter: the wait was too long.
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

// tooMany returns the error of a full Budget with the code of a reached limit.
func tooMany(ctx context.Context, err error) error {
	e, coded := errors.AsType[*callwright.Error](err)
	if !coded || ctx.Err() != nil {
		return err
	}
	full := *e
	full.Code = callwright.CodeTooManyRequests
	return &full
}
