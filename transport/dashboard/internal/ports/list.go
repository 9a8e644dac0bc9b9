package ports

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/porting"
	"github.com/callwright/callwright/transport/dashboard/internal/page"
)

// pageSize is the maximum number of requests, history entries or audit events on a page.
const pageSize = 50

// list holds the data of the page that lists port requests.
type list struct {
	Requests []porting.Request
	Next     string // address of the next page, or empty on the last
	Views    []view
	Filtered bool
}

// view is a link that filters the list by states.
type view struct {
	Title, Query string
	Current      bool
}

func (p pages) list(ctx context.Context, r *page.Request) (page.Answer, error) {
	after, err := r.After()
	if err != nil {
		return nil, err
	}
	wanted := r.Query("status")
	var states []porting.State
	for text := range strings.SplitSeq(wanted, ",") {
		if s := porting.State(text); slices.Contains(porting.States(), s) {
			states = append(states, s)
		} else if text != "" {
			return nil, callwright.Invalid("status", "must be one or more of %v, separated by commas", porting.States())
		}
	}
	found, err := p.cfg.Ports.List(ctx, r.Org(), porting.Filter{States: states, After: after, Limit: pageSize})
	if err != nil {
		return nil, err
	}
	open := "waiting_for_signature,submitted,in_progress"
	views := []view{{"All", "", wanted == ""}, {"Open", open, wanted == open}}
	for _, s := range porting.States() {
		views = append(views, view{page.Words(s), string(s), wanted == string(s)})
	}
	for n := range views {
		views[n].Query = r.With("status", views[n].Query)
	}
	return &page.View{
		Page: "list", Title: "Ports", Data: list{found.Items, r.Next(found.Next), views, wanted != ""}, Live: []string{"ports"}, Every: refresh,
	}, nil
}

// check holds the data of the page that checks which numbers can be ported.
type check struct {
	Numbers string
	Found   []porting.Portability
	Faults  page.Faults
}

// Portable returns the numbers that can be ported, one per line.
func (c check) Portable() string {
	var all []string
	for _, p := range c.Found {
		if p.Portable {
			all = append(all, p.Number.String())
		}
	}
	return strings.Join(all, "\n")
}

func (p pages) check(ctx context.Context, r *page.Request) (page.Answer, error) {
	data := check{Numbers: r.Query("numbers")}
	v := &page.View{Page: "check", Title: "Check numbers"}
	if data.Numbers != "" {
		numbers := splitNumbers(data.Numbers)
		var err error
		data.Found, err = p.cfg.Ports.Check(ctx, r.Org(), typedNumbers(numbers))
		if faults, ok := faultsOf(err, map[string][]string{"phone_numbers": numbers}); ok {
			v.Status, data.Faults, err = http.StatusUnprocessableEntity, faults, nil
		}
		if err != nil {
			return nil, err
		}
	}
	v.Data = data
	return v, nil
}

// splitNumbers splits a text at commas, semicolons and line breaks. It omits empty entries.
func splitNumbers(text string) []string {
	var all []string
	for n := range strings.FieldsFuncSeq(text, func(c rune) bool { return c == ',' || c == ';' || c == '\n' }) {
		if n = strings.TrimSpace(n); n != "" {
			all = append(all, n)
		}
	}
	return all
}

// typedNumbers applies callwright.TypedNumber to each number.
func typedNumbers(typed []string) []string {
	numbers := make([]string, len(typed))
	for i, text := range typed {
		numbers[i] = callwright.TypedNumber(text)
	}
	return numbers
}
