package tornado_test

import (
	"strings"
	"testing"

	"github.com/callwright/callwright/agenttest/tornado"
)

// TestHeldOutScenariosAreHidden checks that a plan that breaks a held-out scenario is rejected, and that the Fixer learns no details of it.
func TestHeldOutScenariosAreHidden(t *testing.T) {
	t.Parallel()
	l := newLab("bad", "good")
	var read []tornado.Rejection
	l.plan = func(_ *lab, b tornado.Brief) (tornado.Plan, error) {
		read = b.Rejected
		if len(read) > 0 {
			return say("good", "n0"), nil
		}
		p := say("good", "n0")
		p.Fixes = append(p.Fixes, say("worse", "n1").Fixes...)
		return p, nil
	}
	p := l.search(t, func(c *tornado.SearchConfig) { c.Scenarios[1].HeldOut = true })
	if p.State != tornado.AllPassed || !strings.Contains(p.Iterations[1].Reason, "s1") {
		t.Errorf("got %+v", p)
	}
	if len(read) != 1 || read[0].Reason != "a scenario that is not shown passed before and fails now" {
		t.Errorf("the Fixer reads %+v", read)
	}
}

func TestBaseThatMoves(t *testing.T) {
	t.Parallel()
	l := newLab("bad")
	l.plan = func(_ *lab, b tornado.Brief) (tornado.Plan, error) {
		l.live = 7
		return mendsOne(l, b)
	}
	if s := l.search(t); !s.BaseMoved || s.State != tornado.AllPassed {
		t.Errorf("got %+v", s)
	}
}
