package httpapi_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// The tests' graph asks for a day and repeats the caller's answer. Its nodes and its edge contain unknown members.
const (
	greetingNode = `{"id":"greeting","type":"Default","position":{"y":0.50,"x":1e2},"data":{"name":"Greeting","isStart":true,` +
		`"text":"Which day suits you, {{name}}?","extractVars":[["day","string","\"Tuesday\" or \"Thursday\""]],` +
		`"note":{"deep":[10000000000000000001,null,"\u00e9\/"]}}}`
	goodbyeNode = `{"id":"goodbye","type":"End Call","data":{"name":"Goodbye","text":"{{day}} it is. Goodbye.","tag":{"name":"booked"}}}`
	dayEdge     = `{"id":"e1","source":"greeting","target":"goodbye","data":{"label":"\"tuesday\" or \"thursday\"","colour":"red"}}`
	dayGraph    = `"nodes":[` + greetingNode + `,` + goodbyeNode + `],"edges":[` + dayEdge + `]`
)

// drawn creates a pathway whose draft is the tests' graph, and returns its id.
func (h *house) drawn() string {
	h.t.Helper()
	id, _ := h.want(http.StatusCreated, "POST", "/v1/pathway/create", `{"name":"Booking",`+dayGraph+`}`)["pathway_id"].(string)
	return id
}

// saved stores the tests' graph as the next version of a pathway, and returns the version's number.
func (h *house) saved(id string) float64 {
	h.t.Helper()
	answer := h.want(http.StatusCreated, "POST", "/v1/pathway/"+id+"/version", `{"name":"A version",`+dayGraph+`}`)
	number, _ := at(h.t, answer, "data", "version_number").(float64)
	return number
}

func TestPathwayIsKeptAsItWasDrawn(t *testing.T) {
	t.Parallel()
	h := open(t)
	id := h.drawn()
	read := h.do("GET", "/v1/pathway/"+id, "")
	for _, text := range []string{greetingNode, goodbyeNode, dayEdge} {
		if !strings.Contains(read.Body.String(), text) {
			t.Errorf("%s does not hold %s", read.Body, text)
		}
	}
	record := h.want(http.StatusOK, "GET", "/v1/pathway/"+id, "")
	for name, want := range map[string]any{
		"id": id, "name": "Booking", "description": "", "production_version_number": nil, "staging_version_number": nil,
		"promotion": nil,
	} {
		if record[name] != want {
			t.Errorf("%s is %v, want %v", name, record[name], want)
		}
	}
	renamed := h.want(http.StatusOK, "POST", "/v1/pathway/"+id, `{"name":"Dates","description":"Books dates."}`)
	if at(t, renamed, "pathway_data", "name") != "Dates" || at(t, renamed, "pathway_data", "description") != "Books dates." ||
		at(t, renamed, "pathway_data", "nodes", 1, "id") != "goodbye" || renamed["status"] != "success" {
		t.Errorf("renamed %v", renamed)
	}
	shortened := h.want(http.StatusOK, "POST", "/v1/pathway/"+id, `{`+shortGraph+`}`)
	if nodes, _ := at(t, shortened, "pathway_data", "nodes").([]any); len(nodes) != 1 ||
		at(t, shortened, "pathway_data", "name") != "Dates" {
		t.Errorf("shortened %v", shortened)
	}
	emptied := h.want(http.StatusOK, "POST", "/v1/pathway/"+id, `{"nodes":[],"edges":[]}`)
	if nodes, _ := at(t, emptied, "pathway_data", "nodes").([]any); nodes == nil || len(nodes) != 0 {
		t.Errorf("emptied %v", emptied)
	}
	if start := h.want(http.StatusConflict, "POST", "/v1/pathway/chat/create", `{"pathway_id":"`+id+`"}`); start["data"] != nil {
		t.Errorf("a chat with nothing: %v", start)
	}
}

// TestPathwayWarnings checks that the answers to drafts and versions name labels that the server's model never chooses.
func TestPathwayWarnings(t *testing.T) {
	t.Parallel()
	h := open(t)
	free := strings.Replace(dayGraph, `\"tuesday\" or \"thursday\"","colour"`, `answers freely","colour"`, 1)
	const want = `label of edge "e1": without a language model, "answers freely" never applies`
	created := h.want(http.StatusCreated, "POST", "/v1/pathway/create", `{"name":"Booking",`+free+`}`)
	path, _ := created["pathway_id"].(string)
	for what, answer := range map[string]map[string]any{
		"created": created,
		"updated": h.want(http.StatusOK, "POST", "/v1/pathway/"+path, `{"name":"Dates"}`),
		"version": h.want(http.StatusCreated, "POST", "/v1/pathway/"+path+"/version", `{"name":"v",`+free+`}`),
		"fork":    h.want(http.StatusCreated, "POST", "/v1/pathway/"+path+"/version/1/fork", `{"name":"f"}`),
	} {
		if warning, _ := at(t, answer, "warnings", 0).(string); !strings.HasPrefix(warning, want) {
			t.Errorf("%s: %v", what, answer["warnings"])
		}
	}
	if quiet := h.want(http.StatusOK, "POST", "/v1/pathway/"+path, `{`+dayGraph+`}`); quiet["warnings"] != nil {
		t.Errorf("warnings %v", quiet["warnings"])
	}
}

func TestPathwaysAreListedAndDeleted(t *testing.T) {
	t.Parallel()
	h := open(t)
	first, second := h.drawn(), h.drawn()
	for query, want := range map[string]string{
		"": second + " " + first, "?limit=1": second, "?limit=1&offset=1": first, "?offset=2": "",
	} {
		var list []any
		h.decode(http.StatusOK, "GET", "/v1/pathway"+query, "", &list)
		var ids []string
		for i := range list {
			ids = append(ids, at(t, list, i, "id").(string))
			item, _ := list[i].(map[string]any)
			if item["nodes"] != nil || item["edges"] != nil || item["name"] == nil {
				t.Errorf("%q: the list has %v", query, item)
			}
		}
		if got := strings.Join(ids, " "); got != want {
			t.Errorf("%q: %s, want %s", query, got, want)
		}
	}
	deleted := h.want(http.StatusOK, "DELETE", "/v1/pathway/"+first, "")
	if deleted["status"] != "success" || deleted["message"] == "" {
		t.Errorf("deleted %v", deleted)
	}
	if again := h.want(http.StatusNotFound, "DELETE", "/v1/pathway/"+first, ""); at(t, again, "errors", 0, "error") != "NOT_FOUND" {
		t.Errorf("deleted again: %v", again)
	}
	h.want(http.StatusNotFound, "GET", "/v1/pathway/"+first, "")
	h.want(http.StatusBadRequest, "GET", "/v1/pathway?limit=101", "")
}

// TestPathwaysOfOthersAreAbsent checks that every operation answers alike for a pathway of another organization and for an unknown pathway.
func TestPathwaysOfOthersAreAbsent(t *testing.T) {
	t.Parallel()
	h := open(t)
	id := h.drawn()
	h.saved(id)
	_, other := h.tenant("other")
	for _, c := range []struct{ method, path, body string }{
		{"GET", "", ""},
		{"POST", "", `{"name":"Mine"}`},
		{"DELETE", "", ""},
		{"POST", "/version", `{"name":"v",` + dayGraph + `}`},
		{"GET", "/versions", ""},
		{"GET", "/version/1", ""},
		{"GET", "/version/0", ""},
		{"DELETE", "/version/1", ""},
		{"POST", "/version/1/fork", `{"name":"f"}`},
		{"GET", "/version/1/diff?against=0", ""},
		{"POST", "/publish", `{"version_id":1}`},
	} {
		foreign := h.do(c.method, "/v1/pathway/"+id+c.path, c.body, header{"Authorization", other})
		absent := h.do(c.method, "/v1/pathway/nobodys"+c.path, c.body)
		if foreign.Code != http.StatusNotFound || foreign.Body.String() != absent.Body.String() {
			t.Errorf("%s %s: foreign %d %s, absent %d %s",
				c.method, c.path, foreign.Code, foreign.Body, absent.Code, absent.Body)
		}
	}
	chat := h.want(http.StatusNotFound, "POST", "/v1/pathway/chat/create", `{"pathway_id":"`+id+`"}`, header{"Authorization", other})
	if at(t, chat, "errors", 0, "error") != "NOT_FOUND" {
		t.Errorf("chat %v", chat)
	}
	h.want(http.StatusOK, "GET", "/v1/pathway/"+id+"/version/1", "")
}

func TestEveryFaultOfAGraphIsNamed(t *testing.T) {
	t.Parallel()
	h := open(t)
	id := h.drawn()
	broken := `"nodes":[{"id":"a","type":"Dream"},` + goodbyeNode + `,7],"edges":[{"id":"e","source":"a","target":"nowhere","data":{}}]`
	answer := h.want(http.StatusBadRequest, "POST", "/v1/pathway/"+id+"/version", `{"name":"v",`+broken+`}`)
	message, _ := answer["message"].(string)
	for _, path := range []string{"nodes[0].type: ", "nodes[2]: ", "edges[0].target: ", "edges[0].data.label: "} {
		if !strings.Contains("\n"+message, "\n"+path) {
			t.Errorf("no line about %s in %q", path, message)
		}
	}
	if at(t, answer, "errors", 0, "error") != "BAD_REQUEST" || at(t, answer, "errors", 0, "path") != "nodes[0].type" {
		t.Errorf("answer %v", answer)
	}
	many := strings.Repeat(`{"id":"x","type":"Default","data":{"name":"`+strings.Repeat("n", 201)+`"}},`, 99) + goodbyeNode
	answer = h.want(http.StatusBadRequest, "POST", "/v1/pathway/"+id+"/version", `{"name":"v","nodes":[`+many+`],"edges":[]}`)
	message, _ = answer["message"].(string)
	if lines := strings.Split(message, "\n"); len(message) > 4000 || !strings.HasPrefix(lines[len(lines)-1], "and ") {
		t.Errorf("%d lines in %d bytes, the last %q", len(lines), len(message), lines[len(lines)-1])
	}
	large := `{"name":"v","nodes":[{"id":"a","x":"` + strings.Repeat("x", 1<<20) + `"}],"edges":[]}`
	h.want(http.StatusRequestEntityTooLarge, "POST", "/v1/pathway/"+id+"/version", large)
}

// FuzzPathway checks that no body causes a server error, and that stored nodes are returned byte for byte.
func FuzzPathway(f *testing.F) {
	for _, body := range []string{
		`{"name":"Booking",` + dayGraph + `}`, `{"name":"x","nodes":[ ` + goodbyeNode + ` ,7,[[]]],"edges":[{}]}`, `{"name":"x","nodes":{}}`,
		`{"name":"x","nodes":[{"id":"a","type":"End Call","data":{"isStart":true,"text":"\ud800 \u00e9","n":1e400}}],"edges":[]}`,
		`{"name":"x","edges":null}`, `{"nodes":[`,
	} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		h := open(t)
		answer := h.do("POST", "/v1/pathway/create", body)
		if answer.Code >= http.StatusInternalServerError {
			t.Errorf("%q: %d %s", body, answer.Code, answer.Body)
		}
		if answer.Code != http.StatusCreated {
			return
		}
		var given, kept struct {
			ID    string            `json:"pathway_id"`
			Nodes []json.RawMessage `json:"nodes"`
		}
		if err := errors.Join(json.Unmarshal([]byte(body), &given), json.Unmarshal(answer.Body.Bytes(), &kept)); err != nil {
			t.Fatalf("%q was taken: %v", body, err)
		}
		read := httptest.NewRequestWithContext(t.Context(), "GET", "/v1/pathway/"+kept.ID, nil)
		read.Header.Set("Authorization", h.key)
		answer = httptest.NewRecorder() // not validated, because the validator accepts no number beyond a float64
		if h.ServeHTTP(answer, read); json.Unmarshal(answer.Body.Bytes(), &kept) != nil {
			t.Fatalf("%q: %d %s", body, answer.Code, answer.Body)
		}
		if !slices.EqualFunc(given.Nodes, kept.Nodes, func(a, b json.RawMessage) bool { return string(a) == string(b) }) {
			t.Errorf("%q came back as %q", given.Nodes, kept.Nodes)
		}
	})
}
