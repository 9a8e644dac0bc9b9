package triage

import (
	"context"
	"errors"
	"slices"

	"github.com/callwright/callwright"
)

// Limits of reports.
const (
	maxKey      = 300 // length of a key, in characters
	maxReported = 50  // reports add no resource to an issue with this many
)

// Report describes a problem that a program found. Reports with the same key belong to one issue while that issue is open.
type Report struct {
	Key       string // identifies the problem; 1 to 300 characters
	Title     string // Title, Detail, Severity and Category are for a new issue: see Draft
	Detail    string // description of a new issue
	Severity  Severity
	Category  string
	Resources []ResourceDraft // occurrences, for example the failed call; at most 50
}

// Report creates an issue for a new key, with "key" in the Metadata of its first entry. If the key has an open issue, Report attaches the
// resources to that issue until it has 50 resources. If the key's issue is done or closed, Report creates another issue and relates the
// two. The exception is a report with calls, runs or port requests that are all attached to the ended issue: it repeats an earlier report,
// and changes nothing. Concurrent reports of a new key create one issue.
//
// Report uses its own transactions to retry conflicts, so it must not be called in a transaction.
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

// report attempts Report once. It returns CodeConflict if the key's issue was changed or deleted meanwhile.
func (s *Service) report(ctx context.Context, org callwright.OrgID, by Actor, r Report) (Issue, error) {
	known, err := s.cfg.Store.ReportedIssue(ctx, org, r.Key)
	if errors.Is(err, callwright.ErrNotFound) {
		return s.openReported(ctx, org, by, r, "")
	}
	if err != nil {
		return Issue{}, err
	}
	var told bool // the report belongs to this issue
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

// unlessDeleted returns err if an issue exists, and CodeConflict if it was deleted.
func (s *Service) unlessDeleted(ctx context.Context, org callwright.OrgID, id string, err error) error {
	if _, getErr := s.cfg.Store.Issue(ctx, org, id); errors.Is(getErr, callwright.ErrNotFound) {
		return errKeyFreed
	}
	return err
}

// errKeyFreed reports that the issue of a report's key was deleted, so that the next attempt finds no issue.
var errKeyFreed = callwright.Errorf(callwright.CodeConflict, "the issue of the key was deleted meanwhile")

// openReported creates an issue for a report and points the key at it. earlier is the id of the key's ended issue, or empty.
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
	s.watchers.Wake(ids...) // changeAll woke them before the transaction was committed
	return i, nil
}

// stillEnded locks an issue until the transaction ends. It returns CodeConflict if the issue was opened again or deleted.
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

// attachReported attaches the resources of a report until the issue has maxReported resources.
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

// hasReported reports whether the calls, runs and port requests of a report are all attached to an issue. It reports false if the report
// has none of these, because it may then be another occurrence of the problem.
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

// relateReported relates a new issue to the earlier one, unless the earlier one has MaxRelations relations.
func (s *Service) relateReported(ctx context.Context, c, earlier *change) error {
	if earlier.Issue.Relations >= MaxRelations {
		return nil
	}
	_, _, err := s.relate(ctx, c, earlier, RelatedTo)
	return err
}
