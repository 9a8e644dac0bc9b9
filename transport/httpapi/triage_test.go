package httpapi_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright/transport/httpapi"
)

const newIssue = `{"id":"$id","triage_id":"T-1001","org_id":"rich","number":1001,"title":"Agent books a closed day",
	"description":"","status":"backlog","severity":"medium","source":"manual","category":null,"owner_id":null,
	"assignee_id":null,"author_id":"$me","external_link":null,"merged_into":null,"created_at":"` + opened + `",
	"updated_at":"` + opened + `","last_activity_at":"` + opened + `","resource_count":0,"flag_count":0,
	"relation_count":0,"latest_agent_session":null,"is_processing":false,"has_unread_activity":false,"version":1}`

func TestIssueWithNothing(t *testing.T) {
	t.Parallel()
	h := open(t)
	created := h.data(http.StatusCreated, "POST", "", `{"title":"Agent books a closed day"}`)
	id, _ := created["id"].(string)
	me, _ := created["author_id"].(string)
	if id == "" || me == "" {
		t.Fatalf("created %v", created)
	}
	like(t, created, newIssue, "$id", id, "$me", me)
	like(t, h.data(http.StatusOK, "GET", "/"+id, ""), newIssue, "$id", id, "$me", me)
	like(t, h.data(http.StatusOK, "GET", "", ""), `{"items":[`+strings.Replace(newIssue, `"description":""`, `"description":null`, 1)+
		`],"next_cursor":null}`, "$id", id, "$me", me)
	like(t, h.data(http.StatusOK, "GET", "/"+id+"/activity", ""), `{"items":[{"entry_kind":"issue","id":"$entry","issue_id":"$id",
		"type":"created","actor":{"kind":"user","id":"$me","label":"test","avatar_url":null},"detail":"Agent books a closed day",
		"from_status":null,"to_status":null,"metadata":{"status":"backlog","severity":"medium","source":"manual","category":null},
		"resources":[],"referenced_issues":[],"created_at":"`+opened+`"}],"next_cursor":null}`, "$id", id, "$me", me,
		"$entry", at(t, h.data(http.StatusOK, "GET", "/"+id+"/activity", ""), "items", 0, "id").(string))
}

func TestIssueWithEverything(t *testing.T) {
	t.Parallel()
	h := open(t)
	body := `{"title":"Ünïcode","description":"The caller was given a Sunday.","status":"in_review","severity":"critical",` +
		`"source":"client","category":"booking","owner_id":"o","assignee_id":"a","external_link":"https://tracker.example/7"}`
	got := h.data(http.StatusCreated, "POST", "", body)
	for name, want := range map[string]any{
		"title": "Ünïcode", "description": "The caller was given a Sunday.", "status": "in_review", "severity": "critical",
		"source": "client", "category": "booking", "owner_id": "o", "assignee_id": "a", "external_link": "https://tracker.example/7",
	} {
		if got[name] != want {
			t.Errorf("%s: got %v, want %v", name, got[name], want)
		}
	}
	h.clock.now = h.clock.now.Add(time.Minute)
	id := "/" + got["id"].(string)
	changed := h.data(http.StatusOK, "PATCH", id, `{"version":1,"title":"B","description":"","status":"done","severity":"low",`+
		`"category":null,"owner_id":null,"assignee_id":"b","external_link":null}`)
	for name, want := range map[string]any{
		"title": "B", "description": "", "status": "done", "severity": "low", "category": nil, "owner_id": nil,
		"assignee_id": "b", "external_link": nil, "version": 2.0, "created_at": opened, "updated_at": "2026-05-04T03:03:01.123Z",
	} {
		if changed[name] != want {
			t.Errorf("%s: got %v, want %v", name, changed[name], want)
		}
	}
	if untouched := h.data(http.StatusOK, "PATCH", id, `{}`); untouched["version"] != 2.0 || untouched["title"] != "B" {
		t.Errorf("a change of nothing gives %v", untouched)
	}
	want := "owner_changed assignee_changed category_changed severity_changed status_changed created"
	if types := strings.Join(h.types(got["id"].(string)), " "); types != want {
		t.Errorf("the feed has %s, want %s", types, want)
	}
}

// TestTwoEditors checks that a change is refused if the issue has changed since the version that the change names.
func TestTwoEditors(t *testing.T) {
	t.Parallel()
	h := open(t)
	id := "/" + h.issue()
	h.data(http.StatusOK, "PATCH", id, `{"version":1,"status":"todo"}`)
	h.refused(http.StatusConflict, "conflict", "", "PATCH", id, `{"version":1,"status":"done"}`, h.colleague())
	if got := h.data(http.StatusOK, "GET", id, ""); got["status"] != "todo" {
		t.Errorf("the second was not refused: %v", got)
	}
	h.data(http.StatusOK, "PATCH", id, `{"status":"done"}`)
}

func TestIssueBodiesThatMayNotPass(t *testing.T) {
	t.Parallel()
	h := open(t)
	id := "/" + h.issue()
	for name, c := range map[string]struct{ body, path string }{
		"no title":          {`{}`, "title"},
		"empty title":       {`{"title":""}`, "title"},
		"blank title":       {`{"title":"  "}`, "title"},
		"title of 301":      {`{"title":"` + strings.Repeat("ü", 301) + `"}`, "title"},
		"description, long": {`{"title":"a","description":"` + strings.Repeat("x", 65537) + `"}`, "description"},
		"description, wide": {`{"title":"a","description":"` + strings.Repeat("ü", 65537) + `"}`, "description"},
		"unknown status":    {`{"title":"a","status":"open"}`, "status"},
		"unknown severity":  {`{"title":"a","severity":"fatal"}`, "severity"},
		"script as link":    {`{"title":"a","external_link":"javascript:alert(1)"}`, "external_link"},
		"link to nowhere":   {`{"title":"a","external_link":"https://"}`, "external_link"},
	} {
		t.Log(name)
		h.refused(http.StatusBadRequest, "bad_request", c.path, "POST", "", c.body)
		if c.path != "title" || c.body != `{}` {
			h.refused(http.StatusBadRequest, "bad_request", c.path, "PATCH", id, c.body)
		}
	}
	h.refused(http.StatusBadRequest, "bad_request", "version", "PATCH", id, `{"version":0}`)
	h.refused(http.StatusRequestEntityTooLarge, "payload_too_large", "", "POST", "", `{"title":"`+strings.Repeat("x", 1<<20)+`"}`)
	h.refused(http.StatusUnauthorized, "AUTH_FAILURE", "", "POST", "", `{}`, header{"Authorization", ""})
}

func TestListOfIssues(t *testing.T) {
	t.Parallel()
	var now *movedClock
	h := open(t, func(c *httpapi.Config) { now = new(movedClock); c.Clock = now })
	ids := map[string]string{}
	for _, c := range []struct{ name, body string }{
		{"old", `{"title":"Old \"bookings\"","severity":"low","category":"booking","owner_id":"o"}`},
		{"attached", `{"title":"Attached","severity":"high","status":"done"}`},
		{"new", `{"title":"New","severity":"critical","category":"billing","assignee_id":"a","description":"Like BOOKINGS."}`},
	} {
		ids[c.name] = h.data(http.StatusCreated, "POST", "", c.body)["id"].(string)
		h.clock.now = h.clock.now.Add(24 * time.Hour)
	}
	h.call(h.org, "c1")
	h.data(http.StatusCreated, "POST", "/"+ids["attached"]+"/resources", `{"resource_type":"call","resource_id":"c1"}`)
	now.now = h.clock.now
	for query, want := range map[string]string{
		"":                                      "attached new old",
		"?order=asc":                            "old new attached",
		"?sort=created_at":                      "new attached old",
		"?sort=severity":                        "new attached old",
		"?sort=status&order=asc":                "old new attached",
		"?severity=low&severity=critical":       "new old",
		"?status=done":                          "attached",
		"?category=booking&category=x":          "old",
		"?owner_id=o":                           "old",
		"?assignee_id=a":                        "new",
		"?resource_type=call":                   "attached",
		"?resource_type=sms_conversation":       "",
		"?search=bookings":                      "new old",
		"?search=T-1003":                        "new",
		"?date_range=7d":                        "attached new old",
		"?date_range=24h":                       "attached new",
		"?date_field=created_at&date_range=24h": "new",
	} {
		var got []string
		for _, i := range h.data(http.StatusOK, "GET", query, "")["items"].([]any) {
			for name, id := range ids {
				if i.(map[string]any)["id"] == id {
					got = append(got, name)
				}
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q gives %v, want %s", query, got, want)
		}
	}
	first := h.data(http.StatusOK, "GET", "?limit=2", "")
	rest := h.data(http.StatusOK, "GET", "?limit=2&cursor="+first["next_cursor"].(string), "")
	if at(t, rest, "items", 0, "id") != ids["old"] || len(rest["items"].([]any)) != 1 || rest["next_cursor"] != nil {
		t.Errorf("pages %v, %v", first, rest)
	}
	for query, path := range map[string]string{
		"?limit=0": "limit", "?limit=101": "limit", "?sort=title": "sort", "?order=up": "order", "?status=open": "status[0]",
		"?date_range=1y": "date_range", "?resource_type=call%2Crun": "resource_type", "?search=" + strings.Repeat("x", 201): "search",
		"?limit=2&order=asc&cursor=" + first["next_cursor"].(string): "cursor", "?cursor=x": "cursor",
	} {
		h.refused(http.StatusBadRequest, "bad_request", path, "GET", query, "")
	}
}

func TestDecisions(t *testing.T) {
	t.Parallel()
	h := open(t)
	accepted, declined := "/"+h.issue(), "/"+h.issue()
	if got := h.data(http.StatusOK, "POST", accepted+"/decision", `{"decision":"accepted"}`); got["status"] != "todo" || got["version"] != 2.0 {
		t.Errorf("accepted: %v", got)
	}
	h.refused(http.StatusBadRequest, "bad_request", "detail", "POST", declined+"/decision", `{"decision":"declined"}`)
	if got := h.data(http.StatusOK, "POST", declined+"/decision", `{"decision":"declined","detail":"As it should be."}`); got["status"] != "closed" {
		t.Errorf("declined: %v", got)
	}
	entry, _ := at(t, h.data(http.StatusOK, "GET", declined+"/activity", ""), "items", 0).(map[string]any)
	if entry["type"] != "declined" || entry["detail"] != "As it should be." || entry["from_status"] != "backlog" || entry["to_status"] != "closed" {
		t.Errorf("the entry is %v", entry)
	}
	h.refused(http.StatusConflict, "invalid_state", "", "POST", declined+"/decision", `{"decision":"accepted"}`)
}

func TestMerge(t *testing.T) {
	t.Parallel()
	h := open(t)
	one, link := h.attached()
	other := h.issue()
	merged := h.data(http.StatusOK, "POST", "/"+one+"/merge", `{"into":"`+other+`"}`)
	if merged["id"] != one || merged["status"] != "closed" || merged["merged_into"] != other || merged["relation_count"] != 1.0 {
		t.Errorf("merged %v", merged)
	}
	target := h.data(http.StatusOK, "GET", "/"+other, "")
	if target["resource_count"] != 1.0 || target["relation_count"] != 1.0 || target["merged_into"] != nil {
		t.Errorf("into %v", target)
	}
	entry, _ := at(t, h.data(http.StatusOK, "GET", "/"+other+"/activity", ""), "items", 0).(map[string]any)
	if entry["type"] != "merged" || at(t, entry, "referenced_issues", 0, "id") != one || at(t, entry, "metadata", "merged_from") != one ||
		at(t, entry, "resources", 0, "resource_id") != "c1" || at(t, entry, "resources", 0, "id") == link {
		t.Errorf("the entry is %v", entry)
	}
	h.refused(http.StatusConflict, "invalid_state", "", "PATCH", "/"+one, `{"title":"x"}`)
	h.refused(http.StatusConflict, "invalid_state", "", "POST", "/"+other+"/merge", `{"into":"`+one+`"}`)
	h.refused(http.StatusBadRequest, "bad_request", "into", "POST", "/"+other+"/merge", `{"into":"`+other+`"}`)
	h.refused(http.StatusNotFound, "not_found", "", "POST", "/"+other+"/merge", `{"into":"nowhere"}`)
}

// TestUnreadIsOfAKey checks that each key of an organization has its own unread state.
func TestUnreadIsOfAKey(t *testing.T) {
	t.Parallel()
	h := open(t)
	id, colleague := "/"+h.issue(), h.colleague()
	unread := func(want bool, as ...header) {
		t.Helper()
		if got := h.data(http.StatusOK, "GET", id, "", as...)["has_unread_activity"]; got != want {
			t.Errorf("unread: %v, want %v", got, want)
		}
		if got := at(t, h.answer(http.StatusOK, "GET", "", "", as...), "items", 0, "has_unread_activity"); got != want {
			t.Errorf("unread in the list: %v, want %v", got, want)
		}
	}
	unread(false)
	unread(true, colleague)
	h.done("PUT", id+"/view", colleague)
	unread(false, colleague)
	h.data(http.StatusCreated, "POST", id+"/comments", `{"detail":"Look."}`, colleague)
	unread(false, colleague)
	unread(true)
	h.done("PUT", id+"/view")
	unread(false)
}
