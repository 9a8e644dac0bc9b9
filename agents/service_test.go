package agents_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/agentstore"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/pathway/graph"
)

const number callwright.PhoneNumber = "+15550000001"

// newService returns a service over stores in memory. It has one pathway, accepts every voice except robot, and permits only https URLs.
func newService(t *testing.T, change ...func(*agents.Config)) *agents.Service {
	t.Helper()
	store := memstore.New()
	c := agents.Config{
		Numbers: agentstore.Numbers{Store: store}, WebAgents: agentstore.WebAgents{Store: store}, Atomic: store,
		Voices: voices{}, Webhooks: onlyHTTPS{}, Requests: onlyHTTPS{}, Pathways: onePathway{},
	}
	for _, f := range change {
		f(&c)
	}
	s, err := agents.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// errVoice is the error of an engine for an unknown voice.
var errVoice = callwright.Invalid("voice", "is not known")

type voices struct{}

func (voices) CheckVoice(_ context.Context, _ callwright.OrgID, voice, _ string) error {
	if voice == "robot" {
		return errVoice
	}
	return nil
}

type onlyHTTPS struct{}

func (onlyHTTPS) CheckURL(url string) error {
	if !strings.HasPrefix(url, "https://") {
		return callwright.Invalid("", "must begin with https://")
	}
	return nil
}

// onePathway contains the pathway p1, in every version, with the node begin.
type onePathway struct{}

func (onePathway) Load(
	_ context.Context, _ callwright.OrgID, id string, sel pathway.Selector,
) (*graph.Graph, int, error) {
	if id != "p1" {
		return nil, 0, callwright.InField("pathway_id", callwright.NotFound("pathway"))
	}
	return &graph.Graph{Nodes: map[string]*graph.Node{"begin": {}}}, sel.Number, nil
}

// registered returns a service in which the organization "a" has registered number.
func registered(t *testing.T, change ...func(*agents.Config)) *agents.Service {
	t.Helper()
	s := newService(t, change...)
	if err := s.RegisterInbound(t.Context(), "a", number); err != nil {
		t.Fatal(err)
	}
	return s
}

// update applies a patch to the agent of number, and returns the stored agent and the report.
func update(t *testing.T, s *agents.Service, p agents.Patch) (agents.Agent, agents.Report) {
	t.Helper()
	_, report, err := s.UpdateInbound(t.Context(), "a", number, p)
	if err != nil {
		t.Fatal(err)
	}
	n, err := s.Inbound(t.Context(), "a", number)
	if err != nil {
		t.Fatal(err)
	}
	return n.Agent, report
}

// TestNewNamesWhatIsMissing checks that the error names each missing port.
func TestNewNamesWhatIsMissing(t *testing.T) {
	t.Parallel()
	store := memstore.New()
	whole := agents.Config{
		Numbers: agentstore.Numbers{Store: store}, WebAgents: agentstore.WebAgents{Store: store}, Atomic: store,
	}
	for name, remove := range map[string]func(*agents.Config){
		"Numbers": func(c *agents.Config) { c.Numbers = nil }, "WebAgents": func(c *agents.Config) { c.WebAgents = nil },
		"Atomic": func(c *agents.Config) { c.Atomic = nil },
	} {
		c := whole
		remove(&c)
		if _, err := agents.New(c); err == nil || err.Error() != "agents: Config."+name+" is required" {
			t.Errorf("without %s: %v", name, err)
		}
	}
}

func TestReleaseInbound(t *testing.T) {
	t.Parallel()
	s := newService(t)
	if err := s.ReleaseInbound(t.Context(), "a", number); err != nil { // not registered yet
		t.Fatal(err)
	}
	if err := s.RegisterInbound(t.Context(), "a", number); err != nil {
		t.Fatal(err)
	}
	update(t, s, agents.Patch{Task: callwright.Given("Sell.")})
	for range 2 {
		if err := s.ReleaseInbound(t.Context(), "a", number); err != nil {
			t.Fatal(err)
		}
	}
	_, getErr := s.Inbound(t.Context(), "a", number)
	_, _, updateErr := s.UpdateInbound(t.Context(), "a", number, agents.Patch{Task: callwright.Given("Buy.")})
	list, err := s.ListInbound(t.Context(), "a", callwright.Keyset{}, 0)
	if !errors.Is(getErr, callwright.ErrNotFound) || !errors.Is(updateErr, callwright.ErrNotFound) || err != nil || len(list.Items) != 0 {
		t.Errorf("a released number: get %v, update %v, list %v, %v", getErr, updateErr, list, err)
	}
	if a, err := s.Answering(t.Context(), "a", number); !isUnanswered(err) || a.Task != "" {
		t.Errorf("a released number is answered by %q, %v", a.Task, err)
	}
	if err := s.RegisterInbound(t.Context(), "a", number); err != nil {
		t.Fatal(err)
	}
	if n, err := s.Inbound(t.Context(), "a", number); err != nil || n.Agent.Task != "Sell." {
		t.Errorf("registered again: %+v, %v", n, err)
	}
}

func TestRegisterInbound(t *testing.T) {
	t.Parallel()
	s := newService(t)
	for range 2 { // a number that is registered again keeps its agent
		if err := s.RegisterInbound(t.Context(), "a", number); err != nil {
			t.Fatal(err)
		}
		update(t, s, agents.Patch{Task: callwright.Given("Sell.")})
	}
	n, err := s.Inbound(t.Context(), "a", number)
	if err != nil || n.Agent.Task != "Sell." || n.Version != 3 || n.Agent.MaxDuration != agents.DefaultMaxDuration {
		t.Errorf("got %+v, %v", n, err)
	}
	if list, err := s.ListInbound(t.Context(), "b", callwright.Keyset{}, 0); err != nil || len(list.Items) != 0 {
		t.Errorf("another organization lists %+v, %v", list, err)
	}
}

func TestUpdateInboundTogether(t *testing.T) {
	t.Parallel()
	s := registered(t)
	var editing sync.WaitGroup
	for _, p := range []agents.Patch{
		{Task: callwright.Given("Sell.")}, {Persona: callwright.Given("You are kind.")},
		{FirstSentence: callwright.Given("Hello.")}, {Record: callwright.Given(true)},
	} {
		editing.Go(func() {
			if _, _, err := s.UpdateInbound(t.Context(), "a", number, p); err != nil {
				t.Error(err)
			}
		})
	}
	editing.Wait()
	n, err := s.Inbound(t.Context(), "a", number)
	if a := n.Agent; err != nil || a.Task != "Sell." || a.Persona != "You are kind." || a.FirstSentence != "Hello." || !a.Record {
		t.Errorf("got %+v, %v; an edit was lost", n.Agent, err)
	}
}

func TestUpdateInboundRefuses(t *testing.T) {
	t.Parallel()
	s := newService(t)
	_, _, err := s.UpdateInbound(t.Context(), "a", number, agents.Patch{Record: callwright.Given(true)})
	if !errors.Is(err, callwright.ErrNotFound) {
		t.Errorf("an absent number gave %v", err)
	}
	if err := s.RegisterInbound(t.Context(), "a", number); err != nil {
		t.Fatal(err)
	}
	if _, report := update(t, s, agents.Patch{Voice: callwright.Given("robot")}); !errors.Is(report[agents.SettingVoice], errVoice) {
		t.Errorf("got %v", report)
	}
	if n, _ := s.Inbound(t.Context(), "a", number); n.Version != 1 {
		t.Error("a refused change was stored")
	}
}

func TestAnswering(t *testing.T) {
	t.Parallel()
	s := newService(t)
	if _, err := s.Answering(t.Context(), "a", number); !isUnanswered(err) {
		t.Errorf("an unknown number is answered: %v", err)
	}
	if err := s.RegisterInbound(t.Context(), "a", number); err != nil {
		t.Fatal(err)
	}
	update(t, s, agents.Patch{FirstSentence: callwright.Given("Hello."), MaxDuration: callwright.Given(time.Minute)})
	got, err := s.Answering(t.Context(), "a", number)
	if !isUnanswered(err) || got.FirstSentence != "Hello." || got.MaxDuration != time.Minute || got.Task != "" {
		t.Errorf("a number that nothing leads is answered by %+v, %v", got, err)
	}
	update(t, s, agents.Patch{Task: callwright.Given("Sell.")})
	got, err = s.Answering(t.Context(), "a", number)
	if err != nil || got.FirstSentence != "Hello." || got.MaxDuration != time.Minute || got.Task != "Sell." {
		t.Errorf("got %+v, %v", got, err)
	}
}

// isUnanswered reports whether Answering has refused a number that nothing leads.
func isUnanswered(err error) bool {
	e, ok := errors.AsType[*callwright.Error](err)
	return ok && e.Code == callwright.CodeInvalidState && e.Field == "phone_number"
}

// TestCopyOfWebAgent checks that a number gets the settings of a web agent before its other changes, and refuses an absent one alone.
func TestCopyOfWebAgent(t *testing.T) {
	t.Parallel()
	s := registered(t)
	web := create(t, s, agents.Agent{
		Task: "Help.", Voice: "rms", Interruptibility: new(1), Keywords: []string{"Acme"}, Machines: agents.Machines{Fax: agents.MachineIgnore},
	})
	a, report := update(t, s, agents.Patch{AgentID: web.ID, Voice: callwright.Given("slt")})
	if len(report) != 2 || report[agents.SettingAgentID] != nil || a.Task != "Help." || a.Voice != "slt" || *a.Interruptibility != 1 || a.Keywords != nil ||
		a.Machines != (agents.Machines{}) {
		t.Errorf("got %+v, %v", a, report)
	}
	a, report = update(t, s, agents.Patch{AgentID: "absent", FirstSentence: callwright.Given("Hello.")})
	if !errors.Is(report[agents.SettingAgentID], callwright.ErrNotFound) || a.FirstSentence != "Hello." || a.Task != "Help." {
		t.Errorf("an absent web agent: %+v, %v", a, report)
	}
	if n, err := s.Inbound(t.Context(), "a", number); err != nil || n.Refused[agents.SettingAgentID] == "" {
		t.Errorf("the refusal is %v, %v", n.Refused, err)
	}
}

// TestRefusedLeader checks that a number whose pathway was refused does not answer with something else, that the refusal stays readable until
// the leader is set, and that the number otherwise keeps its former leader.
func TestRefusedLeader(t *testing.T) {
	t.Parallel()
	s := registered(t)
	absent := agents.Patch{Pathway: callwright.Given("absent"), Voice: callwright.Given("rms")}
	const refusal = "pathway_id pathway not found"
	a, report := update(t, s, absent)
	if report[agents.SettingPathway] == nil || a.Voice != "rms" || a.Pathway.ID != "" {
		t.Fatalf("the agent is %+v, the report %v", a, report)
	}
	stored := func() agents.InboundNumber {
		n, err := s.Inbound(t.Context(), "a", number)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	warned := func() string { return strings.Join(s.NumberWarnings(t.Context(), stored()), "|") }
	_, err := s.Answering(t.Context(), "a", number)
	if !isUnanswered(err) || !strings.Contains(err.Error(), refusal) || !strings.Contains(warned(), "nothing can answer its calls") || !strings.Contains(warned(), refusal) {
		t.Errorf("a call gets %v, the warnings are %s", err, warned())
	}
	update(t, s, agents.Patch{Voice: callwright.Given("slt")}) // says nothing about the leader
	if len(stored().Refused) != 1 {
		t.Errorf("refused %v", stored().Refused)
	}
	update(t, s, agents.Patch{Task: callwright.Given("Sell.")})
	if _, err := s.Answering(t.Context(), "a", number); err != nil || stored().Refused != nil || warned() != "" {
		t.Errorf("with a task: %v, %v, %s", err, stored().Refused, warned())
	}
	before := stored().Version
	for range 2 {
		update(t, s, agents.Patch{Pathway: callwright.Given("absent")})
	}
	if got, err := s.Answering(t.Context(), "a", number); err != nil || got.Task != "Sell." || stored().Version != before+1 ||
		!strings.Contains(warned(), "answered as before") || !strings.Contains(warned(), refusal) {
		t.Errorf("the former task: %+v, %v, version %d, %s", got, err, stored().Version, warned())
	}
	whole := agents.Patch{Pathway: callwright.Given("other"), Whole: true}
	if update(t, s, whole); stored().Version != before+1 {
		t.Errorf("a refused whole patch was stored: %+v", stored())
	}
}

func TestAnsweringByPathway(t *testing.T) {
	t.Parallel()
	s := registered(t)
	update(t, s, agents.Patch{
		Pathway: callwright.Given("p1"), PathwayVersion: callwright.Given(pathway.Selector{Number: 4}),
		Persona: callwright.Given("You are Ada."), MaxDuration: callwright.Given(time.Minute),
	})
	got, err := s.Answering(t.Context(), "a", number)
	want := agents.PathwayRef{ID: "p1", Version: pathway.Selector{Number: 4}}
	if err != nil || got.Task != "" || got.Pathway != want || got.Persona != "You are Ada." {
		t.Errorf("got %+v, %v", got, err)
	}
}

// TestModels checks that an agent can name only known models.
func TestModels(t *testing.T) {
	t.Parallel()
	s := registered(t, func(c *agents.Config) {
		c.Model = llm.Selection{Default: &agentstest.Model{Called: "small"}, Others: map[string]llm.Model{"strict": &agentstest.Model{Called: "large-2"}}}
	})
	for name, known := range map[string]bool{"": true, "base": true, "turbo": true, "small": true, "strict": true, "gpt-9": false} {
		_, err := s.CreateAgent(t.Context(), "a", agents.WebAgent{Agent: agents.Agent{Task: "Sell.", Model: name}})
		e, refused := errors.AsType[*callwright.Error](err)
		if known && err != nil || !known && (!refused || e.Code != callwright.CodeBadRequest || e.Field != "model") {
			t.Errorf("%q: %v", name, err)
		}
	}
}
