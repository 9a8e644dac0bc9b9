package httpapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/pb33f/libopenapi"
	validator "github.com/pb33f/libopenapi-validator"
	v3 "github.com/pb33f/libopenapi/datamodel/high/v3"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/access"
	"github.com/callwright/callwright/adapters/filestore"
	"github.com/callwright/callwright/adapters/join"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/agentstore"
	"github.com/callwright/callwright/adapters/memstore/agentteststore"
	"github.com/callwright/callwright/adapters/memstore/orgstore"
	"github.com/callwright/callwright/adapters/scripted"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/persona"
	"github.com/callwright/callwright/agenttest"
	"github.com/callwright/callwright/agenttest/agenttesttest"
	"github.com/callwright/callwright/agenttest/engine"
	"github.com/callwright/callwright/agenttest/group"
	"github.com/callwright/callwright/agenttest/run"
	"github.com/callwright/callwright/agenttest/tornado"
	"github.com/callwright/callwright/delivery"
	"github.com/callwright/callwright/internal/contracttest"
	"github.com/callwright/callwright/speech"
	"github.com/callwright/callwright/transport/httpapi"
	"github.com/callwright/callwright/transport/httpapi/agentsapi"
	"github.com/callwright/callwright/transport/httpapi/agenttestapi"
	"github.com/callwright/callwright/transport/httpapi/callsapi"
	"github.com/callwright/callwright/transport/httpapi/pathwaysapi"
	"github.com/callwright/callwright/transport/httpapi/portingapi"
	"github.com/callwright/callwright/transport/httpapi/reference"
	"github.com/callwright/callwright/transport/httpapi/sipapi"
	"github.com/callwright/callwright/transport/httpapi/speechapi"
	"github.com/callwright/callwright/transport/httpapi/triageapi"
	"github.com/callwright/callwright/transport/httpapi/webhooksapi"
	"github.com/callwright/callwright/triage"
)

// house serves the API over real services with stores in memory. Queued calls are not placed.
type house struct {
	http.Handler // fails the test if an answer violates the contract
	unchecked    http.Handler
	t            *testing.T
	store        *memstore.Store
	calls        agentstore.Calls
	files        *filestore.Recordings
	access       *access.Service
	org          callwright.OrgID
	key          string // key of org, which has the entitlement SIP
	poor         string // key of an organization without the entitlement SIP
	log          *bytes.Buffer
	logger       *slog.Logger // writes to log
	ready        error        // error that Ready of the call service returns
	areas        services
	gate         *gate            // decides on promotions of pathways
	writer       agentstest.Model // drafts scenarios
	slow         slowReads        // blocks heavy reads of runs
	sipFakes
	speechFakes
	portingFakes
	triageFakes
}

// These constants are numbers that the tests use. ourNumber belongs to the house's organization and may be attached.
const (
	ourNumber   = "+14155550100"
	theirNumber = "+14155550123"
)

const publicURL = "https://voice.example.com"

// services holds the services of a house's areas.
type services struct {
	calls    *call.Service
	agents   *agents.Service
	trunks   sipapi.Config
	pathways *pathway.Service
	personas *persona.Service
	issues   *triage.Service
	tests    *agenttest.Service
	tornados *tornado.Service
	ports    portingapi.Config
	speech   *speech.Service
	webhooks *delivery.Log
}

// all returns every area of the contract.
func (s services) all() []httpapi.Area {
	return []httpapi.Area{
		callsapi.New(callsapi.Config{Calls: s.calls, URL: publicURL}), agentsapi.New(agentsapi.Config{Agents: s.agents, Personas: s.personas}),
		sipapi.New(s.trunks), pathwaysapi.New(pathwaysapi.Config{Pathways: s.pathways}), triageapi.New(triageapi.Config{Issues: s.issues}),
		portingapi.New(s.ports), agenttestapi.New(agenttestapi.Config{Tests: s.tests, Tornados: s.tornados}),
		webhooksapi.New(webhooksapi.Config{Deliveries: s.webhooks}), speechapi.New(speechapi.Config{Speech: s.speech, URL: publicURL}),
	}
}

// open returns a house that serves all areas of the reference server. change may alter the API's configuration.
func open(t *testing.T, change ...func(*httpapi.Config)) *house {
	t.Helper()
	store := memstore.New()
	files, err := filestore.New(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = files.Close() })
	h := &house{t: t, store: store, calls: agentstore.Calls{Store: store}, files: files, log: new(bytes.Buffer)}
	h.logger = slog.New(slog.NewJSONHandler(h.log, nil))
	h.access = must(access.New(access.Config{
		Store: orgstore.Tenants{Store: store}, Atomic: store, Secret: callwright.Secret(strings.Repeat("s", 32)),
	}))
	h.org, h.key = h.tenant("rich", callwright.EntitlementSIP)
	_, h.poor = h.tenant("poor")

	work := memstore.NewWork(store, nil)
	h.gate = &gate{pathway.Verdict{State: pathway.GateOpen}}
	pathwayService := must(pathway.New(pathway.Config{
		Store: agentstore.Pathways{Store: store}, Chats: agentstore.Chats{Store: store}, Atomic: store, Work: work, Gate: h.gate,
		Interpreter: &pathway.Interpreter{Model: scripted.New(), Requests: &agentstest.Requests{Check: notifier{}.CheckURL}},
	}))
	personaService := must(persona.New(persona.Config{
		Store: agentstore.Personas{Store: store}, Atomic: store, Work: work, Pathways: pathwayService, Requests: notifier{},
		Numbers: agentstore.Numbers{Store: store},
	}))
	agentService := must(agents.New(agents.Config{
		Numbers: agentstore.Numbers{Store: store}, WebAgents: agentstore.WebAgents{Store: store}, Atomic: store,
		Webhooks: notifier{}, Requests: notifier{}, Pathways: pathwayService, Personas: personaService, Numbering: orgstore.Tenants{Store: store},
	}))
	sipService := h.trunks(agentService, work)
	callService := must(call.New(call.Config{
		Store: h.calls, Leases: memstore.Leases{Store: store}, Atomic: store, Work: work, Line: agentstest.NewLine(agentstest.PhoneConfig{}),
		Routes: sipService, Agents: agentService, Numbering: orgstore.Tenants{Store: store}, Model: silent{}, Recordings: files, Notifier: notifier{},
		Recognizer: &agentstest.Recognizer{}, Synthesizer: &agentstest.Synthesizer{}, Node: "n1",
		Pathways: pathwayService, Requests: &agentstest.Requests{Check: notifier{}.CheckURL}, AMD: func(int, string) call.AMD { return nil },
		Ready: func() error { return h.ready },
	}))
	h.areas = services{
		calls:    callService,
		agents:   agentService,
		trunks:   sipapi.Config{Trunks: sipService, Calls: h.sipCalls(), Setup: h.sipSetup(sipService), Discoveries: h.discoveries(), TestCalls: h.testCalls(sipService, work), Proofs: h.numberProofs(sipService, work)},
		pathways: pathwayService,
		personas: personaService,
		issues:   h.issues(work),
		tests: must(agenttest.New(agenttest.Config{
			Store: slowRuns{h.testStore(), &h.slow}, Atomic: store, Work: work, Leases: memstore.Leases{Store: store}, Node: "n1", Pathways: pathwayService,
			Personas: personaService, Chats: pathwayService,
			Engine: must(engine.New(engine.Config{Runner: &agenttesttest.Runner{}, Model: scripted.New()})),
			URLs:   notifier{}, Notifier: silentNotifier{}, Transcripts: join.Transcripts{Store: h.calls}, Writer: &h.writer, Analyst: &h.writer, Documents: pathwayService,
		})),
	}
	h.areas.tornados = h.tornadoService(work)
	h.areas.ports = h.ports(work)
	h.areas.speech = h.speech(work)
	h.areas.webhooks = must(delivery.NewLog(delivery.LogConfig{
		Store: orgstore.Deliveries{Store: store}, Endpoints: h.endpoints(), Atomic: store, Work: work,
		Organizations: orgstore.Tenants{Store: store}, Mailer: &h.mails,
	}))
	config := httpapi.Config{
		Access: h.access, Atomic: store, Idempotency: orgstore.IdempotencyStore{Store: store}, Areas: h.areas.all(),
		Reference: reference.Handler(publicURL), Runtime: callwright.Runtime{Logger: h.logger},
	}
	for _, c := range change {
		c(&config)
	}
	h.unchecked = must(httpapi.New(config))
	h.Handler = contracttest.Handler(t, h.unchecked)
	return h
}

// testStore returns the store of scenarios and runs. No worker executes the runs.
func (h *house) testStore() agentteststore.Store { return agentteststore.Store{Store: h.store} }

// endpoints returns the store of webhook hosts whose deliveries fail.
func (h *house) endpoints() orgstore.Endpoints { return orgstore.Endpoints{Store: h.store} }

// answers returns the store of first answers to requests with an Idempotency-Key.
func (h *house) answers() callwright.IdempotencyStore {
	return orgstore.IdempotencyStore{Store: h.store}
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// tenant creates an organization with entitlements, and returns its id and a key.
func (h *house) tenant(name string, rights ...callwright.Entitlement) (callwright.OrgID, string) {
	h.t.Helper()
	org, err := h.access.CreateOrganization(h.t.Context(), callwright.OrgID(name), name, rights...)
	if err != nil {
		h.t.Fatal(err)
	}
	key, err := h.access.CreateKey(h.t.Context(), org.ID, "test", 0)
	if err != nil {
		h.t.Fatal(err)
	}
	return org.ID, string(key.Key)
}

// attach attaches ourNumber in both directions.
func (h *house) attach() {
	h.t.Helper()
	answer := h.do("POST", "/v1/sip/attach", `{"phone_number":"`+ourNumber+`","service":"sip","directions":[
		{"type":"outbound","sip_endpoint":"sip:pbx.example.com:5061;transport=tls"},{"type":"inbound"}]}`)
	if answer.Code != http.StatusOK || strings.Contains(answer.Body.String(), `"error"`) {
		h.t.Fatalf("attach: %d %s", answer.Code, answer.Body)
	}
}

// header is a header field of a request. An empty value removes the field.
type header struct{ name, value string }

// do makes a request with the house's key, unless headers replace it. It checks that the answer has a request id and, for a path below
// /v1/, that it conforms to the contract.
func (h *house) do(method, target, body string, headers ...header) *httptest.ResponseRecorder {
	h.t.Helper()
	request := httptest.NewRequestWithContext(h.t.Context(), method, target, strings.NewReader(body))
	request.Header.Set("Authorization", "Bearer "+h.key)
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	for _, name := range headers {
		request.Header.Del(name.name)
		if name.value != "" {
			request.Header.Set(name.name, name.value)
		}
	}
	answer := httptest.NewRecorder()
	h.ServeHTTP(answer, request)
	if strings.HasPrefix(target, "/v1/") {
		keepsContract(h.t, request, answer)
	}
	if answer.Header().Get("X-Request-ID") == "" {
		h.t.Errorf("%s %s: no X-Request-ID", method, target)
	}
	return answer
}

// want makes a request, checks the status of the answer, and decodes its body.
func (h *house) want(status int, method, target, body string, headers ...header) map[string]any {
	h.t.Helper()
	var value map[string]any
	h.decode(status, method, target, body, &value, headers...)
	return value
}

// decode makes a request, checks the status of the answer, and decodes its body into a value.
func (h *house) decode(status int, method, target, body string, into any, headers ...header) {
	h.t.Helper()
	answer := h.do(method, target, body, headers...)
	if answer.Code != status {
		h.t.Fatalf("%s %s: got %d %s, want %d", method, target, answer.Code, answer.Body, status)
	}
	if err := json.Unmarshal(answer.Body.Bytes(), into); err != nil {
		h.t.Fatalf("%s %s: %v in %s", method, target, err, answer.Body)
	}
}

// contract is openapi.yaml as parsed by a library that the generator does not use.
var contract = sync.OnceValues(func() (*v3.Document, validator.Validator) {
	document := must(libopenapi.NewDocument([]byte(withoutDiscriminators(callwright.OpenAPI))))
	model := must(document.BuildV3Model())
	check, problems := validator.NewValidator(document)
	if len(problems) > 0 {
		panic(errors.Join(problems...))
	}
	return &model.Model, check
})

// withoutDiscriminators removes the discriminators, which the validator does not support. The schemas' constants still distinguish the
// alternatives.
func withoutDiscriminators(text string) string {
	var kept []string
	within := -1 // indentation of the discriminator that is being removed, or -1
	for line := range strings.Lines(text) {
		indent := len(line) - len(strings.TrimLeft(line, " "))
		if within >= 0 && indent > within {
			continue
		}
		within = -1
		if strings.TrimSpace(line) == "discriminator:" {
			within = indent
			continue
		}
		kept = append(kept, line)
	}
	return strings.Join(kept, "")
}

// validating guards the validator, which is not safe for concurrent use.
var validating sync.Mutex

// keepsContract checks that a JSON answer conforms to the contract. It ignores the statuses 404 and 405.
func keepsContract(t *testing.T, request *http.Request, answer *httptest.ResponseRecorder) {
	t.Helper()
	if answer.Code == http.StatusNotFound || answer.Code == http.StatusMethodNotAllowed ||
		!strings.HasPrefix(answer.Header().Get("Content-Type"), "application/json") {
		return
	}
	checkEnvelope(t, request, answer)
	_, check := contract()
	response := answer.Result()
	response.Body = io.NopCloser(bytes.NewReader(answer.Body.Bytes()))
	validating.Lock() // the validator modifies the schemas
	ok, problems := check.ValidateHttpResponse(request, response)
	validating.Unlock()
	if !ok {
		for _, p := range problems {
			t.Errorf("%s %s: %s: %s", request.Method, request.URL, p.Message, p.Reason)
			for _, e := range p.SchemaValidationErrors {
				t.Errorf("  %s: %s in %s", e.FieldPath, e.Reason, answer.Body)
			}
		}
	}
}

// at returns the value at a path of names and indexes in decoded JSON, or nil if an object lacks the name. It fails the test if a name
// leads into a value that is no object, or an index beyond a list.
func at(t *testing.T, value any, path ...any) any {
	t.Helper()
	for i, step := range path {
		switch step := step.(type) {
		case string:
			object, ok := value.(map[string]any)
			if !ok {
				t.Fatalf("%v of %v: not an object", path[:i+1], value)
			}
			value = object[step]
		case int:
			list, ok := value.([]any)
			if !ok || step >= len(list) {
				t.Fatalf("%v of %v: not a list of that length", path[:i+1], value)
			}
			value = list[step]
		}
	}
	return value
}

// silent is a model for calls, which the tests never run.
type silent struct{}

func (silent) Name() string { return "silent" }

// Unfollowed returns a warning for tasks that contain "freely".
func (silent) Unfollowed(_, task string) string {
	if strings.Contains(task, "freely") {
		return "a free task is not followed"
	}
	return ""
}

// Unanswered returns the reason why analysis of calls is not supported, or "" for any other task.
func (silent) Unanswered(_ string, task llm.Task) string {
	if task == llm.TaskAnalyze {
		return "a language model is required"
	}
	return ""
}

func (silent) Unchosen(string, llm.Option, []llm.Field) string { return "" }

func (silent) Reply(context.Context, llm.ReplyRequest) iter.Seq2[llm.ReplyPart, error] {
	return func(func(llm.ReplyPart, error) bool) {}
}

// notifier accepts https URLs and discards messages.
type notifier struct{}

func (notifier) CheckURL(url string) error {
	if !strings.HasPrefix(url, "https://") {
		return callwright.Invalid("", "must begin with https://")
	}
	return nil
}

func (notifier) Notify(
	context.Context, callwright.OrgID, string, call.Call, []call.Entry, []pathway.Log,
) error {
	return nil
}

func (notifier) NotifyEvent(context.Context, callwright.OrgID, string, call.Call, call.Notice) error {
	return nil
}

func (silent) Answer(context.Context, llm.Question) (llm.Answer, error) {
	return llm.Answer{}, &llm.Failure{Class: llm.ClassUnsupported, Message: "silent"}
}

// silentNotifier discards the notices of ended tests.
type silentNotifier struct{}

func (silentNotifier) RunEnded(context.Context, string, run.Run) error { return nil }

func (silentNotifier) BatchEnded(context.Context, string, group.Batch, []run.Run) error {
	return nil
}
