package tornado

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agenttest/engine"
	"github.com/callwright/callwright/node"
)

// Config lists the ports and limits of a Service.
type Config struct {
	Store    Store             `required:"always"`
	Atomic   callwright.Atomic `required:"always"` // transactions of the store
	Work     callwright.Work   `required:"always"` // cleans up after sessions and deletes old sessions
	Leases   node.Leases       `required:"always"` // report which nodes are alive
	Node     string            `required:"always"` // name of this process, unique over all past and present processes of a deployment
	Pathways Pathways          `required:"always"`
	Runs     Runs              `required:"always"`

	// Model or Fixer proposes changes. If both are nil, no session can start.
	Model llm.Model // used through NewFixer; its answers are stored, so that none is paid for twice
	Fixer Fixer     // replaces Model; its plans are stored

	Analyst    llm.Model     // analyzes failed runs; rules replace a nil model and a model that cannot analyze
	Pricer     engine.Pricer // prices the calls of Model and Analyst; nil means that their cost is unknown
	Concurrent int           // maximum number of sessions that this node holds; 0 means DefaultConcurrent
	Watchers   int           // maximum number of watchers of all organizations on this node; 0 means 200

	callwright.Runtime
}

// These constants are the defaults and limits of a Service.
const (
	DefaultConcurrent = 64
	DefaultTimeout    = 15 * time.Minute
	MinTimeout        = time.Second
	MaxTimeout        = 2 * time.Hour
	MaxRunning        = 8  // concurrent sessions of an organization
	MaxPage           = 20 // sessions in a page
)

// Service starts, runs, stores and deletes sessions. It is safe for concurrent use.
type Service struct {
	cfg   Config
	live  *node.Holder[struct{}]
	swept time.Time // time of the last sweep; only claim uses it

	inserting chan struct{} // contains a token while a session is counted and inserted
	watchers  node.Watchers
}

// New checks the configuration, sets the defaults and registers the durable tasks. Sessions run only while Run runs.
func New(c Config) (*Service, error) {
	if err := callwright.PrepareConfig(&c); err != nil {
		return nil, err
	}
	if c.Concurrent <= 0 {
		c.Concurrent = DefaultConcurrent
	}
	if c.Watchers <= 0 {
		c.Watchers = defaultWatchers
	}
	s := &Service{
		cfg: c, inserting: make(chan struct{}, 1),
		watchers: node.Watchers{Total: c.Watchers, Share: MaxWatchers},
	}
	var err error
	if s.live, err = s.newLive(); err != nil {
		return nil, err
	}
	c.Work.Handle(callwright.QueueTests, taskClear, s.clear)
	c.Work.Every(callwright.QueueUpkeep, taskDelete, deleteEvery, s.deleteOld)
	return s, nil
}

// Start is the request to start a session.
type Start struct {
	Pathway    string        // id of the pathway
	Persona    string        // id by which filters find the session; may be empty
	Scenarios  []string      // ids of scenarios of the pathway; empty means all enabled ones
	HeldOut    []string      // ids from Scenarios that no Fixer may see: see Scenario
	Version    *int          // number of the base version; nil means the version in production
	Iterations int           // maximum number; 0 means DefaultIterations
	Timeout    time.Duration // from MinTimeout to MaxTimeout; 0 means DefaultTimeout
	Budget     engine.Limit
	Allow      []string // see Limits.Allow and Limits.Deny
	Deny       []string
}

// CanStart returns CodeNotImplemented if neither a Model nor a Fixer is configured, so that no session can start.
func (s *Service) CanStart() error {
	if s.cfg.Model == nil && s.cfg.Fixer == nil {
		return callwright.Errorf(callwright.CodeNotImplemented,
			"this server has no model that proposes changes to pathways: its operator must configure one")
	}
	return nil
}

// Start adds a session that some node claims soon. The error is ErrActive if a session of the pathway is running, and CodeTooManyRequests
// if MaxRunning sessions of the organization are running. It is CodeNotFound, with the field pathway_id, persona_id, scenario_ids or
// version_number, if the named resource is absent. It is CodeBadRequest, with the field, if the request is invalid, and CodeNotImplemented
// if CanStart fails.
func (s *Service) Start(ctx context.Context, org callwright.OrgID, r Start) (Session, error) {
	if err := s.CanStart(); err != nil {
		return Session{}, err
	}
	if err := r.check(); err != nil {
		return Session{}, err
	}
	if err := s.cfg.Runs.CheckBudget(r.Budget); err != nil {
		return Session{}, err
	}
	base, err := s.base(ctx, org, r)
	if err != nil {
		return Session{}, err
	}
	scenarios, err := s.suite(ctx, org, r)
	if err != nil {
		return Session{}, err
	}
	now := s.cfg.Clock.Now()
	session := Session{
		ID: s.cfg.IDs.New(), Org: org, Pathway: r.Pathway, Persona: r.Persona, Scenarios: scenarios, Most: r.Iterations,
		Confirm: DefaultConfirm, Patience: DefaultPatience, Limits: Limits{Allow: r.Allow, Deny: r.Deny}.filled(), Budget: r.Budget,
		Timeout: r.Timeout, Deadline: now.Add(r.Timeout), CreatedAt: now, Revision: 1,
		Progress: Progress{State: Running, Phase: Baseline, Base: base, Best: base},
	}
	if err := s.insert(ctx, session); err != nil {
		return Session{}, err
	}
	s.live.Wake()
	return session, nil
}

// insert adds a session, unless MaxRunning sessions of the organization are running. Two nodes that insert concurrently may exceed the
// limit. If the pathway already has a running session, the error names that session.
func (s *Service) insert(ctx context.Context, session Session) error {
	select {
	case s.inserting <- struct{}{}:
		defer func() { <-s.inserting }()
	case <-ctx.Done():
		return ctx.Err()
	}
	running, err := s.cfg.Store.FindSessions(ctx, session.Org, Filter{States: []State{Running}, Limit: MaxRunning})
	if err != nil {
		return err
	}
	if len(running) == MaxRunning {
		return callwright.Errorf(callwright.CodeTooManyRequests,
			"at most %d sessions of an organization may run: cancel one, or wait until one ends", MaxRunning)
	}
	if err := s.cfg.Store.InsertSession(ctx, session); !errors.Is(err, ErrActive) {
		return err
	}
	active, err := s.Active(ctx, session.Org, session.Pathway, "")
	if err != nil {
		return ErrActive
	}
	named := *ErrActive
	named.Message = fmt.Sprintf("has the running session %s: cancel it, or wait until it ends", active.ID)
	return &named
}

// check sets the defaults and validates the request without any lookup.
func (r *Start) check() error {
	if r.Iterations == 0 {
		r.Iterations = DefaultIterations
	}
	if r.Timeout == 0 {
		r.Timeout = DefaultTimeout
	}
	var all callwright.FieldErrors
	if r.Pathway == "" {
		all = append(all, callwright.Invalid("pathway_id", "is required"))
	}
	if r.Iterations < 1 || r.Iterations > MaxIterations {
		all = append(all, callwright.Invalid("max_iterations", "must be from 1 to %d", MaxIterations))
	}
	if r.Timeout < MinTimeout || r.Timeout > MaxTimeout {
		all = append(all, callwright.Invalid("timeout_ms", "must be from %d to %d", MinTimeout.Milliseconds(), MaxTimeout.Milliseconds()))
	}
	if r.Version != nil && *r.Version < 1 {
		all = append(all, callwright.Invalid("version_number", "must be the number of a saved version: the draft is not tested"))
	}
	return all.OrNil()
}

// base returns the number of the base version: the requested version, or else the version in production. It also checks that the version
// contains the allowed and denied nodes.
func (s *Service) base(ctx context.Context, org callwright.OrgID, r Start) (int, error) {
	number := 0 // number of the draft: only the returned pathway is used
	if r.Version != nil {
		number = *r.Version
	}
	v, p, err := s.cfg.Pathways.Version(ctx, org, r.Pathway, number)
	if err == nil && number == 0 {
		if p.Production == 0 {
			return 0, callwright.Invalid("version_number", "is required, because no version of the pathway is in production")
		}
		v, _, err = s.cfg.Pathways.Version(ctx, org, r.Pathway, p.Production)
	}
	if err != nil {
		return 0, s.withAbsentField(ctx, org, r, err)
	}
	var all callwright.FieldErrors
	for _, list := range []struct {
		field string
		ids   []string
	}{{"allow_node_ids", r.Allow}, {"deny_node_ids", r.Deny}} {
		unknown := slices.IndexFunc(list.ids, func(id string) bool { return find(v.Document.Nodes, id) < 0 })
		if unknown >= 0 {
			all = append(all, callwright.Invalid(fmt.Sprintf("%s[%d]", list.field, unknown), "must be the id of a node of version %d", v.Number))
		}
	}
	return v.Number, all.OrNil()
}

// withAbsentField names the absent resource in a CodeNotFound error: version_number or pathway_id. It returns other errors unchanged.
func (s *Service) withAbsentField(ctx context.Context, org callwright.OrgID, r Start, err error) error {
	if !errors.Is(err, callwright.ErrNotFound) {
		return err
	}
	if r.Version != nil {
		if _, _, err := s.cfg.Pathways.Version(ctx, org, r.Pathway, 0); err == nil {
			return &callwright.Error{
				Code: callwright.CodeNotFound, Field: "version_number", Message: fmt.Sprintf("the pathway has no version %d", *r.Version),
			}
		}
	}
	return &callwright.Error{Code: callwright.CodeNotFound, Field: "pathway_id", Message: "the pathway does not exist"}
}

// suite returns the requested scenarios and marks those held out. Every held-out id must be a different scenario of the session, and at
// least one scenario must not be held out.
func (s *Service) suite(ctx context.Context, org callwright.OrgID, r Start) ([]Scenario, error) {
	scenarios, err := s.cfg.Runs.Suite(ctx, org, r.Pathway, r.Persona, r.Scenarios)
	if err != nil {
		return nil, err
	}
	held := 0
	for i, sc := range scenarios {
		if slices.Contains(r.HeldOut, sc.ID) {
			scenarios[i].HeldOut = true
			held++
		}
	}
	switch {
	case held < len(r.HeldOut):
		return nil, callwright.Invalid("held_out_scenario_ids", "must be unique ids of scenarios of the session")
	case held == len(scenarios):
		return nil, callwright.Invalid("held_out_scenario_ids", "must leave out at least one scenario of the session")
	}
	return scenarios, nil
}

// Get returns a session. The error is CodeNotFound if the organization has no session with this id.
func (s *Service) Get(ctx context.Context, org callwright.OrgID, id string) (Session, error) {
	return s.cfg.Store.Session(ctx, org, id)
}

// Active returns the newest running session of a pathway, a persona, or both. The error is CodeNotFound if no such session is running, and
// CodeBadRequest if both ids are empty.
func (s *Service) Active(ctx context.Context, org callwright.OrgID, pathway, persona string) (Session, error) {
	if pathway == "" && persona == "" {
		return Session{}, callwright.Invalid("pathway_id", "is required, unless persona_id is given")
	}
	found, err := s.cfg.Store.FindSessions(ctx, org, Filter{Pathway: pathway, Persona: persona, States: []State{Running}, Limit: 1})
	if err != nil {
		return Session{}, err
	}
	if len(found) == 0 {
		return Session{}, callwright.Errorf(callwright.CodeNotFound, "no session of this pathway or persona is running")
	}
	return found[0], nil
}

// List returns a page of sessions, newest first. A Limit below 1 or above MaxPage means MaxPage.
func (s *Service) List(ctx context.Context, org callwright.OrgID, f Filter) (callwright.Page[Session], error) {
	if f.Limit < 1 || f.Limit > MaxPage {
		f.Limit = MaxPage
	}
	limit := f.Limit
	f.Limit++
	found, err := s.cfg.Store.FindSessions(ctx, org, f)
	if err != nil {
		return callwright.Page[Session]{}, err
	}
	page := callwright.Page[Session]{Items: found}
	if len(found) > limit {
		page.Items = found[:limit]
		last := page.Items[limit-1]
		page.Next = callwright.Keyset{At: last.CreatedAt, ID: last.ID}
	}
	return page, nil
}

// Cancel cancels a session. It interrupts the current step: immediately on this node, or within a second on another node. The best version
// so far stays. Repeated calls have no effect. The error is CodeInvalidState if the session has ended, and CodeNotFound if the organization
// has no session with this id.
func (s *Service) Cancel(ctx context.Context, org callwright.OrgID, id string) error {
	err := s.cfg.Store.CancelSession(ctx, org, id)
	if errors.Is(err, callwright.ErrInvalidState) {
		return callwright.Errorf(callwright.CodeInvalidState, "the session has already ended")
	}
	if err != nil {
		return err
	}
	s.live.Stop(id, errCancelled)
	return nil
}
