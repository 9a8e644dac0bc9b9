package run

import (
	"context"
	"sync"

	"github.com/callwright/callwright/agenttest/engine"
)

// groupBudgets holds the budgets of groups with runs on this node.
//
// The store holds the spending of ended runs on all nodes; the spending of running ones is counted here. So on one node a group
// overdraws its budget only by the excess of its calls over their reservations. Another node reads the spending when a run begins
// or ends there, and may meanwhile spend the former rest.
type groupBudgets struct {
	mu   sync.Mutex
	open map[string]*groupBudget // by the id of the group
}

// groupBudget is the budget of a group on this node.
type groupBudget struct {
	budget *engine.Budget // nil: none, or not yet
	users  int            // running runs; guarded by purses.mu
	ends   sync.Mutex     // held while a run's end is stored, so that it is counted either here or in the sum
}

// join opens the purse of a run's group, without a budget if the group has none. Each join needs one leave, after the end of the
// run is stored.
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
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience) // even for a cancelled run
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

// closeBudget closes a purse that no other run uses.
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

// budgetOf returns the budget of one run.
func budgetOf(r Run, p *groupBudget) *engine.Budget {
	if p.budget == nil {
		return engine.NewBudget(r.Budget, nil)
	}
	return engine.NewBudget(engine.Limit{}, p.budget)
}

// giveBack subtracts the spending of an interrupted run from a purse, because its next attempt counts it again, from its journal.
// If the store does not answer, it counts twice on this node until the group's runs here have ended.
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
