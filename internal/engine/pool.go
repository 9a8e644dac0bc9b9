package engine

import (
	"context"
	"sync"
)

// pool divides a number of slots among users. A free slot goes to the waiting user with the fewest slots, and among equals to the user that
// got a slot least recently. So a user without a slot waits until one slot becomes free, however many requests of another user wait.
type pool struct {
	mu     sync.Mutex
	free   int
	users  map[string]*poolUser // users that hold slots or wait
	grants uint64               // number of slots that were granted so far
}

// poolUser is a user of a pool.
type poolUser struct {
	held    int
	waiting []chan struct{} // requests in their order; a channel is closed when its request gets a slot
	last    uint64          // value of grants at the user's last slot
}

func newPool(slots int) *pool { return &pool{free: slots, users: map[string]*poolUser{}} }

// claim waits for a slot of a user. release returns the slot and must be called once. claim returns ctx.Err() if ctx ends first.
func (p *pool) claim(ctx context.Context, name string) (release func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	granted := make(chan struct{})
	p.mu.Lock()
	user := p.users[name]
	if user == nil {
		user = &poolUser{}
		p.users[name] = user
	}
	user.waiting = append(user.waiting, granted)
	p.grant()
	p.mu.Unlock()
	select {
	case <-granted:
		return func() { p.release(name) }, nil
	case <-ctx.Done():
		p.abandon(name, granted)
		return nil, ctx.Err()
	}
}

// release returns a slot of a user.
func (p *pool) release(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.users[name].held--
	p.free++
	p.grant()
	p.deleteIdle(name)
}

// abandon deletes a request that waits, or returns its slot if it got one meanwhile.
func (p *pool) abandon(name string, granted chan struct{}) {
	p.mu.Lock()
	user := p.users[name]
	for i, c := range user.waiting {
		if c == granted {
			user.waiting = append(user.waiting[:i:i], user.waiting[i+1:]...)
			p.deleteIdle(name)
			p.mu.Unlock()
			return
		}
	}
	p.mu.Unlock()
	p.release(name)
}

// grant gives the free slots to waiting users. The caller must hold the lock.
func (p *pool) grant() {
	for p.free > 0 {
		var next *poolUser
		for _, user := range p.users {
			switch {
			case len(user.waiting) == 0:
			case next == nil, user.held < next.held, user.held == next.held && user.last < next.last:
				next = user
			}
		}
		if next == nil {
			return
		}
		close(next.waiting[0])
		next.waiting = next.waiting[1:]
		p.grants++
		p.free--
		next.held, next.last = next.held+1, p.grants
	}
}

// deleteIdle deletes a user that neither holds nor waits for a slot. The caller must hold the lock.
func (p *pool) deleteIdle(name string) {
	if user := p.users[name]; user.held == 0 && len(user.waiting) == 0 {
		delete(p.users, name)
	}
}
