package triage

import (
	"context"
	"maps"

	"github.com/callwright/callwright"
)

// Draft describes a new issue.
type Draft struct {
	Title        string   // 1 to 300 characters
	Description  string   // at most MaxDetail characters
	Status       Status   // default StatusBacklog
	Severity     Severity // default SeverityMedium
	Source       Source   // default SourceManual
	Category     string   // at most 200 characters; OwnerID and AssigneeID at most 64
	OwnerID      string
	AssigneeID   string
	ExternalLink string // an http or https URL of at most 2048 characters, or empty
}

// Create creates an issue. Detail of its first entry is the title, and Metadata contains status, severity, source and category.
func (s *Service) Create(ctx context.Context, org callwright.OrgID, by Actor, d Draft) (Issue, error) {
	return s.open(ctx, org, by, d, nil)
}

// open implements Create. The map more holds additional metadata of the first entry.
func (s *Service) open(ctx context.Context, org callwright.OrgID, by Actor, d Draft, more map[string]any) (Issue, error) {
	if err := by.check(); err != nil {
		return Issue{}, err
	}
	i := Issue{
		Org: org, Title: d.Title, Description: d.Description, Status: d.Status, Severity: d.Severity, Source: d.Source,
		Category: d.Category, OwnerID: d.OwnerID, AssigneeID: d.AssigneeID, Author: by, ExternalLink: d.ExternalLink,
		Version: 1, Revision: 1,
	}
	i.setDefaults()
	if err := i.check(); err != nil {
		return Issue{}, err
	}
	first := Entry{Type: TypeCreated, Detail: i.Title, Metadata: map[string]any{
		"status": string(i.Status), "severity": string(i.Severity), "source": string(i.Source), "category": orNull(i.Category),
	}}
	maps.Copy(first.Metadata, more)
	var c *change
	err := s.cfg.Atomic.Do(ctx, func(ctx context.Context) (err error) {
		c = &change{Issue: i, by: by}
		c.Issue.ID = s.cfg.IDs.New()
		if c.Issue.Number, err = s.cfg.Store.NextNumber(ctx, org); err != nil {
			return err
		}
		c.addEntry(first)
		c.Issue.CreatedAt = s.stamp(c)
		c.Issue.UpdatedAt = c.Issue.CreatedAt
		if err := s.cfg.Store.InsertIssue(ctx, c.Issue); err != nil {
			return err
		}
		return s.publish(ctx, c)
	})
	if err != nil {
		return Issue{}, err
	}
	return c.Issue, nil
}

func (i *Issue) setDefaults() {
	if i.Status == "" {
		i.Status = StatusBacklog
	}
	if i.Severity == "" {
		i.Severity = SeverityMedium
	}
	if i.Source == "" {
		i.Source = SourceManual
	}
}

// check refuses an issue with an invalid field.
func (i Issue) check() error {
	if err := requireText("title", i.Title, maxTitle); err != nil {
		return err
	}
	if err := checkText("description", i.Description, MaxDetail); err != nil {
		return err
	}
	if err := checkOneOf("status", i.Status, Statuses()...); err != nil {
		return err
	}
	if err := checkOneOf("severity", i.Severity, Severities()...); err != nil {
		return err
	}
	if err := checkOneOf("source", i.Source, SourceManual, SourceAutomated, SourceClient); err != nil {
		return err
	}
	if err := checkText("category", i.Category, maxName); err != nil {
		return err
	}
	if err := checkText("owner_id", i.OwnerID, maxID); err != nil {
		return err
	}
	if err := checkText("assignee_id", i.AssigneeID, maxID); err != nil {
		return err
	}
	if i.ExternalLink == "" {
		return nil
	}
	return checkLink("external_link", i.ExternalLink)
}

// orNull returns a text for metadata, or nil for an empty one.
func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// Get returns an issue, or CodeNotFound if it is absent.
func (s *Service) Get(ctx context.Context, org callwright.OrgID, id string) (Issue, error) {
	return s.cfg.Store.Issue(ctx, org, id)
}

// idOf returns the id of the issue that a readable name such as "T-1001" names, or CodeNotFound if no issue has the name. It returns any
// other text unchanged, as an id.
func (s *Service) idOf(ctx context.Context, org callwright.OrgID, text string) (string, error) {
	number, ok := parseName(text)
	if !ok {
		return text, nil
	}
	i, err := s.cfg.Store.IssueNumbered(ctx, org, number)
	return i.ID, err
}
