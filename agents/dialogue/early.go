package dialogue

// EarlyBudget decides whether an agent can afford further early answers: see conversation.Turn.Early. Their cost is the model calls of those
// that are withdrawn. While this cost exceeds an average of 0.5 calls per turn, Allows returns false, so that an agent with one model call
// per answer makes about 1.5 calls per turn at most. The zero value is the budget of a conversation that has not begun. It is plain data.
type EarlyBudget struct {
	turns int // answered turns
	extra int // model calls of withdrawn answers
}

// Allows reports whether the next answer may be early.
func (b *EarlyBudget) Allows() bool { return 2*b.extra <= b.turns }

// Count counts an answered turn, or the model calls of a withdrawn one.
func (b *EarlyBudget) Count(withdrawn bool, calls int) {
	if withdrawn {
		b.extra += calls
	} else {
		b.turns++
	}
}
