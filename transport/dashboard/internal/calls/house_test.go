package calls_test

import (
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/filestore"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/agentstore"
	"github.com/callwright/callwright/adapters/memstore/sipstore"
	"github.com/callwright/callwright/adapters/scripted"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/sip/calllog"
	"github.com/callwright/callwright/transport/dashboard"
	"github.com/callwright/callwright/transport/dashboard/pagetest"
)

const org = callwright.OrgID("org")

// created is the default creation time of calls in a test.
var created = time.Date(2026, 3, 2, 9, 15, 0, 0, time.UTC)

// house is the dashboard of an organization, with its calls in memory. Nothing places the calls that it queues.
type house struct {
	*httptest.Server
	t       *testing.T
	service *call.Service
	calls   agentstore.Calls
	log     sipstore.CallLog
	agents  *agents.Service
	files   *filestore.Recordings
	client  *http.Client
}

// open starts the dashboard. change may modify the configuration of the call service.
func open(t *testing.T, change ...func(*call.Config)) *house {
	t.Helper()
	store := memstore.New()
	files := must(filestore.New(t.TempDir()))
	t.Cleanup(func() { _ = files.Close() })
	h := &house{t: t, calls: agentstore.Calls{Store: store}, log: sipstore.CallLog{Store: store}, files: files}
	h.agents = must(agents.New(agents.Config{
		Numbers: agentstore.Numbers{Store: store}, WebAgents: agentstore.WebAgents{Store: store}, Atomic: store,
	}))
	work := memstore.NewWork(store, nil)
	config := call.Config{
		Store: h.calls, Leases: memstore.Leases{Store: store}, Atomic: store, Work: work,
		Line: agentstest.NewLine(agentstest.PhoneConfig{}), Routes: routes{}, Model: scripted.New(), Recordings: files,
		Agents: h.agents, Recognizer: &agentstest.Recognizer{}, Synthesizer: &agentstest.Synthesizer{}, Node: "n1",
	}
	for _, c := range change {
		c(&config)
	}
	h.service = must(call.New(config))
	log := must(calllog.New(calllog.Config{Store: h.log, Leases: memstore.Leases{Store: store}, Monitor: monitor{}, Node: "n1"}))
	site := must(dashboard.New(dashboard.Config{Authenticator: somebody{}, Calls: h.service, CallLog: log}))
	t.Cleanup(func() { _ = site.Close(t.Context()) })
	h.Server = httptest.NewServer(site)
	t.Cleanup(h.Close)
	h.client = &http.Client{Transport: new(http.Transport), Jar: must(cookiejar.New(nil))}
	return h
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// call stores a completed call after change has modified it.
func (h *house) call(id string, change func(*call.Call)) call.Call {
	h.t.Helper()
	at := created
	c := call.Call{
		ID: id, Org: org, From: "+14155550100", To: "+14155550123", Queue: call.QueueComplete, Status: call.StatusCompleted,
		CreatedAt: at, StartedAt: new(at.Add(4 * time.Second)), EndedAt: new(at.Add(49 * time.Second)), AnsweredBy: call.AnsweredByHuman,
		Ending: &call.HangupReason{Cause: call.CauseRemoteHangup, SIPCode: 200, ByPeer: true}, ModelUsed: "scripted",
		Agent: agents.Agent{Task: "Ask for the day.", MaxDuration: time.Hour}, Version: 1,
	}
	change(&c)
	if err := h.calls.Insert(h.t.Context(), c); err != nil {
		h.t.Fatal(err)
	}
	return c
}

// line appends a line to the transcript of a call.
func (h *house) line(id string, e call.Entry) {
	h.t.Helper()
	e.CreatedAt = created
	if err := h.calls.Append(h.t.Context(), org, id, e); err != nil {
		h.t.Fatal(err)
	}
}

// want requests a page, checks its status and its texts, and returns it. The page must not contain texts that begin with "!"; want looks
// for them without the "!".
func (h *house) want(status int, path string, texts ...string) string {
	h.t.Helper()
	return h.check(pagetest.Send(h.t, h.client, h.URL+path, nil), status, path, texts...)
}

func (h *house) check(r pagetest.Answer, status int, path string, texts ...string) string {
	h.t.Helper()
	body := strings.ReplaceAll(r.Body, "&#43;", "+")
	if r.Status != status {
		h.t.Errorf("%s: %d, want %d\n%s", path, r.Status, status, body)
	}
	for _, text := range texts {
		if absent, ok := strings.CutPrefix(text, "!"); ok == strings.Contains(body, absent) {
			h.t.Errorf("%s: %q\n%s", path, text, body)
		}
	}
	return body
}

var tokenPattern = regexp.MustCompile(`name="csrf" value="([^"]+)"`)

// post sends a form with the CSRF token of the page at the path from, and checks the resulting page as the method want does.
func (h *house) post(from, to string, form url.Values, status int, texts ...string) string {
	h.t.Helper()
	form.Set("csrf", tokenPattern.FindStringSubmatch(h.want(http.StatusOK, from))[1])
	return h.check(pagetest.Send(h.t, h.client, h.URL+to, form), status, to, texts...)
}
