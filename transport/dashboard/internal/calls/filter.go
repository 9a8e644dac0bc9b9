package calls

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/transport/dashboard/internal/page"
)

// filter contains the form above the list. Its fields have the names of the API's parameters, so that faults can be assigned to them.
type filter struct {
	Values map[string]string // as typed; without empty fields
	Faults page.Faults
	Used   bool
	Zone   string // name of the time zone of dates

	calls call.Filter
}

// filterFields lists the fields of the form.
var filterFields = []string{
	"from_number", "to_number", "inbound", "completed", "status", "answered_by", "pathway_id", "duration_gt", "duration_lt", "start_date",
	"end_date", "ascending",
}

// readFilter parses the form. Invalid booleans, durations and dates become Faults; the domain checks the other values.
func readFilter(r *page.Request) filter {
	f := filter{Values: map[string]string{}, Faults: page.Faults{}, Zone: r.Zone().String()}
	for _, name := range filterFields {
		if value := r.Query(name); value != "" {
			f.Values[name], f.Used = value, true
		}
	}
	f.calls = call.Filter{
		From: f.Values["from_number"], To: f.Values["to_number"], Inbound: f.choice("inbound"), Completed: f.choice("completed"),
		Status: call.Status(f.Values["status"]), AnsweredBy: call.AnsweredBy(f.Values["answered_by"]), Pathway: f.Values["pathway_id"],
		LongerThan: f.minutes("duration_gt"), ShorterThan: f.minutes("duration_lt"),
	}
	if f.Values["duration_gt"] != "" {
		f.calls.LongerThan = max(f.calls.LongerThan, time.Nanosecond) // 0 would mean no limit
	}
	f.calls.Since, _ = f.span(r, "start_date")
	_, f.calls.Before = f.span(r, "end_date")
	if oldest := f.choice("ascending"); oldest != nil {
		f.calls.OldestFirst = *oldest
	}
	return f
}

func (f filter) choice(name string) *bool {
	switch f.Values[name] {
	case "":
		return nil
	case "true":
		return new(true)
	case "false":
		return new(false)
	}
	f.Faults[name] = "must be true or false"
	return nil
}

func (f filter) minutes(name string) time.Duration {
	if f.Values[name] == "" {
		return 0
	}
	n, err := strconv.ParseFloat(strings.Replace(f.Values[name], ",", ".", 1), 64)
	if err != nil || !(n >= 0 && n <= 1e6) {
		f.Faults[name] = "must be a number of minutes from 0 to 1000000, such as 1.5"
		return 0
	}
	return time.Duration(n * float64(time.Minute))
}

func (f filter) span(r *page.Request, name string) (from, until time.Time) {
	if f.Values[name] == "" {
		return time.Time{}, time.Time{}
	}
	from, until, ok := r.Span(f.Values[name])
	if !ok {
		f.Faults[name] = "must be " + callwright.TimeFormats
	}
	return from, until
}

// find returns a page of the calls that match a filter.
func (p pages) find(ctx context.Context, r *page.Request, f call.Filter) (callwright.Page[call.Call], error) {
	found, _, err := p.cfg.Calls.List(ctx, r.Org(), paged(f))
	return found, err
}

// paged returns a filter for one page. It does not count the calls, and it ends a page after call.MaxScan examined calls, because finding
// all matches could read all calls.
func paged(f call.Filter) call.Filter {
	f.Limit, f.SkipCount, f.Scan = pageSize, true, call.MaxScan
	return f
}
