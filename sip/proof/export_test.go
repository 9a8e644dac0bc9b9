package proof

import "time"

// Call exports Proof.call; Answer and Fail export the other transitions of a proof.
func (p Proof) Call(now time.Time, hash string) (Proof, error)  { return p.call(now, hash) }
func (p Proof) Answer(now time.Time, right bool) (Proof, error) { return p.answer(now, right) }
func (p Proof) Fail(reason string) Proof                        { return p.fail(reason) }
