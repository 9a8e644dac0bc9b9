package httpapi_test

import (
	"net/http"
	"strings"
	"testing"
)

const attachedCall = `{"id":"$link","issue_id":"$id","org_id":"rich","resource_type":"call","resource_id":"c1",
	"title":"Call to Ada","status":"available","metadata":{"status":"completed"},"attached_by_id":"$me","created_at":"` + opened + `"}`

func TestComments(t *testing.T) {
	t.Parallel()
	h := open(t)
	id, link := h.attached()
	at := "/" + id + "/comments"
	said := h.data(http.StatusCreated, "POST", at, `{"detail":"Heard it.","resource_link_ids":["`+link+`"]}`)
	names := []string{
		"$id", id, "$link", link, "$comment", said["id"].(string), "$me", said["actor"].(map[string]any)["id"].(string),
	}
	like(t, said, `{"entry_kind":"issue","id":"$comment","issue_id":"$id","type":"comment","actor":{"kind":"user","id":"$me",
		"label":"test","avatar_url":null},"detail":"Heard it.","from_status":null,"to_status":null,"metadata":null,
		"resources":[`+attachedCall+`],"referenced_issues":[],"created_at":"`+opened+`"}`, names...)
	comment, colleague := at+"/"+said["id"].(string), h.colleague()
	h.refused(http.StatusForbidden, "forbidden", "", "PATCH", comment, `{"detail":"Mine."}`, colleague)
	h.refused(http.StatusForbidden, "forbidden", "", "DELETE", comment, "", colleague)
	edited := h.data(http.StatusOK, "PATCH", comment, `{"detail":"Heard it twice."}`)
	like(t, edited, `{"entry_kind":"issue","id":"$entry","issue_id":"$id","type":"comment","actor":{"kind":"user","id":"$me",
		"label":"test","avatar_url":null},"detail":"Heard it twice.","from_status":null,"to_status":null,
		"metadata":{"action":"edited","comment_id":"$comment"},"resources":[],"referenced_issues":[],"created_at":"`+opened+`"}`,
		append(names, "$entry", edited["id"].(string))...)
	h.done("DELETE", comment)
	h.refused(http.StatusNotFound, "not_found", "", "DELETE", comment, "")
	h.refused(http.StatusNotFound, "not_found", "", "PATCH", comment, `{"detail":"x"}`)
	if types := strings.Join(h.types(id), ","); types != "comment,comment,comment,resource_added,created" {
		t.Errorf("the feed has %s", types)
	}
	for body, path := range map[string]string{
		`{}`: "detail", `{"detail":""}`: "detail", `{"detail":" "}`: "detail",
		`{"detail":"` + strings.Repeat("ü", 4001) + `"}`:                             "detail",
		`{"detail":"x","resource_link_ids":["a","a"]}`:                               "resource_link_ids",
		`{"detail":"x","resource_link_ids":["` + strings.Repeat(`a","`, 50) + `b"]}`: "resource_link_ids",
		`{"detail":"x","resource_link_ids":[""]}`:                                    "resource_link_ids[0]",
	} {
		h.refused(http.StatusBadRequest, "bad_request", path, "POST", at, body)
	}
	h.refused(http.StatusNotFound, "not_found", "resource_link_ids[0]", "POST", at, `{"detail":"x","resource_link_ids":["nothing"]}`)
	h.data(http.StatusCreated, "POST", at, `{"detail":"`+strings.Repeat("ü", 4000)+`"}`)
}

func TestResources(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.call(h.org, "c1")
	h.call("strangers", "theirs")
	id := h.issue()
	at := "/" + id + "/resources"
	attached := h.data(http.StatusCreated, "POST", at, `{"resource_type":"call","resource_id":"c1"}`)
	link := attached["id"].(string)
	names := []string{"$link", link, "$id", id, "$me", attached["attached_by_id"].(string)}
	like(t, attached, attachedCall, names...)
	like(t, h.answer(http.StatusOK, "POST", at, `{"resource_type":"call","resource_id":"c1","title":"Another"}`), attachedCall, names...)
	like(t, h.answer(http.StatusOK, "GET", at, ""), `[`+attachedCall+`]`, names...)
	h.resolver.Delete(h.org, "c1")
	like(t, h.answer(http.StatusOK, "GET", at, ""), `[`+strings.Replace(attachedCall, `"available"`, `"unavailable"`, 1)+`]`, names...)

	for _, resource := range []string{"theirs", "nothing"} { // another organization's call is absent
		answer := h.want(http.StatusNotFound, "POST", "/v1/triage/issues"+at, `{"resource_type":"call","resource_id":"`+resource+`"}`)
		like(t, answer, `{"data":null,"errors":[{"error":"not_found","message":"resource_id: resource not found","path":"resource_id"}]}`)
	}
	for _, kind := range []string{"run", "pathway", "sample", "file", "sms_conversation"} { // this house has no resolver of these kinds
		h.refused(http.StatusNotImplemented, "not_implemented", "resource_type", "POST", at, `{"resource_type":"`+kind+`","resource_id":"x"}`)
	}
	h.refused(http.StatusBadRequest, "bad_request", "resource_type", "POST", at, `{"resource_type":"letter","resource_id":"x"}`)
	h.refused(http.StatusBadRequest, "bad_request", "resource_id", "POST", at, `{"resource_type":"call","resource_id":"`+strings.Repeat("x", 129)+`"}`)
	h.done("DELETE", at+"/"+link)
	h.refused(http.StatusNotFound, "not_found", "", "DELETE", at+"/"+link, "")
	like(t, h.answer(http.StatusOK, "GET", at, ""), `[]`)
	if types := strings.Join(h.types(id), " "); types != "resource_removed resource_added created" {
		t.Errorf("the feed has %s", types)
	}
}

func TestFlags(t *testing.T) {
	t.Parallel()
	h := open(t)
	id, link := h.attached()
	at := "/" + id + "/flags"
	whole := h.data(http.StatusCreated, "POST", at, `{"call_id":"c1","type":"rude"}`)
	h.clock.now = h.clock.now.Add(1e9)
	line := h.data(http.StatusCreated, "POST", at, `{"call_id":"c1","type":"wrong","note":"Closed.","node_id":"n1","node_name":"Offer",
		"message_index":0,"message_text":"Sunday?"}`)
	names := []string{"$id", id, "$a", whole["id"].(string), "$b", line["id"].(string), "$me", whole["created_by_id"].(string)}
	first := `{"id":"$a","issue_id":"$id","call_id":"c1","type":"rude","note":null,"node_id":null,"node_name":null,
		"message_index":null,"message_text":null,"created_by_id":"$me","created_at":"` + opened + `"}`
	second := `{"id":"$b","issue_id":"$id","call_id":"c1","type":"wrong","note":"Closed.","node_id":"n1","node_name":"Offer",
		"message_index":0,"message_text":"Sunday?","created_by_id":"$me","created_at":"2026-05-04T03:02:02.123Z"}`
	like(t, h.answer(http.StatusOK, "GET", at, ""), `[`+first+`,`+second+`]`, names...)
	like(t, whole, first, names...)

	answer := h.want(http.StatusConflict, "POST", "/v1/triage/issues"+at, `{"call_id":"c2","type":"rude"}`)
	like(t, answer, `{"data":null,"errors":[{"error":"call_not_attached","message":"call_id: the call is not attached to the issue","path":"call_id"}]}`)
	h.refused(http.StatusConflict, "invalid_state", "", "DELETE", "/"+id+"/resources/"+link, "")
	for body, path := range map[string]string{
		`{"call_id":"c1"}`: "type", `{"type":"x"}`: "call_id", `{"call_id":"c1","type":"x","message_index":-1}`: "message_index",
		`{"call_id":"c1","type":"` + strings.Repeat("x", 201) + `"}`:             "type",
		`{"call_id":"c1","type":"x","note":"` + strings.Repeat("x", 4001) + `"}`: "note",
	} {
		h.refused(http.StatusBadRequest, "bad_request", path, "POST", at, body)
	}
	h.done("DELETE", at+"/"+whole["id"].(string))
	h.refused(http.StatusNotFound, "not_found", "", "DELETE", at+"/"+whole["id"].(string), "")
	like(t, h.answer(http.StatusOK, "GET", at, ""), `[`+second+`]`, names...)
	if got := h.data(http.StatusOK, "GET", "/"+id, ""); got["flag_count"] != 1.0 || got["resource_count"] != 1.0 {
		t.Errorf("the issue is %v", got)
	}
}

func TestRelations(t *testing.T) {
	t.Parallel()
	h := open(t)
	one, other := h.issue(), h.issue()
	_, stranger := h.tenant("strangers")
	theirs := h.data(http.StatusCreated, "POST", "", `{"title":"theirs"}`, header{"Authorization", stranger})["id"].(string)
	body := `{"related_issue_id":"` + other + `","relation_type":"blocks"}`
	made := h.data(http.StatusCreated, "POST", "/"+one+"/relations", body)
	names := []string{"$one", one, "$other", other, "$rel", made["id"].(string), "$me", made["created_by_id"].(string)}
	outgoing := `{"id":"$rel","issue_id":"$one","relation_type":"blocks","direction":"outgoing","related_issue":{"id":"$other",
		"triage_id":"T-1002","title":"Agent books a closed day","status":"backlog"},"created_by_id":"$me","created_at":"` + opened + `"}`
	incoming := strings.NewReplacer("$one", "$other", "$other", "$one", "outgoing", "incoming", "T-1002", "T-1001").Replace(outgoing)
	like(t, made, outgoing, names...)
	like(t, h.answer(http.StatusOK, "POST", "/"+one+"/relations", body), outgoing, names...)
	like(t, h.answer(http.StatusOK, "GET", "/"+one+"/relations", ""), `[`+outgoing+`]`, names...)
	like(t, h.answer(http.StatusOK, "GET", "/"+other+"/relations", ""), `[`+incoming+`]`, names...)

	back := `{"related_issue_id":"` + one + `","relation_type":"blocks"}`
	h.refused(http.StatusConflict, "conflict", "", "POST", "/"+other+"/relations", back)
	h.refused(http.StatusBadRequest, "bad_request", "related_issue_id", "POST", "/"+one+"/relations", back)
	h.refused(http.StatusBadRequest, "bad_request", "relation_type", "POST", "/"+one+"/relations", strings.Replace(body, "blocks", "likes", 1))
	for _, absent := range []string{theirs, "nowhere"} {
		answer := h.want(http.StatusNotFound, "POST", "/v1/triage/issues/"+one+"/relations", strings.Replace(body, other, absent, 1))
		like(t, answer, `{"data":null,"errors":[{"error":"not_found","message":"Issue not found"}]}`)
	}
	h.done("DELETE", "/"+other+"/relations/"+made["id"].(string))
	h.refused(http.StatusNotFound, "not_found", "", "DELETE", "/"+one+"/relations/"+made["id"].(string), "")
	for _, id := range []string{one, other} {
		like(t, h.answer(http.StatusOK, "GET", "/"+id+"/relations", ""), `[]`)
		if types := strings.Join(h.types(id), " "); types != "relation_removed relation_added created" {
			t.Errorf("the feed has %s", types)
		}
	}
}
