package page

import (
	"context"
	"sync"
	"time"

	"github.com/callwright/callwright"
)

// Limits of concurrent work.
const (
	maxPages    = 64              // pages of areas that are rendered concurrently
	maxOwnPages = 16              // additional pages of this package, such as the sign-in page
	maxOrgPages = 16              // concurrent requests per organization, including the upload of a form and the sending of a page
	maxWait     = 5 * time.Second // maximum wait for a free slot
)

// room limits concurrent requests, so that neither unknown clients nor a single organization can block the other users.
type room struct {
	pages chan struct{} // holds a value for each page of an area that is being rendered
	own   chan struct{} // the same for pages of this package, which need no session

	mu   sync.Mutex
	orgs map[callwright.OrgID]*orgRoom
}

// orgRoom limits the requests of one organization.
type orgRoom struct {
	places chan struct{}
	users  int // requests that hold a slot or wait for one
}

func newRoom() *room {
	return &room{pages: make(chan struct{}, maxPages), own: make(chan struct{}, maxOwnPages), orgs: map[callwright.OrgID]*orgRoom{}}
}

var errFull = &callwright.Error{Code: callwright.CodeUnavailable, Message: "too many pages are being loaded at once: try again", RetryAfter: maxWait}

// claim claims a slot and returns a function that releases it and may be called repeatedly. It returns errFull if no slot is free within
// maxWait, or if ctx ends first.
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

// enter claims a slot for rendering a page of an area. If the area is nil, it claims a slot for a page of this package.
func (r *room) enter(ctx context.Context, of *Area) (leave func(), err error) {
	if of == nil {
		return claim(ctx, r.own)
	}
	return claim(ctx, r.pages)
}

// enterOrg claims a slot for a request of an organization.
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
