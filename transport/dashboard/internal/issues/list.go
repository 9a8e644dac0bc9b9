package issues

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/transport/dashboard/internal/page"
	"github.com/callwright/callwright/triage"
)

// pageSize is the maximum number of issues on a page.
const pageSize = 50

// ranges maps the values of the query parameter date_range to durations.
var ranges = map[string]time.Duration{
	"24h": 24 * time.Hour, "7d": 7 * 24 * time.Hour, "30d": 30 * 24 * time.Hour, "90d": 90 * 24 * time.Hour,
}

// list contains the data of the list page.
type list struct {
	Issues   []triage.Issue
	Unread   map[string]bool
	Names    map[string]string // names of assignees, by id
	People   []Person          // possible assignees; if nil, the user types an id
	Next     string            // path of the next page; empty on the last page
	Short    bool              // the page is not full, because the scan reached its limit
	Views    []savedView
	Filter   triage.Query
	Range    string
	Filtered bool
	Sorts    map[string]page.Sort // by field
	Faults   page.Faults          // faults of the filters

	Statuses   []triage.Status
	Severities []triage.Severity
	Types      []triage.ResourceType
}

// savedView is a link to a list with predefined filters.
type savedView struct {
	Title, Query string
	Current      bool
}

// types lists the resource types that a user can attach or filter by.
func types() []triage.ResourceType {
	return []triage.ResourceType{triage.ResourceCall, triage.ResourceRun, triage.ResourcePathway, triage.ResourcePort}
}

func (p pages) list(ctx context.Context, r *page.Request) (page.Answer, error) {
	q, err := p.query(r)
	var found triage.IssuePage
	if err == nil {
		found, err = p.cfg.Issues.List(ctx, r.Org(), q)
	}
	l := list{
		Issues: found.Items, Views: views(r), Filter: q, Range: r.Query("date_range"), Filtered: r.URL.RawQuery != "",
		Sorts: map[string]page.Sort{}, Statuses: triage.Statuses(), Severities: triage.Severities(), Types: types(),
	}
	var failure error
	if l.People, failure = p.people(ctx, r); failure != nil {
		return nil, failure
	}
	if faults, ok := filterFaults(err); ok {
		l.Faults = faults
		return &page.View{Page: "list", Title: "Issues", Status: http.StatusUnprocessableEntity, Data: l}, nil
	}
	if err != nil {
		return nil, err
	}
	if l.Unread, err = p.cfg.Issues.Unread(ctx, r.Org(), r.Principal.KeyID, found.Items); err != nil {
		return nil, err
	}
	assignees := make([]string, len(found.Items))
	for n, i := range found.Items {
		assignees[n] = i.AssigneeID
	}
	if l.Names, err = p.names(ctx, r, assignees); err != nil {
		return nil, err
	}
	if found.Next != "" {
		l.Next, l.Short = r.With("cursor", found.Next), len(found.Items) < pageSize
	}
	for _, by := range []triage.SortField{triage.SortStatus, triage.SortSeverity, triage.SortCreated, triage.SortActivity} {
		l.Sorts[string(by)] = r.Sort(string(by), q.Sort == by || q.Sort == "" && by == triage.SortActivity, q.Ascending)
	}
	return &page.View{Page: "list", Title: "Issues", Data: l}, nil
}

// filterFaults converts an error to faults of the filters. It reports false if the error is not a fault of a field in filterFields.
func filterFaults(err error) (page.Faults, bool) {
	faults, ok := page.FaultsOf(err, nil)
	for field, text := range faults {
		name, _, _ := strings.Cut(field, "[") // such as category[0]
		faults, ok = page.Faults{name: text}, slices.Contains(filterFields, name)
	}
	return faults, ok
}

// filterFields lists the fields of the form above the list. The empty name represents the whole form.
var filterFields = []string{
	"", "search", "status", "severity", "resource_type", "assignee_id", "owner_id", "category", "date_range", "date_field",
}

// query converts the query parameters to a triage.Query. An unknown date_range causes CodeBadRequest. Package triage checks the other
// filters.
func (p pages) query(r *page.Request) (triage.Query, error) {
	q := triage.Query{Cursor: r.Query("cursor"), Filter: triage.Filter{
		Statuses: values[triage.Status](r, "status"), Severities: values[triage.Severity](r, "severity"),
		Categories: values[string](r, "category"), Resource: triage.ResourceType(r.Query("resource_type")),
		OwnerID: r.Query("owner_id"), AssigneeID: r.Query("assignee_id"), Unassigned: r.Query("unassigned") == "true", Search: r.Query("search"),
		DateField: triage.SortField(r.Query("date_field")), Sort: triage.SortField(r.Query("sort")), Ascending: r.Query("order") == "asc",
		Limit: pageSize, Scan: triage.MaxScan,
	}}
	if name := r.Query("date_range"); name != "" {
		within, ok := ranges[name]
		if !ok {
			return q, callwright.Invalid("date_range", "must be 24h, 7d, 30d or 90d")
		}
		q.Since = p.cfg.Clock.Now().Add(-within)
	}
	return q, nil
}

// values returns the values of a query parameter, which may be repeated or separated by commas. It omits empty values.
func values[T ~string](r *page.Request, name string) (all []T) {
	for _, text := range r.URL.Query()[name] {
		for v := range strings.SplitSeq(text, ",") {
			if v = strings.TrimSpace(v); v != "" {
				all = append(all, T(v))
			}
		}
	}
	return all
}

// views returns the saved views. Each is a query string, so that users can bookmark and share it.
func views(r *page.Request) []savedView {
	open := join(slices.DeleteFunc(triage.Statuses(), func(s triage.Status) bool { return !s.Open() }))
	all := []savedView{
		{Title: "All"},
		{Title: "Open", Query: url.Values{"status": {open}}.Encode()},
		{Title: "Mine", Query: url.Values{"status": {open}, "assignee_id": {r.Principal.KeyID}}.Encode()},
		{Title: "Unassigned", Query: url.Values{"status": {open}, "unassigned": {"true"}}.Encode()},
		{Title: "New", Query: url.Values{"status": {"backlog"}, "sort": {"created_at"}}.Encode()},
		{Title: "Urgent", Query: url.Values{"status": {open}, "severity": {"critical,high"}, "sort": {"severity"}}.Encode()},
		{Title: "In review", Query: url.Values{"status": {"in_review"}}.Encode()},
		{Title: "About tests", Query: url.Values{"resource_type": {"run"}}.Encode()},
		{Title: "About ports", Query: url.Values{"resource_type": {"port_request"}}.Encode()},
	}
	q := r.URL.Query()
	q.Del("cursor")
	for n := range all {
		all[n].Current = all[n].Query == q.Encode()
		all[n].Query = "?" + all[n].Query
	}
	return all
}

// form contains the data of the page that opens or edits an issue.
type form struct {
	Issue      *triage.Issue // the edited issue; nil for a new one
	Draft      triage.Draft
	Version    int64
	Faults     page.Faults
	Statuses   []triage.Status
	Severities []triage.Severity
	People     []Person          // possible assignees; if nil, the user types ids
	Names      map[string]string // names of the assignee and the owner, by id

	Conflict    bool         // the issue was changed after the form was opened
	Differences []difference // changes that saving the form would make after a conflict
}

// form returns the page that opens or edits an issue, with the given status code.
func (p pages) form(ctx context.Context, r *page.Request, f form, code int) (page.Answer, error) {
	title := "New issue"
	if f.Issue != nil {
		title = "Edit " + f.Issue.Name()
	}
	f.Statuses, f.Severities = triage.Statuses(), triage.Severities()
	slices.Reverse(f.Severities)
	var err error
	if f.People, err = p.people(ctx, r); err != nil {
		return nil, err
	}
	f.Names, err = p.names(ctx, r, []string{f.Draft.AssigneeID, f.Draft.OwnerID})
	return &page.View{Page: "form", Title: title, Status: code, Data: f}, err
}

func (p pages) showNew(ctx context.Context, r *page.Request) (page.Answer, error) {
	return p.form(ctx, r, form{Draft: triage.Draft{Status: triage.StatusBacklog, Severity: triage.SeverityMedium}}, http.StatusOK)
}

// draft converts the form to a draft.
func draft(r *page.Request) triage.Draft {
	return triage.Draft{
		Title: r.Field("title"), Description: r.Field("description"), Status: triage.Status(r.Field("status")),
		Severity: triage.Severity(r.Field("severity")), Category: r.Field("category"), OwnerID: r.Field("owner_id"),
		AssigneeID: r.Field("assignee_id"), ExternalLink: r.Field("external_link"),
	}
}

func (p pages) create(ctx context.Context, r *page.Request) (page.Answer, error) {
	d := draft(r)
	var i triage.Issue
	err := p.checkPeople(ctx, r, d, triage.Issue{})
	if err == nil {
		i, err = p.cfg.Issues.Create(ctx, r.Org(), actor(r), d)
	}
	if faults, ok := mayMend(err, nil); ok {
		return p.form(ctx, r, form{Draft: d, Faults: faults}, http.StatusUnprocessableEntity)
	}
	if err != nil {
		return nil, err
	}
	return to(i.ID, i.Name()+" is open.")
}
