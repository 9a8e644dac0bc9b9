package run

import (
	"context"
	"sync"

	"github.com/callwright/callwright/agenttest/engine"
)

// purses holds the budgets of the groups of which this node executes runs.
//
// What runs that have ended have spent is in the store, in the sum of all nodes. What the runs under way spend is counted here.
// So on one node a group overdraws its budget by no more than its calls exceed their reservations. Another node learns what was
// spent here when a run ends there, or begins, and may meanwhile spend what was left before.
type purses struct {
	mu   sync.Mutex
	open map[string]*purse // by the id of the group
}

// purse is the budget of a group on this node.
type purse struct {
	budget *engine.Budget // nil: there is none, or not yet
	users  int            // runs that are under way; guarded by purses.mu
	ends   sync.Mutex     // held while the end of one of them is stored, so that it is counted either here or in the sum
}

// join opens the purse of a run's group, which has no budget if the group has none. It is left once, after the end of the run is
// stored.
func (w *Worker) join(ctx context.Context, r Run) (*purse, error) {
	if r.Batch == "" || r.Budget == (engine.Limit{}) {
		return new(purse), nil
	}
	w.purses.mu.Lock()
	p := w.purses.open[r.Batch]
	if p == nil {
		if w.purses.open == nil {
			w.purses.open = map[string]*purse{}
		}
		p = new(purse)
		w.purses.open[r.Batch] = p
	}
	p.users++
	w.purses.mu.Unlock()
	p.ends.Lock()
	defer p.ends.Unlock()
	if p.budget != nil {
		return p, nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience) // also for a run that is cancelled already
	defer cancel()
	g, err := w.cfg.Groups.Group(ctx, r.Org, r.Batch)
	if err != nil {
		w.drop(r, p)
		return new(purse), err
	}
	p.budget = engine.NewBudget(g.Budget, nil)
	p.budget.Account(g.Spend, engine.Spend{})
	return p, nil
}

// leave closes a purse that no other run uses.
func (w *Worker) leave(r Run, p *purse) {
	if p.budget != nil {
		w.drop(r, p)
	}
}

func (w *Worker) drop(r Run, p *purse) {
	w.purses.mu.Lock()
	defer w.purses.mu.Unlock()
	if p.users--; p.users == 0 {
		delete(w.purses.open, r.Batch)
	}
}

// budgetOf returns the budget of one run.
func budgetOf(r Run, p *purse) *engine.Budget {
	if p.budget == nil {
		return engine.NewBudget(r.Budget, nil)
	}
	return engine.NewBudget(engine.Limit{}, p.budget)
}

// giveBack takes what an interrupted run has spent out of a purse: its next attempt counts it again, from its journal. If the
// store does not answer, it counts twice on this node until the group's runs here have ended.
func (w *Worker) giveBack(ctx context.Context, r Run, p *purse, spent engine.Spend) {
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
