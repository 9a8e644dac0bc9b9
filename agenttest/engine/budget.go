package engine

import "sync"

// Budget bounds the tokens of one run or of many. It is safe for concurrent use.
//
// Tokens are reserved before a model is called, and settled when it has answered, so calls side by side cannot spend the same
// tokens. A call whose tokens a model does not count is settled with its estimate. Nothing is ever refused after it was paid:
// the last call may use more than was reserved for it.
type Budget struct {
	mu             sync.Mutex
	limit          int
	used, reserved int
	parent         *Budget
}

// NewBudget returns a budget of so many tokens, which also count in the parent; nil: there is none.
func NewBudget(tokens int, parent *Budget) *Budget { return &Budget{limit: tokens, parent: parent} }

// Used returns the tokens that were used.
func (b *Budget) Used() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used
}

// reserve sets tokens aside, and reports whether there are as many.
func (b *Budget) reserve(tokens int) bool {
	if b == nil {
		return true
	}
	if !b.parent.reserve(tokens) {
		return false
	}
	b.mu.Lock()
	ok := b.used+b.reserved+tokens <= b.limit
	if ok {
		b.reserved += tokens
	}
	b.mu.Unlock()
	if !ok {
		b.parent.settle(tokens, 0)
	}
	return ok
}

// settle counts tokens that were used in the place of those that were reserved.
func (b *Budget) settle(reserved, used int) {
	for ; b != nil; b = b.parent {
		b.mu.Lock()
		b.reserved -= reserved
		b.used += used
		b.mu.Unlock()
	}
}
