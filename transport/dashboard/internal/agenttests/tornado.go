package agenttests

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agenttest"
	"github.com/callwright/callwright/agenttest/tornado"
	"github.com/callwright/callwright/transport/dashboard/internal/drawing"
	"github.com/callwright/callwright/transport/dashboard/internal/page"
)

const tornadoPath = "/tests/tornado"

// sessionList contains the data of the page that lists sessions, which search for better versions.
type sessionList struct {
	Filter   filter
	Sessions []tornado.Session
	Next     string // path of the next page; empty on the last page
}

// sessions shows the sessions that match the filter.
func (p pages) sessions(ctx context.Context, r *page.Request) (page.Answer, error) {
	after, err := r.After()
	if err != nil {
		return nil, err
	}
	f, err := p.readFilter(ctx, r, "pathway_id", "persona_id", "status")
	if err != nil {
		return nil, err
	}
	data := sessionList{Filter: f}
	find := tornado.Filter{Pathway: f.Values["pathway_id"], Persona: f.Values["persona_id"], After: after, Limit: tornado.MaxPage}
	if state := oneOf(f, "status", tornado.States()); state != "" {
		find.States = []tornado.State{state}
	}
	view := f.view("sessions", "Tornado sessions", &data)
	if len(f.Faults) > 0 {
		return view, nil
	}
	found, err := p.cfg.Tornado.List(ctx, r.Org(), find)
	if err != nil {
		return nil, err
	}
	data.Sessions, data.Next = found.Items, r.Next(found.Next)
	if after.IsZero() {
		view.Live = []string{"sessions"}
	}
	return view, nil
}

// oneSession contains the data of a session's page.
type oneSession struct {
	Session    tornado.Session
	Ended      bool
	Names      map[string]string // names of scenarios by id
	Iterations []iteration       // newest first
	Part       part
}

// iteration is an iteration of a session, prepared for the page.
type iteration struct {
	tornado.Iteration

	Parent int // number of the version on which the iteration is based
	Groups []string
	Rows   drawing.Changes
	Nodes  int // number of changed nodes
	Edges  int
}

// The maximum numbers of iterations and of differences that a page shows.
const (
	maxIterations = 10
	maxSummary    = 5   // differences of an iteration on the session's page
	maxChanges    = 100 // differences of an iteration on its own page
)

// Name returns the name of a scenario, or its id if it was deleted.
func (s oneSession) Name(id string) string {
	if name, ok := s.Names[id]; ok {
		return name
	}
	return id
}

// session shows a session. The page is live until the session has ended.
func (p pages) session(ctx context.Context, r *page.Request) (page.Answer, error) {
	data, err := p.oneSession(ctx, r)
	if err != nil {
		return nil, err
	}
	s := data.Session
	if data.Part, err = partOf(r, "", "Iterations", "iterations", "iterations", len(s.Iterations), maxIterations); err != nil {
		return nil, err
	}
	for i := data.Part.From; i < data.Part.To; i++ {
		data.Iterations = append(data.Iterations, iterationOf(s, len(s.Iterations)-1-i, maxSummary))
	}
	view := &page.View{Page: "session", Title: "Tornado session", Data: data}
	if !data.Ended {
		view.Live, view.Every = []string{"session"}, every
	}
	return view, nil
}

// iterationOf returns the iteration with index i of a session. The result contains at most the given number of differences.
func iterationOf(s tornado.Session, i, most int) iteration {
	it := iteration{Iteration: s.Iterations[i], Parent: s.Parent(s.Iterations[i].Number), Groups: s.Batches(s.Iterations[i])}
	if c := it.Changes; c != nil {
		it.Rows, it.Nodes, it.Edges = drawing.Compare(*c, most, fmt.Sprintf("Differences of iteration %d", it.Number)), len(c.Nodes), len(c.Edges)
	}
	return it
}

// oneIteration contains the data of an iteration's page.
type oneIteration struct {
	oneSession

	Iteration iteration
}

// iteration shows the outcome and the changes of an iteration. The page is live until the iteration has an outcome or the session has
// ended.
func (p pages) iteration(ctx context.Context, r *page.Request) (page.Answer, error) {
	found, err := p.oneSession(ctx, r)
	if err != nil {
		return nil, err
	}
	number, err := strconv.Atoi(r.PathValue("number"))
	i := slices.IndexFunc(found.Session.Iterations, func(it tornado.Iteration) bool { return it.Number == number })
	if err != nil || i < 0 {
		return nil, callwright.NotFound("iteration")
	}
	data := oneIteration{found, iterationOf(found.Session, i, maxChanges)}
	view := &page.View{Page: "iteration", Title: fmt.Sprintf("Iteration %d", number), Data: data}
	if !data.Ended && data.Iteration.Outcome == "" {
		view.Live, view.Every = []string{"iteration"}, every
	}
	return view, nil
}

// oneSession returns a session with the names of its scenarios.
func (p pages) oneSession(ctx context.Context, r *page.Request) (data oneSession, err error) {
	s, err := p.cfg.Tornado.Get(ctx, r.Org(), r.PathValue("id"))
	if err != nil {
		return data, err
	}
	data = oneSession{Session: s, Ended: s.State.Ended(), Names: map[string]string{}}
	ids := make([]string, len(s.Scenarios))
	for i, sc := range s.Scenarios {
		ids[i] = sc.ID
	}
	known, err := p.cfg.Tests.ListScenarios(ctx, r.Org(), agenttest.ScenarioFilter{IDs: ids, Brief: true}, 0)
	for _, sc := range known.Items {
		data.Names[sc.ID] = sc.Name
	}
	return data, err
}

// sessionFields lists the fields of the form that starts sessions.
var sessionFields = []string{"pathway_id", "version_number", "max_iterations", "timeout_minutes", "budget.tokens"}

// newSession contains the data of the form that starts a session.
type newSession struct {
	form

	Cannot string // why no session can be started; empty if one can
}

// newSession shows the form that starts a session.
func (p pages) newSession(ctx context.Context, r *page.Request) (page.Answer, error) {
	return p.showNewSession(ctx, r, form{Values: map[string]string{"pathway_id": r.Query("pathway_id")}})
}

// showNewSession shows the form, or the reason why no session can be started.
func (p pages) showNewSession(ctx context.Context, r *page.Request, f form) (page.Answer, error) {
	var err error
	if f.Choices, err = p.choices(ctx, r.Org(), f.Values, chooseOne, "pathway_id"); err != nil {
		return nil, err
	}
	data := newSession{form: f}
	if err := p.cfg.Tornado.CanStart(); err != nil {
		data.Cannot = callwright.MessageOf(err)
	}
	view := &page.View{Page: "newsession", Title: "Start a tornado session", Data: data}
	if len(f.Faults) > 0 {
		view.Status = http.StatusUnprocessableEntity
	}
	return view, nil
}

// startSession starts a session, or shows the form again with its faults.
func (p pages) startSession(ctx context.Context, r *page.Request) (page.Answer, error) {
	f := readForm(r, sessionFields)
	request, err := f.session()
	if err == nil {
		var s tornado.Session
		if s, err = p.cfg.Tornado.Start(ctx, r.Org(), request); err == nil {
			return page.SeeOther{To: page.Path(tornadoPath, s.ID), Notice: "The session begins within a few seconds."}, nil
		}
	}
	var ok bool
	if f.Faults, ok = faultsOf(err, sessionFields...); !ok {
		return nil, err
	}
	return p.showNewSession(ctx, r, f)
}

// session converts the form to a request. An invalid value causes CodeBadRequest with the name of the field.
func (f form) session() (tornado.Start, error) {
	start := tornado.Start{Pathway: f.Values["pathway_id"]}
	var err error
	if start.Version, err = f.whole("version_number"); err != nil {
		return start, err
	}
	for name, to := range map[string]*int{"max_iterations": &start.Iterations, "budget.tokens": &start.Budget.Tokens} {
		n, err := f.whole(name)
		if err != nil {
			return start, err
		}
		if n != nil {
			*to = *n
		}
	}
	minutes, err := f.whole("timeout_minutes")
	if err != nil || minutes == nil {
		return start, err
	}
	if most := int(tornado.MaxTimeout / time.Minute); *minutes < 1 || *minutes > most {
		return start, callwright.Invalid("timeout_minutes", "must be from 1 to %d", most)
	}
	start.Timeout = time.Duration(*minutes) * time.Minute
	return start, nil
}

// cancelSession cancels a session that has not ended.
func (p pages) cancelSession(ctx context.Context, r *page.Request) (page.Answer, error) {
	id := r.PathValue("id")
	return cancelled(page.Path(tornadoPath, id), "The session is being cancelled.", p.cfg.Tornado.Cancel(ctx, r.Org(), id))
}
