package page

import (
	"context"
	"sync"
	"time"

	"github.com/callwright/callwright"
)

// Limits of concurrent work.
const (
	maxPages    = 64              // that are rendered concurrently; others wait
	maxOwnPages = 16              // such as the sign-in, beside them
	maxOrgPages = 16              // requests of one organization, from the reading of a form until its page is taken; others wait
	maxWait     = 5 * time.Second // for a place
)

// room bounds the requests that are answered concurrently, so that neither strangers nor one organization keep others from their pages.
type room struct {
	pages chan struct{} // holds a value for each page that is being made
	own   chan struct{} // and for each of this package's own, which are for strangers, too

	mu   sync.Mutex
	orgs map[callwright.OrgID]*orgRoom
}

// orgRoom is the share of an organization.
type orgRoom struct {
	places chan struct{}
	users  int // requests that hold a place or wait for one
}

func newRoom() *room {
	return &room{pages: make(chan struct{}, maxPages), own: make(chan struct{}, maxOwnPages), orgs: map[callwright.OrgID]*orgRoom{}}
}

var errFull = &callwright.Error{Code: callwright.CodeUnavailable, Message: "too many pages are being made: try again", RetryAfter: maxWait}

// claim puts a value into a channel within maxWait, and returns a function that takes it out again, once.
func claim(ctx context.Context, places chan struct{}) (leave func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, maxWait)
	defer cancel()
	select {
	case places <- struct{}{}:
		return sync.OnceFunc(func() { <-places }), nil
	case <-ctx.Done():
		return nil, errFull
	}
}

// enter takes a place to make a page of an area in; nil: one of this package.
func (r *room) enter(ctx context.Context, of *Area) (leave func(), err error) {
	if of == nil {
		return claim(ctx, r.own)
	}
	return claim(ctx, r.pages)
}

// enterOrg takes a place in the share of an organization.
func (r *room) enterOrg(ctx context.Context, org callwright.OrgID) (leave func(), err error) {
	r.mu.Lock()
	share, ok := r.orgs[org]
	if !ok {
		share = &orgRoom{places: make(chan struct{}, maxOrgPages)}
		r.orgs[org] = share
	}
	share.users++
	r.mu.Unlock()
	forget := func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if share.users--; share.users == 0 {
			delete(r.orgs, org)
		}
	}
	give, err := claim(ctx, share.places)
	if err != nil {
		forget()
		return nil, err
	}
	return sync.OnceFunc(func() { give(); forget() }), nil
}
