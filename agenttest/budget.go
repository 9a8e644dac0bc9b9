package agenttest

import (
	"context"
	"sync"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agenttest/engine"
)

// The limits of a start.
const (
	MaxTokens      = 1_000_000_000 // of a budget
	MaxCost        = 1_000_000     // of a budget, in the currency of engine.Config.Pricer
	MaxConcurrency = 32            // concurrent runs of a group
)

// CheckBudget returns CodeBadRequest for a budget that cannot be enforced.
func (s *Service) CheckBudget(l engine.Limit) error {
	switch {
	case l.Tokens < 0 || l.Tokens > MaxTokens:
		return callwright.Invalid("budget.tokens", "must be from 1 to %d", MaxTokens)
	case l.Cost < 0 || l.Cost.Amount() > MaxCost:
		return callwright.Invalid("budget.cost", "must be more than 0 and at most %d", MaxCost)
	case l.Cost > 0 && !s.cfg.Engine.Prices():
		return callwright.Invalid("budget.cost",
			"cannot be used: this program does not know what its models cost; use budget.tokens")
	}
	return nil
}

// checkConcurrency refuses a concurrency that is not allowed for a group.
func checkConcurrency(n int) error {
	if n < 0 || n > MaxConcurrency {
		return callwright.Invalid("concurrency", "must be from 1 to %d", MaxConcurrency)
	}
	return nil
}

// purses holds the budgets of groups with runs on this node.
//
// The store holds the spending of ended runs on all nodes; the spending of running ones is counted here. So on one node a group
// overdraws its budget only by the excess of its calls over their reservations. Another node reads the spending when a run begins
// or ends there, and may meanwhile spend the former rest.
type purses struct {
	mu   sync.Mutex
	open map[string]*purse // by the id of the group
}

// purse is the budget of a group on this node.
type purse struct {
	budget *engine.Budget // nil: none, or not yet
	users  int            // running runs; guarded by purses.mu
	ends   sync.Mutex     // held while a run's end is stored, so that it is counted either here or in the sum
}

// join opens the purse of a run's group, without a budget if the group has none. Each join needs one leave, after the end of the
// run is stored.
func (s *Service) join(ctx context.Context, r Run) (*purse, error) {
	if r.Batch == "" || r.Budget == (engine.Limit{}) {
		return new(purse), nil
	}
	s.purses.mu.Lock()
	p := s.purses.open[r.Batch]
	if p == nil {
		if s.purses.open == nil {
			s.purses.open = map[string]*purse{}
		}
		p = new(purse)
		s.purses.open[r.Batch] = p
	}
	p.users++
	s.purses.mu.Unlock()
	p.ends.Lock()
	defer p.ends.Unlock()
	if p.budget != nil {
		return p, nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience) // even for a cancelled run
	defer cancel()
	b, err := s.cfg.Store.Batch(ctx, r.Org, r.Batch)
	if err != nil {
		s.drop(r, p)
		return new(purse), err
	}
	p.budget = engine.NewBudget(b.Budget, nil)
	p.budget.Account(b.Spend, engine.Spend{})
	return p, nil
}

// leave closes a purse that no other run uses.
func (s *Service) leave(r Run, p *purse) {
	if p.budget != nil {
		s.drop(r, p)
	}
}

func (s *Service) drop(r Run, p *purse) {
	s.purses.mu.Lock()
	defer s.purses.mu.Unlock()
	if p.users--; p.users == 0 {
		delete(s.purses.open, r.Batch)
	}
}

// budgetOf returns the budget of one run.
func budgetOf(r Run, p *purse) *engine.Budget {
	if p.budget == nil {
		return engine.NewBudget(r.Budget, nil)
	}
	return engine.NewBudget(engine.Limit{}, p.budget)
}

// giveBack subtracts the spending of an interrupted run from a purse, because its next attempt counts it again, from its journal.
// If the store does not answer, it counts twice on this node until the group's runs here have ended.
func (s *Service) giveBack(ctx context.Context, r Run, p *purse, spent engine.Spend) {
	if p.budget == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	p.ends.Lock()
	defer p.ends.Unlock()
	if b, err := s.cfg.Store.Batch(ctx, r.Org, r.Batch); err == nil {
		p.budget.Account(b.Spend, spent)
	}
}
