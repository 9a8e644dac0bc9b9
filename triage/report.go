package triage

import (
	"context"
	"errors"
	"slices"

	"github.com/callwright/callwright"
)

// The limits of reports.
const (
	maxKey      = 300 // characters
	maxReported = 50  // resources of an issue beyond which reports add none
)

// Report describes a problem that a program found. Reports with equal keys belong to one issue while it is open.
type Report struct {
	Key       string // identifies this problem, 1 to 300 characters
	Title     string // this and the next fields are for a new issue: see Draft
	Detail    string // its description
	Severity  Severity
	Category  string
	Resources []ResourceDraft // occurrences, for example the failed call, at most 50
}

// Report opens an issue, with Metadata "key" in its first entry, or attaches the report's resources to the open issue
// of its key, up to 50 of them. When that issue is done or closed, Report opens another one and relates the two. A
// report whose calls, runs and port requests are attached to the ended issue was reported before and changes nothing. Concurrent
// reports of a new key open one issue.
//
// Report runs its own transactions to retry conflicts, so it must not be called in one.
func (s *Service) Report(ctx context.Context, org callwright.OrgID, by Actor, r Report) (Issue, error) {
	if err := requireText("key", r.Key, maxKey); err != nil {
		return Issue{}, err
	}
	if len(r.Resources) > maxReported {
		return Issue{}, callwright.Invalid("resources", "has %d resources; at most %d are allowed", len(r.Resources), maxReported)
	}
	var i Issue
	err := callwright.Retry(ctx, func(ctx context.Context) (err error) {
		i, err = s.report(ctx, org, by, r)
		return err
	})
	return i, err
}

// report is one attempt of Report; CodeConflict when the key's issue was changed or deleted meanwhile.
func (s *Service) report(ctx context.Context, org callwright.OrgID, by Actor, r Report) (Issue, error) {
	known, err := s.cfg.Store.ReportedIssue(ctx, org, r.Key)
	if errors.Is(err, callwright.ErrNotFound) {
		return s.openReported(ctx, org, by, r, "")
	}
	if err != nil {
		return Issue{}, err
	}
	var told bool // reported here, now or before
	i, _, err := s.change(ctx, org, by, known, func(ctx context.Context, c *change) (err error) {
		if c.Issue.Status.Open() {
			told = true
			return s.attachReported(ctx, c, r.Resources)
		}
		told, err = s.hasReported(ctx, c.Issue, r.Resources)
		return err
	})
	if errors.Is(err, callwright.ErrNotFound) {
		return i, s.unlessDeleted(ctx, org, known, err)
	}
	if err != nil || told {
		return i, err
	}
	return s.openReported(ctx, org, by, r, known)
}

// unlessDeleted returns err while an issue exists, and CodeConflict when it was deleted.
func (s *Service) unlessDeleted(ctx context.Context, org callwright.OrgID, id string, err error) error {
	if _, getErr := s.cfg.Store.Issue(ctx, org, id); errors.Is(getErr, callwright.ErrNotFound) {
		return errKeyFreed
	}
	return err
}

// errKeyFreed reports that the issue of a report's key was deleted: the next attempt finds no issue.
var errKeyFreed = callwright.Errorf(callwright.CodeConflict, "the issue of the key was deleted meanwhile")

// openReported opens an issue for a report, in place of an earlier one that is no longer open, if any.
func (s *Service) openReported(
	ctx context.Context, org callwright.OrgID, by Actor, r Report, earlier string,
) (i Issue, err error) {
	var ids []string
	err = s.cfg.Atomic.Do(ctx, func(ctx context.Context) error {
		if earlier != "" {
			if err := s.stillEnded(ctx, org, earlier); err != nil {
				return err
			}
		}
		i, err = s.open(ctx, org, by, Draft{
			Title: r.Title, Description: r.Detail, Severity: r.Severity, Source: SourceAutomated, Category: r.Category,
		}, map[string]any{"key": r.Key})
		if err != nil {
			return err
		}
		if err := s.cfg.Store.PointReports(ctx, org, r.Key, earlier, i.ID); err != nil {
			return err
		}
		ids = slices.DeleteFunc([]string{i.ID, earlier}, func(id string) bool { return id == "" })
		all, err := s.changeAll(ctx, org, by, ids, func(ctx context.Context, all []*change) error {
			if err := s.attachReported(ctx, all[0], r.Resources); err != nil || earlier == "" {
				return err
			}
			return s.relateReported(ctx, all[0], all[1])
		})
		if err != nil {
			return err
		}
		i = all[0].Issue
		return nil
	})
	if err != nil {
		return Issue{}, err
	}
	s.watchers.Wake(ids...) // wake again: at the first time, the transaction had not ended
	return i, nil
}

// stillEnded holds an issue until the transaction ends; CodeConflict when it was opened again or deleted.
func (s *Service) stillEnded(ctx context.Context, org callwright.OrgID, id string) error {
	i, err := s.cfg.Store.Hold(ctx, org, id)
	if err == nil && i.Status.Open() {
		err = callwright.Errorf(callwright.CodeConflict, "%s was opened again meanwhile", i.Name())
	}
	if errors.Is(err, callwright.ErrNotFound) {
		return errKeyFreed
	}
	return err
}

// attachReported attaches the resources of a report, up to maxReported.
func (s *Service) attachReported(ctx context.Context, c *change, resources []ResourceDraft) error {
	for _, d := range resources {
		if c.Issue.Resources >= maxReported {
			return nil
		}
		if _, _, err := s.attach(ctx, c, d); err != nil {
			return err
		}
	}
	return nil
}

// hasReported reports whether the calls, runs and port requests of a report are attached to an issue. A report without any may be
// another occurrence of the same problem.
func (s *Service) hasReported(ctx context.Context, i Issue, resources []ResourceDraft) (told bool, err error) {
	for _, d := range resources {
		if err := d.check(); err != nil {
			return false, err
		}
		if d.Type != ResourceCall && d.Type != ResourceRun && d.Type != ResourcePort {
			continue
		}
		told = true
		_, err := s.cfg.Store.ResourceOf(ctx, i.Org, i.ID, d.Type, d.ResourceID)
		if errors.Is(err, callwright.ErrNotFound) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
	}
	return told, nil
}

// relateReported relates an issue to its successor, if the successor has room for a relation.
func (s *Service) relateReported(ctx context.Context, c, earlier *change) error {
	if earlier.Issue.Relations >= MaxRelations {
		return nil
	}
	_, _, err := s.relate(ctx, c, earlier, RelatedTo)
	return err
}
