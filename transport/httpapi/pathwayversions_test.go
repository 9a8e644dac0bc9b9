package httpapi_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/pathway"
)

// gate is a promotion gate that always returns its verdict.
type gate struct{ verdict pathway.Verdict }

func (g *gate) Check(context.Context, callwright.OrgID, pathway.Candidate) (pathway.Verdict, error) {
	return g.verdict, nil
}

func TestVersionsAreStoredForkedAndArchived(t *testing.T) {
	t.Parallel()
	h := open(t)
	base := "/v1/pathway/" + h.drawn()
	created := h.want(http.StatusCreated, "POST", base+"/version", `{"name":"First",`+dayGraph+`}`)
	if at(t, created, "data", "version_number") != 1.0 || at(t, created, "data", "name") != "First" ||
		created["status"] != "success" || at(t, created, "data", "id") == "" {
		t.Errorf("created %v", created)
	}
	forked := h.want(http.StatusCreated, "POST", base+"/version/1/fork", `{"name":"Same again"}`)
	other := h.want(http.StatusCreated, "POST", base+"/version/1/fork", `{"name":"Other",`+shortGraph+`}`)
	if at(t, forked, "data", "version_number") != 2.0 || at(t, other, "data", "version_number") != 3.0 {
		t.Errorf("forked %v, other %v", forked, other)
	}
	for body, path := range map[string]string{
		`{"name":"x","nodes":[]}`: "edges", `{"name":"x","edges":[]}`: "nodes",
	} {
		if half := h.want(http.StatusBadRequest, "POST", base+"/version/1/fork", body); at(t, half, "errors", 0, "path") != path {
			t.Errorf("%s: %v", body, half)
		}
	}
	same := h.want(http.StatusOK, "GET", base+"/version/2", "")
	if at(t, same, "nodes", 0, "id") != "greeting" || same["version_number"] != 2.0 || same["is_latest"] != false {
		t.Errorf("version 2 %v", same)
	}
	draft := h.want(http.StatusOK, "GET", base+"/version/0", "")
	if draft["version_number"] != 0.0 || draft["is_latest"] != false || at(t, draft, "edges", 0, "id") != "e1" {
		t.Errorf("draft %v", draft)
	}
	if archived := h.want(http.StatusOK, "DELETE", base+"/version/2", ""); archived["status"] != "success" {
		t.Errorf("archived %v", archived)
	}
	var list []any
	h.decode(http.StatusOK, "GET", base+"/versions", "", &list)
	if len(list) != 2 || at(t, list, 0, "version_number") != 3.0 || at(t, list, 0, "is_latest") != true ||
		at(t, list, 0, "parent_version_number") != 1.0 || at(t, list, 1, "version_number") != 1.0 ||
		at(t, list, 1, "parent_version_number") != nil {
		t.Errorf("list %v", list)
	}
	for method, path := range map[string]string{"POST": "/version/9/fork", "DELETE": "/version/9", "GET": "/version/9"} {
		h.want(http.StatusNotFound, method, base+path, map[string]string{"POST": `{"name":"x"}`}[method])
	}
}

// shortGraph is a graph with one node, which says a sentence and ends the call.
const shortGraph = `"nodes":[{"id":"greeting","type":"End Call","data":{"name":"Greeting","isStart":true,"text":"Not today."}}],"edges":[]`

func TestVersionsAreCompared(t *testing.T) {
	t.Parallel()
	h := open(t)
	base := "/v1/pathway/" + h.drawn()
	h.want(http.StatusCreated, "POST", base+"/version", `{"name":"Short",`+shortGraph+`}`)
	diff := h.want(http.StatusOK, "GET", base+"/version/0/diff?against=1", "")
	if at(t, diff, "data", "nodes", 0, "id") != "greeting" || at(t, diff, "data", "nodes", 0, "kind") != "changed" ||
		at(t, diff, "data", "nodes", 1, "id") != "goodbye" || at(t, diff, "data", "nodes", 1, "kind") != "added" ||
		at(t, diff, "data", "edges", 0, "id") != "e1" || at(t, diff, "data", "edges", 0, "name") != nil ||
		at(t, diff, "data", "version_number") != 0.0 || at(t, diff, "data", "against") != 1.0 {
		t.Errorf("diff %v", diff)
	}
	members, _ := at(t, diff, "data", "nodes", 0, "members").([]any)
	changed := map[string]any{}
	for _, m := range members {
		changed[at(t, m, "path").(string)] = [2]any{at(t, m, "before"), at(t, m, "after")}
	}
	if changed["type"] != [2]any{`"End Call"`, `"Default"`} || len(changed) < 3 {
		t.Errorf("members %v", members)
	}
	back := h.want(http.StatusOK, "GET", base+"/version/1/diff?against=0", "")
	if at(t, back, "data", "nodes", 1, "kind") != "removed" || at(t, back, "data", "nodes", 1, "name") != "Goodbye" {
		t.Errorf("back %v", back)
	}
	h.want(http.StatusBadRequest, "GET", base+"/version/1/diff", "")
	h.want(http.StatusNotFound, "GET", base+"/version/1/diff?against=9", "")
}

func TestVersionsArePublished(t *testing.T) {
	t.Parallel()
	h := open(t)
	base := "/v1/pathway/" + h.drawn()
	for range 2 {
		h.saved(base[len("/v1/pathway/"):])
	}
	staging := h.want(http.StatusOK, "POST", base+"/publish", `{"version_id":1,"environment":"staging"}`)
	production := h.want(http.StatusOK, "POST", base+"/publish", `{"version_id":2}`)
	if staging["message"] != "Version 1 is in staging." || production["message"] != "Version 2 is in production." ||
		production["published"] != true || production["batch_id"] != nil {
		t.Errorf("staging %v, production %v", staging, production)
	}
	record := h.want(http.StatusOK, "GET", base, "")
	if record["production_version_number"] != 2.0 || record["staging_version_number"] != 1.0 {
		t.Errorf("pathway %v", record)
	}
	var list []any
	h.decode(http.StatusOK, "GET", base+"/versions", "", &list)
	if at(t, list, 0, "environments", 0) != "production" || at(t, list, 1, "environments", 0) != "staging" {
		t.Errorf("versions %v", list)
	}
	for _, number := range []int{1, 2} {
		refused := h.want(http.StatusConflict, "DELETE", fmt.Sprint(base, "/version/", number), "")
		if at(t, refused, "errors", 0, "error") != "INVALID_STATE" {
			t.Errorf("a published version was archived: %v", refused)
		}
	}
	absent := h.want(http.StatusNotFound, "POST", base+"/publish", `{"version_id":9}`)
	if at(t, absent, "errors", 0, "error") != "NOT_FOUND" {
		t.Errorf("absent %v", absent)
	}
}

func TestGateIsAsked(t *testing.T) {
	t.Parallel()
	h := open(t)
	id := h.drawn()
	h.saved(id)
	h.gate.verdict = pathway.Verdict{State: pathway.GateClosed, Batch: "b7", Reason: "2 of 3 scenarios failed"}
	closed := h.want(http.StatusConflict, "POST", "/v1/pathway/"+id+"/publish", `{"version_id":1}`)
	message, _ := at(t, closed, "errors", 0, "message").(string)
	if at(t, closed, "errors", 0, "error") != "PROMOTION_GATE_FAILED" || !strings.Contains(message, "b7") ||
		at(t, closed, "errors", 0, "batch_id") != "b7" {
		t.Errorf("closed %v", closed)
	}
	h.want(http.StatusOK, "POST", "/v1/pathway/"+id+"/publish", `{"version_id":1,"environment":"staging"}`)
	h.gate.verdict = pathway.Verdict{State: pathway.GateRunning, Batch: "b8"}
	waiting := h.want(http.StatusOK, "POST", "/v1/pathway/"+id+"/publish", `{"version_id":1,"publish_on_pass":true}`)
	if waiting["published"] != false || waiting["batch_id"] != "b8" {
		t.Errorf("waiting %v", waiting)
	}
	record := h.want(http.StatusOK, "GET", "/v1/pathway/"+id, "")
	if at(t, record, "promotion", "version_number") != 1.0 || at(t, record, "promotion", "batch_id") != "b8" ||
		record["production_version_number"] != nil {
		t.Errorf("pathway %v", record)
	}
	h.gate.verdict = pathway.Verdict{State: pathway.GateOpen, Batch: "b8"}
	passed := h.want(http.StatusOK, "POST", "/v1/pathway/"+id+"/publish", `{"version_id":1}`)
	if passed["published"] != true || passed["batch_id"] != "b8" {
		t.Errorf("passed %v", passed)
	}
}
