package contracttest_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/callwright/callwright/internal/contracttest"
)

func TestFindPrefersFixedSegments(t *testing.T) {
	t.Parallel()
	for target, want := range map[string]string{
		"GET /v1/calls":                         "listCalls",
		"GET /v1/calls/c1":                      "getCall",
		"GET /v1/agent-testing/tornado/active":  "getActiveTornado",
		"POST /v1/pathway/create":               "createPathway",
		"POST /v1/pathway/p1":                   "updatePathway",
		"POST /v1/pathway/chat/create":          "createPathwayChat",
		"POST /v1/pathway/chat/c1":              "sendPathwayChatMessage",
		"POST /v1/inbound/%2B14155550100":       "updateInboundNumber",
		"GET /v1/triage/issues/a%2Fb/activity":  "getIssueActivity",
		"DELETE /v1/calls":                      "",
		"GET /v1/calls/":                        "",
		"GET /v1/triage/issues/1/activity/more": "",
	} {
		method, path, _ := strings.Cut(target, " ")
		if o, _ := contracttest.Find(method, path); o.ID != want {
			t.Errorf("%s: got %q, want %q", target, o.ID, want)
		}
	}
}

const (
	callNotFound  = `{"data":null,"errors":[{"error":"NOT_FOUND","message":"call not found"}]}`
	issueNotFound = `{"data":null,"errors":[{"error":"not_found","message":"Issue not found"}]}`
)

func TestCheckRefusesWhatTheContractDoesNotName(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		method, target string
		status         int
		body           string
		refused        string
	}{
		"named":                    {"GET", "/v1/calls/c1", 404, callNotFound, ""},
		"named, envelope A":        {"GET", "/v1/triage/issues/i1", 404, issueNotFound, ""},
		"success":                  {"GET", "/v1/calls/c1", 200, "", ""},
		"fault of the server":      {"GET", "/v1/calls/c1", 500, "", ""},
		"area that is not served":  {"GET", "/v1/calls/c1", 501, "", ""},
		"no path of the contract":  {"GET", "/v2", 404, "", ""},
		"status without a name":    {"GET", "/v1/calls/c1", 409, callNotFound, "getCall answers 409, which the contract does not name"},
		"code without an example":  {"GET", "/v1/calls/c1", 404, strings.ReplaceAll(callNotFound, "NOT_F", "NOT_P"), "getCall answers 404 NOT_POUND"},
		"code in the wrong letter": {"GET", "/v1/triage/issues/i1", 404, strings.ReplaceAll(issueNotFound, "not_found", "NOT_FOUND"), "getIssue answers 404 NOT_FOUND"},
		"no body":                  {"GET", "/v1/calls/c1", 404, "", "getCall answers 404"},
	} {
		err := contracttest.Check(httptest.NewRequestWithContext(t.Context(), c.method, c.target, nil), c.status, []byte(c.body))
		if (err != nil) != (c.refused != "") || err != nil && !strings.HasPrefix(err.Error(), c.refused) {
			t.Errorf("%s: got %v, want %q", name, err, c.refused)
		}
	}
}

// failures is a testing.TB that counts errors.
type failures struct {
	testing.TB
	count int
}

func (f *failures) Error(...any) { f.count++ }

func TestWrappersFailTheTestAndChangeNothing(t *testing.T) {
	t.Parallel()
	server := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusConflict)
		_, _ = io.WriteString(w, callNotFound)
	})
	atServer, atClient := &failures{TB: t}, &failures{TB: t}
	listener := httptest.NewServer(contracttest.Handler(atServer, server))
	defer listener.Close()
	client := http.Client{Transport: contracttest.Transport(atClient, http.DefaultTransport)}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, listener.URL+"/v1/calls/c1", nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil || string(body) != callNotFound || response.StatusCode != http.StatusConflict {
		t.Errorf("%d %s %v", response.StatusCode, body, err)
	}
	if atServer.count != 1 || atClient.count != 1 {
		t.Errorf("the test failed %d times at the server and %d times at the client, want once each", atServer.count, atClient.count)
	}
}

func TestUnseenForgetsWhatWasAnswered(t *testing.T) {
	t.Parallel()
	before := strings.Join(contracttest.Unseen(), " ")
	request := httptest.NewRequestWithContext(t.Context(), "POST", "/v1/sip/test-call", nil)
	body := `{"data":null,"errors":[{"error":"TOO_MANY_REQUESTS","message":"an organization may make at most 9 test calls in 7 minutes: try again later"}]}`
	if err := contracttest.Check(request, http.StatusTooManyRequests, []byte(body)); err != nil {
		t.Fatal(err)
	}
	after := strings.Join(contracttest.Unseen(), " ")
	if !strings.Contains(before, "SipTestCallLimit.limit") || strings.Contains(after, "SipTestCallLimit.limit") {
		t.Errorf("before %s\nafter %s", before, after)
	}
}

// TestGeneratorCoversTheContract checks that the generator creates requests for every operation, and the same requests again from the same
// seed.
func TestGeneratorCoversTheContract(t *testing.T) {
	t.Parallel()
	made := func() (all []contracttest.Request) {
		known := func(_, _, _, name string) []string { return map[string][]string{"call_id": {"c1"}}[name] }
		contracttest.NewGenerator(1, known).Each(3, func(r contracttest.Request) { all = append(all, r) })
		return all
	}
	all, again, changed, listed := made(), made(), 0, map[string]bool{}
	for i, r := range all {
		listed[r.Operation] = true
		if r.Change != "" {
			changed++
		}
		if again[i].Target != r.Target || again[i].Body != r.Body {
			t.Errorf("%s differs from run to run: %s %s", r.Operation, r.Body, again[i].Body)
		}
	}
	for _, o := range contracttest.Operations() {
		if !listed[o.ID] {
			t.Errorf("no request is made for %s", o.ID)
		}
	}
	if len(all) != 6*len(listed) || changed < len(all)/3 {
		t.Errorf("%d requests for %d operations, %d of them changed", len(all), len(listed), changed)
	}
}
