package agenttests

import (
	"context"
	"errors"
	"strconv"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agenttest/group"
	"github.com/callwright/callwright/agenttest/run"
	"github.com/callwright/callwright/agenttest/stats"
	"github.com/callwright/callwright/transport/dashboard/internal/page"
)

// maxPages is the maximum number of pages in a list of groups.
const maxPages = 200

// The paths of the lists of groups, below which the groups' pages are.
const (
	batchesPath = "/tests/batches"
	setsPath    = "/tests/sets"
)

// groupList contains the data of the page that lists batches or simulation sets.
type groupList struct {
	Path   string
	Name   string
	Filter filter
	Groups []group.Listed
	Next   string // path of the next page; empty on the last page
}

// batches shows the batches that match the filter.
func (p pages) batches(ctx context.Context, r *page.Request) (page.Answer, error) {
	return p.groups(ctx, r, group.OneEach, groupList{Path: batchesPath, Name: "Batches"})
}

// sets shows the simulation sets that match the filter.
func (p pages) sets(ctx context.Context, r *page.Request) (page.Answer, error) {
	return p.groups(ctx, r, group.Simulations, groupList{Path: setsPath, Name: "Simulation sets"})
}

func (p pages) groups(ctx context.Context, r *page.Request, kind group.Kind, data groupList) (page.Answer, error) {
	number := 1
	if given := r.Query("page"); given != "" {
		n, err := strconv.Atoi(given)
		if err != nil || n < 1 || n > maxPages {
			return nil, callwright.Invalid("page", "must be the number of a page, from 1 to %d", maxPages)
		}
		number = n
	}
	f, err := p.readFilter(ctx, r, "pathway_id", "persona_id", "status", "trigger_source")
	if err != nil {
		return nil, err
	}
	data.Filter = f
	find := group.Filter{
		Kind: kind, Pathway: f.Values["pathway_id"], Persona: f.Values["persona_id"], State: oneOf(f, "status", run.States()),
		Trigger: oneOf(f, "trigger_source", triggers), Offset: (number - 1) * pageSize, Limit: pageSize,
	}
	view := f.view("groups", data.Name, &data)
	if len(f.Faults) > 0 {
		return view, nil
	}
	groups, more, err := p.cfg.Tests.PageBatches(ctx, r.Org(), find)
	if err != nil {
		return nil, err
	}
	data.Groups = groups
	if more && number < maxPages {
		data.Next = r.With("page", strconv.Itoa(number+1))
	}
	if number == 1 {
		view.Live = []string{"groups"}
	}
	return view, nil
}

// triggers lists the triggers of groups by which a list can be filtered.
var triggers = []group.Trigger{
	group.ByAPI, group.ByDashboard, group.ByCI, group.ByPromotion, group.BySimulation, group.ByTornado,
}

// triggerOptions returns the options of the filter by trigger.
func triggerOptions() []option {
	all := []option{{"", "Any"}}
	for _, t := range triggers {
		all = append(all, option{string(t), triggerWords[t]})
	}
	return all
}

// oneGroup contains the data of the page of a batch or a simulation set.
type oneGroup struct {
	Path, All  string // paths of the group's page and of the list
	Group      group.Batch
	Ended      bool
	Statistics *group.Statistics // nil for a batch
	Scenarios  []described
	Runs       []run.Run // all runs of a batch; the newest runs of a set
}

// described is a scenario of a simulation set with its statistics.
type described struct {
	run.Subject
	stats.Scenario
}

// batch shows a batch with its runs. The page is live until all runs have ended.
func (p pages) batch(ctx context.Context, r *page.Request) (page.Answer, error) {
	b, runs, err := p.cfg.Tests.GetBatch(ctx, r.Org(), r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	return groupView("Batch", oneGroup{Path: page.Path(batchesPath, b.ID), All: batchesPath, Group: b, Runs: runs}), nil
}

// set shows a simulation set with its statistics. The page is live until all runs have ended.
func (p pages) set(ctx context.Context, r *page.Request) (page.Answer, error) {
	b, st, err := p.cfg.Tests.GetSet(ctx, r.Org(), r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	newest, err := p.cfg.Tests.PageRuns(ctx, r.Org(), run.Filter{Batch: b.ID, Limit: recent})
	if err != nil {
		return nil, err
	}
	data := oneGroup{Path: page.Path(setsPath, b.ID), All: setsPath, Group: b, Statistics: &st, Runs: newest.Items}
	for i, sc := range st.Scenarios[:min(len(st.Scenarios), len(b.Scenarios))] {
		data.Scenarios = append(data.Scenarios, described{b.Scenarios[i], sc})
	}
	return groupView("Simulation set", data), nil
}

func groupView(title string, data oneGroup) *page.View {
	data.Ended = data.Group.State.Ended()
	view := &page.View{Page: "group", Title: title, Data: data}
	if !data.Ended {
		view.Live, view.Every = []string{"group"}, every
	}
	return view
}

// group redirects to the batch with the given id, or to the simulation set if there is no such batch. It serves links that contain an id
// without the type of group.
func (p pages) group(ctx context.Context, r *page.Request) (page.Answer, error) {
	id := r.PathValue("id")
	_, _, err := p.cfg.Tests.GetBatch(ctx, r.Org(), id)
	if errors.Is(err, callwright.ErrNotFound) {
		return page.SeeOther{To: page.Path(setsPath, id)}, nil
	}
	return page.SeeOther{To: page.Path(batchesPath, id)}, err
}

// cancelBatch cancels the runs of a batch that have not ended.
func (p pages) cancelBatch(ctx context.Context, r *page.Request) (page.Answer, error) {
	id := r.PathValue("id")
	return cancelled(page.Path(batchesPath, id), "The batch is being cancelled.", p.cfg.Tests.CancelBatch(ctx, r.Org(), id))
}

// cancelSet cancels the runs of a simulation set that have not ended.
func (p pages) cancelSet(ctx context.Context, r *page.Request) (page.Answer, error) {
	id := r.PathValue("id")
	return cancelled(page.Path(setsPath, id), "The simulation set is being cancelled.", p.cfg.Tests.CancelSet(ctx, r.Org(), id))
}
