package run

import (
	"context"
	"sync"

	"github.com/callwright/callwright/agenttest/engine"
)

// groupBudgets contains the budgets of the groups that have runs on this node.
//
// The store contains the spending of the ended runs on all nodes; the spending of running ones is counted here. So on one node, a group
// overdraws its budget only by the amount by which calls exceed their reservations. Another node reads the spending only when a run begins
// or ends there, and may meanwhile spend what was left before.
type groupBudgets struct {
	mu   sync.Mutex
	open map[string]*groupBudget // by group id
}

// groupBudget is the budget of a group on this node.
type groupBudget struct {
	budget *engine.Budget // nil if the group has none or it is not loaded yet
	users  int            // number of running runs; guarded by groupBudgets.mu
	ends   sync.Mutex     // held while the budget is loaded or a run ends, so that a run's spending counts once: here or in the stored sum
}

// join returns the budget of a run's group on this node, or a groupBudget without a budget if the group has none. The caller must call
// closeBudget after the run has ended or was released.
func (w *Worker) join(ctx context.Context, r Run) (*groupBudget, error) {
	if r.Batch == "" || r.Budget == (engine.Limit{}) {
		return new(groupBudget), nil
	}
	w.groupBudgets.mu.Lock()
	p := w.groupBudgets.open[r.Batch]
	if p == nil {
		if w.groupBudgets.open == nil {
			w.groupBudgets.open = map[string]*groupBudget{}
		}
		p = new(groupBudget)
		w.groupBudgets.open[r.Batch] = p
	}
	p.users++
	w.groupBudgets.mu.Unlock()
	p.ends.Lock()
	defer p.ends.Unlock()
	if p.budget != nil {
		return p, nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience) // applies to canceled runs too
	defer cancel()
	g, err := w.cfg.Groups.Group(ctx, r.Org, r.Batch)
	if err != nil {
		w.abandon(r, p)
		return new(groupBudget), err
	}
	p.budget = engine.NewBudget(g.Budget, nil)
	p.budget.Account(g.Spend, engine.Spend{})
	return p, nil
}

// closeBudget ends a run's use of its group's budget on this node.
func (w *Worker) closeBudget(r Run, p *groupBudget) {
	if p.budget != nil {
		w.abandon(r, p)
	}
}

func (w *Worker) abandon(r Run, p *groupBudget) {
	w.groupBudgets.mu.Lock()
	defer w.groupBudgets.mu.Unlock()
	if p.users--; p.users == 0 {
		delete(w.groupBudgets.open, r.Batch)
	}
}

// budgetOf returns the budget of one run, which also counts in its group's budget p.
func budgetOf(r Run, p *groupBudget) *engine.Budget {
	if p.budget == nil {
		return engine.NewBudget(r.Budget, nil)
	}
	return engine.NewBudget(engine.Limit{}, p.budget)
}

// giveBack subtracts the spending of an interrupted run from the group's budget on this node, because the run's next attempt counts it
// again, from its journal. If the store does not answer, the spending counts twice on this node until the group's runs here have ended.
func (w *Worker) giveBack(ctx context.Context, r Run, p *groupBudget, spent engine.Spend) {
	if p.budget == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	p.ends.Lock()
	defer p.ends.Unlock()
	if g, err := w.cfg.Groups.Group(ctx, r.Org, r.Batch); err == nil {
		p.budget.Account(g.Spend, spent)
	}
}
