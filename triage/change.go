package triage

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/callwright/callwright"
)

// change collects the changes of one issue in a transaction.
type change struct {
	Issue   Issue // may be changed, except the author's fields
	by      Actor
	edited  bool // a field that people edit has changed
	entries []Entry
}

// addEntry adds an entry about the issue. Its kind and a missing actor are set here, its time and a missing id when it is
// written.
func (c *change) addEntry(e Entry) {
	e.Kind = KindIssue
	if e.Session != nil {
		e.Kind = KindAgent
	}
	if e.Actor == (Actor{}) {
		e.Actor = c.by
	}
	c.entries = append(c.entries, e)
}

// change runs do on an issue and writes the entries that it adds, in one transaction that holds the issue. It returns
// the changed issue and the entries. do may run twice.
func (s *Service) change(
	ctx context.Context, org callwright.OrgID, by Actor, id string, do func(ctx context.Context, c *change) error,
) (Issue, []Entry, error) {
	all, err := s.changeAll(ctx, org, by, []string{id}, func(ctx context.Context, all []*change) error {
		return do(ctx, all[0])
	})
	if err != nil {
		return Issue{}, nil, err
	}
	return all[0].Issue, all[0].entries, nil
}

// edit runs change on an issue that was not merged into another; a merged one is CodeInvalidState.
func (s *Service) edit(
	ctx context.Context, org callwright.OrgID, by Actor, id string, do func(ctx context.Context, c *change) error,
) (Issue, []Entry, error) {
	return s.change(ctx, org, by, id, func(ctx context.Context, c *change) error {
		if err := c.Issue.unmerged(); err != nil {
			return err
		}
		return do(ctx, c)
	})
}

// unmerged returns CodeInvalidState for a merged issue.
func (i Issue) unmerged() error {
	if i.MergedInto != "" {
		return callwright.Errorf(callwright.CodeInvalidState, "%s was merged into another issue: %s", i.Name(), i.MergedInto)
	}
	return nil
}

// changeAll runs change on several distinct issues. do receives them in the order of ids.
func (s *Service) changeAll(
	ctx context.Context, org callwright.OrgID, by Actor, ids []string, do func(ctx context.Context, all []*change) error,
) ([]*change, error) {
	if err := by.check(); err != nil {
		return nil, err
	}
	var all []*change
	err := s.cfg.Atomic.Do(ctx, func(ctx context.Context) (err error) {
		if all, err = s.hold(ctx, org, by, ids); err != nil {
			return err
		}
		if slices.Contains(all, nil) {
			return callwright.NotFound("issue")
		}
		if err := do(ctx, all); err != nil {
			return err
		}
		for _, c := range all {
			if err := s.write(ctx, c); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	s.watchers.Wake(ids...)
	return all, nil
}

// hold locks issues until the transaction of ctx ends and returns them in the order of ids, nil for absent ones.
func (s *Service) hold(ctx context.Context, org callwright.OrgID, by Actor, ids []string) ([]*change, error) {
	all := make([]*change, len(ids))
	for _, id := range slices.Sorted(slices.Values(ids)) { // always in the same order, which prevents deadlocks
		i, err := s.cfg.Store.Hold(ctx, org, id)
		switch {
		case err == nil:
			all[slices.Index(ids, id)] = &change{Issue: i, by: by}
		case !errors.Is(err, callwright.ErrNotFound):
			return nil, err
		}
	}
	return all, nil
}

// write stores a changed issue with its entries, unless it is unchanged.
func (s *Service) write(ctx context.Context, c *change) error {
	if !c.edited && len(c.entries) == 0 {
		return nil
	}
	now := s.stamp(c)
	if c.edited {
		c.Issue.UpdatedAt = now
		c.Issue.Version++
	}
	if err := s.cfg.Store.UpdateIssue(ctx, c.Issue); err != nil {
		return err
	}
	c.Issue.Revision++
	return s.publish(ctx, c)
}

// stamp sets the times of entries, each later than the previous one, regardless of differences between nodes' clocks. It returns
// the time of the change.
func (s *Service) stamp(c *change) time.Time {
	now := s.cfg.Clock.Now()
	for i := range c.entries {
		if !now.After(c.Issue.LastActivityAt) {
			now = c.Issue.LastActivityAt.Add(time.Microsecond)
		}
		e := &c.entries[i]
		if e.ID == "" { // a comment has the id of its entry
			e.ID = s.cfg.IDs.New()
		}
		e.Org, e.IssueID, e.CreatedAt = c.Issue.Org, c.Issue.ID, now
		c.Issue.LastActivityAt = now
	}
	return now
}

// publish writes the entries. Their author has seen them.
func (s *Service) publish(ctx context.Context, c *change) error {
	if len(c.entries) == 0 {
		return nil
	}
	if err := s.cfg.Store.AppendEntries(ctx, c.Issue.Org, c.Issue.ID, c.entries); err != nil {
		return err
	}
	if c.by.Kind != ActorUser {
		return nil
	}
	return s.cfg.Store.MarkSeen(ctx, c.Issue.Org, c.by.ID, c.Issue.ID, c.Issue.LastActivityAt)
}
