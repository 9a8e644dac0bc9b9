package httpapi_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/orgstore"
	"github.com/callwright/callwright/adapters/memstore/triagestore"
	"github.com/callwright/callwright/internal/contracttest"
	"github.com/callwright/callwright/transport/httpapi"
	"github.com/callwright/callwright/transport/httpapi/triageapi"
	"github.com/callwright/callwright/triage"
	"github.com/callwright/callwright/triage/triagetest"
)

// triageFakes holds the fakes of a house's issues.
type triageFakes struct {
	resolver *triagetest.Resolver // knows the calls that can be attached
	clock    *movedClock          // clock of the issues
	triage   *triage.Service
}

// opened is the initial time of a house's clock, in the format of answers.
const opened = "2026-05-04T03:02:01.123Z"

// issues returns the service of issues, with a fixed clock and a fake resolver of calls.
func (h *house) issues(work callwright.Work, change ...func(*triage.Config)) *triage.Service {
	h.resolver, h.clock = new(triagetest.Resolver), &movedClock{must(time.Parse(time.RFC3339, opened))}
	c := triage.Config{
		Store: triagestore.Store{Store: h.store}, Atomic: h.store, Work: work, Analyst: new(triagetest.Analyst),
		Resolvers: map[triage.ResourceType]triage.ResourceResolver{triage.ResourceCall: h.resolver},
		Cursors:   must(triage.NewCursors(1, map[byte][]byte{1: bytes.Repeat([]byte("k"), 32)})),
		Runtime:   callwright.Runtime{Clock: h.clock, Logger: h.logger},
	}
	for _, f := range change {
		f(&c)
	}
	h.triage = must(triage.New(c))
	h.t.Cleanup(h.triage.Close)
	return h.triage
}

// again returns a second API over the same store. It serves only issues, with a changed configuration.
func (h *house) again(change func(*triage.Config)) *house {
	h.t.Helper()
	other := &house{t: h.t, store: h.store, access: h.access, org: h.org, key: h.key, logger: h.logger}
	other.Handler = contracttest.Handler(h.t, must(httpapi.New(httpapi.Config{
		Access: h.access, Atomic: h.store, Idempotency: orgstore.IdempotencyStore{Store: h.store}, Runtime: callwright.Runtime{Logger: h.logger},
		Areas: []httpapi.Area{triageapi.New(triageapi.Config{Issues: other.issues(memstore.NewWork(h.store, nil), change)})},
	})))
	return other
}

// issue creates an issue and returns its id.
func (h *house) issue() string {
	h.t.Helper()
	return h.data(http.StatusCreated, "POST", "", `{"title":"Agent books a closed day"}`)["id"].(string)
}

// data makes a request below /v1/triage/issues and returns the data of its answer.
func (h *house) data(status int, method, target, body string, headers ...header) map[string]any {
	h.t.Helper()
	data, _ := h.answer(status, method, target, body, headers...).(map[string]any)
	return data
}

func (h *house) answer(status int, method, target, body string, headers ...header) any {
	h.t.Helper()
	answer := h.want(status, method, "/v1/triage/issues"+target, body, headers...)
	if answer["errors"] != nil {
		h.t.Errorf("%s %s: a success with errors %v", method, target, answer["errors"])
	}
	return answer["data"]
}

// refused makes a request below /v1/triage/issues, and checks that its answer is exactly one error with a status, a code and a path.
func (h *house) refused(status int, code, path, method, target, body string, headers ...header) {
	h.t.Helper()
	answer := h.want(status, method, "/v1/triage/issues"+target, body, headers...)
	list, _ := answer["errors"].([]any)
	if data, ok := answer["data"]; !ok || data != nil || len(answer) != 2 || len(list) != 1 {
		h.t.Fatalf("%s %s: %v is not the envelope of an error", method, target, answer)
	}
	first, _ := list[0].(map[string]any)
	got, _ := first["path"].(string)
	if message, _ := first["message"].(string); first["error"] != code || got != path || !strings.HasPrefix(message, path) || message == "" {
		h.t.Errorf("%s %s: got %v, want %s about %q", method, target, first, code, path)
	}
}

// done makes a request below /v1/triage/issues, and checks that its answer is 204 without a body.
func (h *house) done(method, target string, headers ...header) {
	h.t.Helper()
	if answer := h.do(method, "/v1/triage/issues"+target, "", headers...); answer.Code != http.StatusNoContent || answer.Body.Len() > 0 {
		h.t.Errorf("%s %s: %d %s", method, target, answer.Code, answer.Body)
	}
}

// colleague creates another key of the house's organization, and returns it as a header.
func (h *house) colleague() header {
	h.t.Helper()
	key := must(h.access.CreateKey(h.t.Context(), h.org, "colleague", 0))
	return header{"Authorization", string(key.Key)}
}

// call adds a call of an organization to the resolver.
func (h *house) call(org callwright.OrgID, id string) {
	h.resolver.Add(org, id, triage.Item{Title: "Call to Ada", Metadata: map[string]any{"status": "completed"}}, triage.Evidence{})
}

// attached creates an issue with an attached call, and returns the ids of the issue and the attachment.
func (h *house) attached() (issue, link string) {
	h.t.Helper()
	h.call(h.org, "c1")
	issue = h.issue()
	link = h.data(http.StatusCreated, "POST", "/"+issue+"/resources", `{"resource_type":"call","resource_id":"c1"}`)["id"].(string)
	return issue, link
}

// types returns the types of the entries in an issue's feed, newest first.
func (h *house) types(issue string) []string {
	h.t.Helper()
	var types []string
	for _, e := range h.data(http.StatusOK, "GET", "/"+issue+"/activity", "")["items"].([]any) {
		types = append(types, e.(map[string]any)["type"].(string))
	}
	return types
}

// like compares an answer with JSON. names alternates placeholders, which begin with $, and the values that replace them.
func like(t *testing.T, got any, want string, names ...string) {
	t.Helper()
	var value any
	if err := json.Unmarshal([]byte(strings.NewReplacer(names...).Replace(want)), &value); err != nil {
		t.Fatalf("%v in %s", err, want)
	}
	if !reflect.DeepEqual(got, value) {
		t.Errorf("got %s\nwant %s", must(json.MarshalIndent(got, "", " ")), must(json.MarshalIndent(value, "", " ")))
	}
}
