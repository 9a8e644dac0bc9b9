package httpapi_test

import (
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	v3 "github.com/pb33f/libopenapi/datamodel/high/v3"
	"go.uber.org/goleak"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/internal/contracttest"
	"github.com/callwright/callwright/transport/httpapi"
	"github.com/callwright/callwright/triage"
)

// TestMain runs the tests, and fails if a goroutine is still running afterwards.
func TestMain(m *testing.M) { goleak.VerifyTestMain(tests{m}) }

// tests runs the tests of this package. It fails if an example error of the contract was received by no test, unless the example is
// unreachable, or if the envelope of an operation's success or error was not checked. Examples must equal real answers of the server,
// except for ids and numbers.
type tests struct{ *testing.M }

// Run runs the tests. It looks for missing examples and envelopes only if all tests ran and passed, and not in short mode.
func (m tests) Run() int {
	code := m.M.Run()
	partial := false
	for _, name := range []string{"test.run", "test.skip", "test.list", "test.bench", "test.fuzz"} {
		partial = partial || flag.Lookup(name).Value.String() != ""
	}
	if code != 0 || partial || testing.Short() {
		return code
	}
	for _, name := range contracttest.Unseen() {
		if !slices.Contains(unreachable, name) {
			fmt.Fprintf(os.Stderr, "no answer in any test of this package is the example %s of the contract\n", name)
			code = 1
		}
	}
	for _, name := range contracttest.UnseenByOperation() {
		if operation, _, _ := strings.Cut(name, " "); built()[operation] {
			fmt.Fprintf(os.Stderr, "no answer in any test of this package is the example %s of the contract\n", name)
			code = 1
		}
	}
	for _, name := range unmarked() {
		fmt.Fprintf(os.Stderr, "no answer in any test of this package shows the envelope of %s\n", name)
		code = 1
	}
	return code
}

// unreachable lists examples that these tests cannot cause, because they require hundreds of objects or concurrent changes of an object.
// The domains' tests cover them.
var unreachable = []string{
	"AgentRefused.limit", "PathwayChatLimit.limit", "PathwayChatLimit.turns", "TestReplayLimit.chats", "PathwayLimit.limit", "PathwayVersionLimit.limit",
	"TriageAttachConflict.limit", "TriageFlagConflict.limit", "TriageRelationConflict.limit",
	"PersonaVersionLimit.conflict", "PersonaNotPromoted.conflict", "PersonaNoDraft.conflict",
	"CallEnded.conflict", "VoiceChanged.conflict", "PortCancelRefused.conflict", "PortLetterEnded.conflict", "Conflict.conflict", "ConflictB.conflict", "PathwayChatBusy.busy", "PathwayNotPublished.conflict",
}

// plain returns an operation's request with the contract's examples and the house's key.
func plain(t *testing.T, h *house, method, path string, op *v3.Operation) *http.Request {
	t.Helper()
	r := request(t, method, path, op)
	r.Header.Set("Authorization", h.key)
	return r
}

// TestEveryOperationGivesItsErrors checks the common errors of each operation, such as a missing key or an unavailable store.
func TestEveryOperationGivesItsErrors(t *testing.T) {
	t.Parallel()
	h := open(t)
	down := open(t, func(c *httpapi.Config) { c.Access = lockedDoor{callwright.ErrUnavailable} })
	every(func(method, path string, op *v3.Operation) {
		check := func(status int, server http.Handler, change func(*http.Request)) {
			t.Helper()
			named := op.Responses.Codes.GetOrZero(fmt.Sprint(status))
			if named == nil || strings.HasPrefix(path, "/loa/") { // pages for signers: see TestMistakesOfSigners
				return
			}
			r := plain(t, h, method, path, op)
			change(r)
			answer := httptest.NewRecorder()
			server.ServeHTTP(answer, r)
			if answer.Code == http.StatusNotImplemented && !built()[op.OperationId] { // answered before the request is read
				return
			}
			if answer.Code != status {
				t.Errorf("%s: got %d %s, want %d", op.OperationId, answer.Code, answer.Body, status)
				return
			}
			keepsContract(t, r, answer)
		}
		check(http.StatusUnauthorized, h, func(r *http.Request) { r.Header.Del("Authorization") })
		if strings.HasPrefix(path, "/v1/sip") {
			check(http.StatusForbidden, h, func(r *http.Request) { r.Header.Set("Authorization", h.poor) })
		}
		check(http.StatusBadRequest, h, func(r *http.Request) { r.URL.RawQuery += "&x=%00" })
		check(http.StatusUnsupportedMediaType, h, func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") })
		check(http.StatusRequestEntityTooLarge, h, func(r *http.Request) {
			text := strings.Repeat(" ", 1<<20+1)
			if strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/") {
				r.Header.Set("Content-Type", "multipart/form-data; boundary=b")
				text = "--b\r\nContent-Disposition: form-data; name=\"x\"; filename=\"x\"\r\n\r\n" +
					strings.Repeat("x", 10<<20+64<<10) + "\r\n--b--\r\n"
			}
			r.Body, r.ContentLength = io.NopCloser(strings.NewReader(text)), int64(len(text))
		})
		check(http.StatusServiceUnavailable, down, func(*http.Request) {})
	})
}

// TestOperationsThatAreNotBuiltSaySo checks that exactly the operations that the contract marks as not built answer 501.
func TestOperationsThatAreNotBuiltSaySo(t *testing.T) {
	t.Parallel()
	h := open(t)
	every(func(method, path string, op *v3.Operation) {
		response := op.Responses.Codes.GetOrZero("501")
		named := response != nil && strings.HasSuffix(response.GoLow().GetReference(), "/NotImplemented")
		answer := httptest.NewRecorder()
		h.ServeHTTP(answer, plain(t, h, method, path, op))
		if built := answer.Code != http.StatusNotImplemented; built == named {
			t.Errorf("%s: answers %d %s; the contract says that it is not built: %v", op.OperationId, answer.Code, answer.Body, named)
		}
	})
}

// TestErrorsOfRareStates checks errors that only rare states cause, for example a trunk in one direction, an unknown region, or a pathway
// without a graph.
func TestErrorsOfRareStates(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.want(200, "POST", "/v1/sip/attach", `{"phone_number":"`+ourNumber+`","service":"sip","directions":[
		{"type":"outbound","sip_endpoint":"sip:pbx.example.com:5061;transport=tls"}]}`)
	h.want(404, "POST", "/v1/sip/detach", `{"phone_number":"`+ourNumber+`","service":"sip","directions":[{"type":"inbound"}]}`)
	h.organization(func(o *callwright.Organization) { o.Region = "us9" })
	h.want(503, "GET", "/v1/sip/firewall-ips", "")

	h.ended("c1", time.Now().UTC())
	h.want(404, "GET", "/v1/recordings/c1", "")

	id := h.want(201, "POST", "/v1/pathway/create", `{"name":"Empty"}`)["pathway_id"].(string)
	h.want(409, "POST", "/v1/pathway/"+id+"/version/0/fork", `{"name":"One"}`)
	h.want(409, "DELETE", "/v1/pathway/"+id+"/version/0", "")
	h.want(404, "POST", "/v1/pathway/chat/create", `{"pathway_id":"`+id+`","pathway_version":7}`)
}

// TestErrorsOfIssuesInRareStates checks the errors of operations that an issue's state, a limit or a missing Analyst does not allow.
func TestErrorsOfIssuesInRareStates(t *testing.T) {
	t.Parallel()
	h := open(t)
	one, other := h.issue(), h.issue()
	h.data(http.StatusCreated, "POST", "/"+one+"/relations", `{"related_issue_id":"`+other+`","relation_type":"duplicate_of"}`)
	h.refused(409, "conflict", "", "POST", "/"+other+"/merge", `{"into":"`+one+`"}`)
	for range triage.MaxOpenSessions {
		h.data(http.StatusCreated, "POST", "/"+one+"/agent-sessions", `{"agent_name":"Fixer"}`)
	}
	h.refused(409, "invalid_state", "", "POST", "/"+one+"/agent-sessions", `{"agent_name":"Fixer"}`)
	for range 10 {
		h.data(http.StatusAccepted, "POST", "/"+h.issue()+"/analysis", `{}`)
	}
	h.refused(429, "TOO_MANY_REQUESTS", "", "POST", "/"+h.issue()+"/analysis", `{}`)
	quiet := h.again(func(c *triage.Config) { c.Analyst = nil })
	quiet.refused(501, "not_implemented", "", "POST", "/"+one+"/analysis", `{}`)
}
