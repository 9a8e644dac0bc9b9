package proof_test

import (
	"testing"
	"time"

	"github.com/callwright/callwright/sip/proof"
)

// walk is a proof after a sequence of moves, and the counts of its calls and wrong codes.
type walk struct {
	proof        proof.Proof
	now          time.Time
	calls, wrong int
	trace        string
}

// moves maps the names of events to functions that apply them. They count calls and wrong codes that the proof accepts.
var moves = map[string]func(w *walk){
	"call ": func(w *walk) {
		p, err := w.proof.Call(w.now, "h")
		if err == nil {
			w.calls++
		}
		w.proof = p
	},
	"right ": func(w *walk) { w.proof, _ = w.proof.Answer(w.now, true) },
	"wrong ": func(w *walk) {
		before := w.proof.Tries
		w.proof, _ = w.proof.Answer(w.now, false)
		w.wrong += w.proof.Tries - before
	},
	"fail ":  func(w *walk) { w.proof = w.proof.Fail("busy") },
	"later ": func(w *walk) { w.now = w.now.Add(proof.CodeLife - time.Second) },
}

// TestEveryWay checks the rules of a proof after every sequence of up to eight moves.
func TestEveryWay(t *testing.T) {
	t.Parallel()
	const depth = 8
	seen := map[proof.State]int{}
	var visit func(w walk, left int)
	visit = func(w walk, left int) {
		if left == 0 || t.Failed() {
			return
		}
		for name, move := range moves {
			next := w
			next.trace += name
			move(&next)
			check(t, w, next, name)
			seen[next.proof.At(next.now).State]++
			visit(next, left-1)
		}
	}
	visit(walk{proof: proof.Proof{State: proof.StateWaiting, CreatedAt: start, ExpiresAt: start.Add(proof.CodeLife)}, now: start}, depth)
	for _, s := range []proof.State{proof.StateWaiting, proof.StateCalled, proof.StateProven, proof.StateFailed, proof.StateExpired} {
		if seen[s] == 0 {
			t.Errorf("no way leads to %s", s)
		}
	}
}

// check checks the rules of a proof after a move.
func check(t *testing.T, before, after walk, move string) {
	t.Helper()
	from, to := before.proof.At(after.now).State, after.proof.At(after.now).State
	allowed := from == to
	switch from {
	case proof.StateWaiting:
		allowed = allowed || move == "call " && to == proof.StateCalled || move == "fail " && to == proof.StateFailed
	case proof.StateCalled:
		allowed = allowed || move == "right " && to == proof.StateProven || move == "fail " && to == proof.StateFailed ||
			move == "wrong " && to == proof.StateFailed && after.wrong == proof.MaxTries
	case proof.StateProven, proof.StateFailed: // final until they expire
	case proof.StateExpired: // a failure of the call may be reported late
		allowed = allowed || move == "fail " && to == proof.StateFailed
	}
	switch {
	case !allowed:
		t.Errorf("%s: from %s to %s", after.trace, from, to)
	case after.calls > 1, (after.proof.CalledAt != nil) != (after.calls == 1):
		t.Errorf("%s: called %d times, at %v", after.trace, after.calls, after.proof.CalledAt)
	case after.wrong > proof.MaxTries, after.proof.Tries != after.wrong:
		t.Errorf("%s: %d tries", after.trace, after.wrong)
	case to == proof.StateProven && (after.calls == 0 || after.wrong == proof.MaxTries):
		t.Errorf("%s: proven after %d calls and %d wrong codes", after.trace, after.calls, after.wrong)
	case (after.proof.State == proof.StateFailed) != (after.proof.Reason != ""):
		t.Errorf("%s: %s, for the reason %q", after.trace, to, after.proof.Reason)
	}
}
