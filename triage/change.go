package triage

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/callwright/callwright"
)

// change collects the changes of an issue in a transaction.
type change struct {
	Issue   Issue // the function do may change all but the author
	by      Actor
	edited  bool // an editable field has changed, which increases Version
	entries []Entry
}

// addEntry adds an entry to the feed of the issue. It sets the kind and, if missing, the actor. The time and a missing id are set when the
// entry is written.
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

// change locks an issue, calls the function do, and stores the changed issue and the new entries, all in one transaction. It returns the
// issue and the entries. The transaction may be retried, so the function may be called twice.
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

// edit is like change, but returns CodeInvalidState for an issue that was merged into another.
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

// unmerged returns CodeInvalidState if the issue was merged into another.
func (i Issue) unmerged() error {
	if i.MergedInto != "" {
		return callwright.Errorf(callwright.CodeInvalidState, "%s was merged into another issue: %s", i.Name(), i.MergedInto)
	}
	return nil
}

// changeAll is like change for several distinct issues. The function do receives the issues in the order of ids. If an issue is absent,
// changeAll returns CodeNotFound.
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

// hold locks issues until the transaction of ctx ends. It returns them in the order of ids, with nil for absent ones.
func (s *Service) hold(ctx context.Context, org callwright.OrgID, by Actor, ids []string) ([]*change, error) {
	all := make([]*change, len(ids))
	for _, id := range slices.Sorted(slices.Values(ids)) { // a fixed order prevents deadlocks
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

// write stores a changed issue and its new entries. It does nothing if no editable field has changed and no entry was added.
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

// stamp sets the times of the new entries. Each is later than the previous one, even if the clocks of nodes differ. It returns the time of
// the change.
func (s *Service) stamp(c *change) time.Time {
	now := s.cfg.Clock.Now()
	for i := range c.entries {
		if !now.After(c.Issue.LastActivityAt) {
			now = c.Issue.LastActivityAt.Add(time.Microsecond)
		}
		e := &c.entries[i]
		if e.ID == "" { // a comment sets the id of its entry
			e.ID = s.cfg.IDs.New()
		}
		e.Org, e.IssueID, e.CreatedAt = c.Issue.Org, c.Issue.ID, now
		c.Issue.LastActivityAt = now
	}
	return now
}

// publish appends the new entries to the feed. If a user made the change, publish also marks the feed as seen by that user.
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
