package httpapi_test

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"

	v3 "github.com/pb33f/libopenapi/datamodel/high/v3"

	"github.com/callwright/callwright/triage"
)

// TestFeedInPages checks that the pages of a feed contain each entry once while more entries are written.
func TestFeedInPages(t *testing.T) {
	t.Parallel()
	h := open(t)
	for limit, sizes := range map[string][]int{"": {50, 50, 20}, "limit=1": {1}, "limit=60": {60, 60}, "limit=100": {100, 20}} {
		id := h.issue()
		want := []string{"Agent books a closed day"}
		for n := range 119 {
			want = append(want, fmt.Sprint("comment ", n))
			h.data(http.StatusCreated, "POST", "/"+id+"/comments", `{"detail":"`+want[n+1]+`"}`)
		}
		slices.Reverse(want)
		query, read := limit, 0
		for n, size := range sizes {
			page := h.data(http.StatusOK, "GET", "/"+id+"/activity?"+query, "")
			items, _ := page["items"].([]any)
			next, more := page["next_cursor"].(string)
			if len(items) != size || more != (read+size < len(want)) {
				t.Fatalf("%s: page %d has %d entries and the cursor %v", limit, n, len(items), page["next_cursor"])
			}
			for _, e := range items {
				if got := e.(map[string]any)["detail"]; got != want[read] {
					t.Errorf("%s: entry %d is %v, want %s", limit, read, got, want[read])
				}
				read++
			}
			query = limit + "&cursor=" + next
			h.data(http.StatusCreated, "POST", "/"+id+"/comments", `{"detail":"later"}`)
		}
	}
}

// TestFoldedFeed checks that the parameter fold merges 22 consecutive attachments into one entry, which contains the other 21 in order. A
// comment ends such a group.
func TestFoldedFeed(t *testing.T) {
	t.Parallel()
	h := open(t)
	id := h.issue()
	attach := func(from, to int) {
		for n := from; n < to; n++ {
			call := fmt.Sprint("c", n)
			h.call(h.org, call)
			h.data(http.StatusCreated, "POST", "/"+id+"/resources", `{"resource_type":"call","resource_id":"`+call+`"}`)
		}
	}
	attach(0, 22)
	h.data(http.StatusCreated, "POST", "/"+id+"/comments", `{"detail":"Between."}`)
	attach(22, 23)
	flat := h.data(http.StatusOK, "GET", "/"+id+"/activity", "")["items"].([]any)
	folded := h.data(http.StatusOK, "GET", "/"+id+"/activity?fold=true", "")["items"].([]any)
	var unfolded []any
	var sizes []int
	for _, item := range folded {
		entry := item.(map[string]any)
		others, _ := entry["folded"].([]any)
		delete(entry, "folded")
		unfolded = append(unfolded, entry)
		for _, other := range others {
			whole := maps.Clone(entry)
			maps.Copy(whole, other.(map[string]any))
			unfolded = append(unfolded, whole)
		}
		sizes = append(sizes, 1+len(others))
	}
	if !slices.Equal(sizes, []int{1, 1, 22, 1}) || !reflect.DeepEqual(flat, unfolded) {
		t.Errorf("the groups are of %v entries, and unfold to\n%v\nwant\n%v", sizes, unfolded, flat)
	}
	first := h.data(http.StatusOK, "GET", "/"+id+"/activity?fold=true&limit=10", "")
	rest := h.data(http.StatusOK, "GET", "/"+id+"/activity?fold=true&limit=100&cursor="+first["next_cursor"].(string), "")
	if n, others := len(first["items"].([]any)), at(t, rest, "items", 0, "folded").([]any); n != 3 || len(others) != 13 {
		t.Errorf("a page of 10 has %d items, and the next one begins with %d folded entries", n, len(others))
	}
}

// TestCursorsThatMayNotPass checks that a cursor of one list is refused for any other list, and that invalid cursors and page limits are
// refused.
func TestCursorsThatMayNotPass(t *testing.T) {
	t.Parallel()
	h := open(t)
	id, other := h.issue(), h.issue()
	_, stranger := h.tenant("strangers")
	foreign := header{"Authorization", stranger}
	for range 2 {
		h.data(http.StatusCreated, "POST", "", `{"title":"theirs"}`, foreign)
	}
	theirs := at(t, h.answer(http.StatusOK, "GET", "", "", foreign), "items", 0, "id").(string)
	for _, issue := range []string{id, other} {
		h.data(http.StatusCreated, "POST", "/"+issue+"/comments", `{"detail":"x"}`)
	}
	h.data(http.StatusCreated, "POST", "/"+theirs+"/comments", `{"detail":"x"}`, foreign)
	cursor := func(target string, as ...header) string {
		return h.data(http.StatusOK, "GET", target+"?limit=1", "", as...)["next_cursor"].(string)
	}
	feed, list := cursor("/"+id+"/activity"), cursor("")
	h.data(http.StatusOK, "GET", "/"+id+"/activity?cursor="+feed, "")
	h.data(http.StatusOK, "GET", "?cursor="+list, "")
	bad := map[string]string{
		"another issue's": cursor("/" + other + "/activity"), "another organization's": cursor("/"+theirs+"/activity", foreign),
		"of the list": list, "no base64": "%21", "nothing in it": "AA", "twice": feed + feed, "with a line end": feed[:4] + "%0A" + feed[4:],
		"too long": strings.Repeat("A", 513),
	}
	raw, err := base64.RawURLEncoding.DecodeString(feed)
	if err != nil {
		t.Fatal(err)
	}
	for bit := range 8 * len(raw) {
		changed := bytes.Clone(raw)
		changed[bit/8] ^= 1 << (bit % 8)
		bad[fmt.Sprintf("with bit %d changed", bit)] = base64.RawURLEncoding.EncodeToString(changed)
	}
	for name, cursor := range bad {
		t.Log(name)
		for _, stream := range []string{"", "/stream"} {
			h.refused(http.StatusBadRequest, "bad_request", "cursor", "GET", "/"+id+"/activity"+stream+"?cursor="+cursor, "")
		}
	}
	for _, cursor := range []string{feed, cursor("", foreign)} {
		h.refused(http.StatusBadRequest, "bad_request", "cursor", "GET", "?cursor="+cursor, "")
	}
	for _, limit := range []string{"0", "101", "-1", "x", "9999999999999999999"} {
		h.refused(http.StatusBadRequest, "bad_request", "limit", "GET", "/"+id+"/activity?limit="+limit, "")
	}
}

// TestCursorsAcrossKeys checks that cursors are accepted after a change of the signing key while the former key is configured, and refused
// afterwards.
func TestCursorsAcrossKeys(t *testing.T) {
	t.Parallel()
	h := open(t)
	id := h.issue()
	h.data(http.StatusCreated, "POST", "/"+id+"/comments", `{"detail":"x"}`)
	cursor := h.data(http.StatusOK, "GET", "/"+id+"/activity?limit=1", "")["next_cursor"].(string)
	keys := map[byte][]byte{1: bytes.Repeat([]byte("k"), 32), 2: bytes.Repeat([]byte("l"), 32)}
	changed := h.again(func(c *triage.Config) { c.Cursors = must(triage.NewCursors(2, keys)) })
	if got := changed.data(http.StatusOK, "GET", "/"+id+"/activity?cursor="+cursor, ""); at(t, got, "items", 0, "type") != "created" {
		t.Errorf("the page is %v", got)
	}
	delete(keys, 1)
	forgotten := h.again(func(c *triage.Config) { c.Cursors = must(triage.NewCursors(2, keys)) })
	forgotten.refused(http.StatusBadRequest, "bad_request", "cursor", "GET", "/"+id+"/activity?cursor="+cursor, "")
}

// triageOperations calls fn for every operation of issues.
func triageOperations(t *testing.T, fn func(method, path string, op *v3.Operation)) {
	t.Helper()
	every(func(method, path string, op *v3.Operation) {
		if strings.HasPrefix(path, "/v1/triage/") {
			fn(method, path, op)
		}
	})
}

// ask makes the request of an operation's example with a key, and returns the status and the body.
func (h *house) ask(method, path string, op *v3.Operation, key string) (int, string) {
	h.t.Helper()
	r := request(h.t, method, path, op)
	r.Header.Set("Authorization", key)
	answer := httptest.NewRecorder()
	h.ServeHTTP(answer, r)
	return answer.Code, answer.Body.String()
}

// TestForeignIssuesAreAbsent checks that every operation on an issue answers alike for an issue of another organization and for an absent
// issue. A part of another issue is absent too.
func TestForeignIssuesAreAbsent(t *testing.T) {
	t.Parallel()
	h := open(t)
	id, link := h.attached()
	at := "/" + id
	second := h.issue()
	parts := map[string]string{
		"resource_id": link,
		"comment_id":  h.data(http.StatusCreated, "POST", at+"/comments", `{"detail":"x"}`)["id"].(string),
		"flag_id":     h.data(http.StatusCreated, "POST", at+"/flags", `{"call_id":"c1","type":"x"}`)["id"].(string),
		"relation_id": h.data(http.StatusCreated, "POST", at+"/relations", `{"related_issue_id":"`+h.issue()+`","relation_type":"blocks"}`)["id"].(string),
		"session_id":  h.data(http.StatusCreated, "POST", at+"/agent-sessions", `{"agent_name":"x"}`)["id"].(string),
	}
	fill := func(path, issue string) string {
		path = strings.Replace(path, "{id}", issue, 1)
		for name, part := range parts {
			path = strings.Replace(path, "{"+name+"}", part, 1)
		}
		return path
	}
	_, stranger := h.tenant("strangers")
	h.call("strangers", "01932c27-94ba-72a9-83eb-a7f3a4b5c6d7") // the id in the contract's example
	h.call(h.org, "01932c27-94ba-72a9-83eb-a7f3a4b5c6d7")
	asked := 0
	triageOperations(t, func(method, path string, op *v3.Operation) {
		if !strings.Contains(path, "{id}") {
			return
		}
		asked++
		what := cmp.Or(map[string]string{"unrelateIssue": "Relation", "getIssueAgentSession": "Session"}[op.OperationId], "Issue")
		absent := `{"data":null,"errors":[{"error":"not_found","message":"` + what + ` not found"}]}`
		for name, c := range map[string]struct{ path, key string }{
			"foreign": {fill(path, id), stranger}, "absent": {fill(path, "nowhere"), stranger}, "absent to its owner": {fill(path, "nowhere"), h.key},
		} {
			if code, body := h.ask(method, c.path, op, c.key); code != http.StatusNotFound || body != absent {
				t.Errorf("%s, %s: %d %s", op.OperationId, name, code, body)
			}
		}
		if strings.Count(path, "{") == 2 { // the part belongs to another issue of the organization
			if code, body := h.ask(method, fill(path, second), op, h.key); code != http.StatusNotFound || !strings.Contains(body, `"not_found"`) {
				t.Errorf("%s, another issue's: %d %s", op.OperationId, code, body)
			}
		}
	})
	if asked != 24 {
		t.Errorf("%d operations have an issue", asked)
	}
}

// TestUnknownMembersOfIssues checks that every body with an unknown member is refused.
func TestUnknownMembersOfIssues(t *testing.T) {
	t.Parallel()
	h := open(t)
	id := h.issue()
	bodies := 0
	triageOperations(t, func(method, path string, op *v3.Operation) {
		_, example := exampleBody(t, op)
		var body map[string]any
		if json.NewDecoder(example).Decode(&body) != nil {
			return
		}
		bodies++
		body["colour"] = "red"
		text := must(json.Marshal(body))
		target := strings.NewReplacer("/v1/triage/issues", "", "{id}", id, "{session_id}", "x", "{comment_id}", "x").Replace(path)
		h.refused(http.StatusBadRequest, "bad_request", "colour", method, target, string(text))
	})
	if bodies != 12 {
		t.Errorf("%d operations have a body", bodies)
	}
}
