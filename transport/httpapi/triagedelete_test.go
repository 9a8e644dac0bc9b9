package httpapi_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/callwright/callwright/triage"
)

func TestDeleteIssue(t *testing.T) {
	t.Parallel()
	h := open(t)
	id, link := h.attached()
	twin, friend := h.issue(), h.issue()
	h.data(http.StatusCreated, "POST", "/"+id+"/relations", `{"related_issue_id":"`+friend+`","relation_type":"blocks"}`)
	h.data(http.StatusOK, "POST", "/"+twin+"/merge", `{"into":"`+id+`"}`)
	session, _ := h.session(id)
	_, stranger := h.tenant("strangers")
	h.refused(http.StatusNotFound, "not_found", "", "DELETE", "/"+id, "", header{"Authorization", stranger})
	h.data(http.StatusOK, "GET", "/"+id, "")
	h.done("DELETE", "/"+id, h.colleague())
	answer := h.want(http.StatusNotFound, "DELETE", "/v1/triage/issues/"+id, "")
	like(t, answer, `{"data":null,"errors":[{"error":"not_found","message":"Issue not found"}]}`)
	for _, at := range []string{"", "/activity", "/activity/stream", "/resources", "/flags", "/relations"} {
		h.refused(http.StatusNotFound, "not_found", "", "GET", "/"+id+at, "")
	}
	h.refused(http.StatusNotFound, "not_found", "", "DELETE", "/"+id+"/resources/"+link, "")
	h.refused(http.StatusNotFound, "not_found", "", "PATCH", "/"+id, `{"title":"x"}`)
	h.refused(http.StatusNotFound, "not_found", "", "PUT", "/"+id+"/view", "")
	h.refused(http.StatusNotFound, "not_found", "", "POST", session+"/entries", `{"type":"thought"}`)

	merged := h.data(http.StatusOK, "GET", "/"+twin, "")
	if merged["merged_into"] != nil || merged["status"] != "closed" || merged["relation_count"] != 0.0 {
		t.Errorf("the issue that was merged into it is %v", merged)
	}
	last, _ := at(t, h.data(http.StatusOK, "GET", "/"+friend+"/activity", ""), "items", 0).(map[string]any)
	like(t, map[string]any{"type": last["type"], "metadata": last["metadata"], "referenced_issues": last["referenced_issues"]},
		`{"type":"relation_removed","metadata":{"relation_type":"blocks","direction":"incoming","deleted":true},
		"referenced_issues":[{"id":"$id","triage_id":"T-1001","title":"Agent books a closed day","status":"backlog"}]}`, "$id", id)
	list := h.data(http.StatusOK, "GET", "", "")
	if items, _ := list["items"].([]any); len(items) != 2 {
		t.Errorf("the list has %v", items)
	}
	if next := h.data(http.StatusCreated, "POST", "", `{"title":"x"}`); next["triage_id"] != "T-1004" {
		t.Errorf("the next issue is %v", next["triage_id"])
	}
}

// TestDeleteEndsStream checks that the stream of an issue's feed ends normally when the issue is deleted.
func TestDeleteEndsStream(t *testing.T) {
	t.Parallel()
	h := open(t)
	server := httptest.NewServer(h)
	defer server.Close()
	id := h.issue()
	c, _ := h.stream(server, id, "", "")
	if err := h.triage.Delete(t.Context(), h.org, triage.System(), id); err != nil {
		t.Fatal(err)
	}
	if e, ok := c.next(); ok {
		t.Errorf("the stream goes on with %+v", e)
	}
}
