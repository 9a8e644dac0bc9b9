package httpapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore/sipstore"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/calllog"
)

// world is an organization of a house. Its objects are created on first use.
type world struct {
	h    *house
	org  callwright.OrgID
	key  string
	made map[string]string
}

// worlds creates organizations whose numbers are distinct.
type worlds struct {
	h     *house
	count int
}

func (ws *worlds) next() *world {
	ws.h.t.Helper()
	ws.count++
	w := &world{h: ws.h, made: map[string]string{"number": fmt.Sprintf("+1415552%04d", ws.count)}}
	w.org, w.key = ws.h.tenant(fmt.Sprintf("world-%d", ws.count), callwright.EntitlementSIP)
	w.do(http.StatusOK, "POST", "/v1/sip/attach", `{"phone_number":"$number","service":"sip","directions":[
		{"type":"outbound","sip_endpoint":"sip:pbx.example.com:5061;transport=tls"},{"type":"inbound"}]}`)
	w.id("attempt") // the attempt appears in lists of the world's number
	return w
}

// id returns the id of the world's object of a kind. It creates the object on the first call.
func (w *world) id(kind string) string {
	w.h.t.Helper()
	if w.made[kind] == "" {
		maker, ok := makers[kind]
		if !ok {
			w.h.t.Fatalf("nothing makes a %s: add it to makers", kind)
		}
		w.made[kind] = maker(w)
	}
	return w.made[kind]
}

// do makes a request, checks its status, and decodes the answer. In target and body, $kind is replaced by the id of the world's object of
// that kind.
func (w *world) do(status int, method, target, body string) (answer map[string]any) {
	w.h.t.Helper()
	text := w.fill(body)
	r := httptest.NewRequestWithContext(w.h.t.Context(), method, w.fill(target), strings.NewReader(text))
	r.Header.Set("Authorization", w.key)
	r.Header.Set("Content-Type", "application/json")
	got := httptest.NewRecorder()
	w.h.ServeHTTP(got, r)
	if got.Code != status || json.Unmarshal(got.Body.Bytes(), &answer) != nil {
		w.h.t.Fatalf("%s %s %s: %d %s, want %d", method, r.URL, text, got.Code, got.Body, status)
	}
	keepsContract(w.h.t, r, got)
	return answer
}

// fill replaces each $kind in a text by the id of the world's object of that kind.
func (w *world) fill(text string) string {
	w.h.t.Helper()
	for kind := range makers {
		if strings.Contains(text, "$"+kind) {
			text = strings.ReplaceAll(text, "$"+kind, w.id(kind))
		}
	}
	return strings.ReplaceAll(text, "$number", w.made["number"])
}

// makers maps kinds to functions that create an object in a world and return its id.
var makers map[string]func(w *world) string

func init() { //nolint:gochecknoinits // makers use each other
	// by returns a maker that makes a request and returns the id at a path of the answer.
	by := func(status int, method, target, body string, path ...any) func(*world) string {
		return func(w *world) string {
			id, _ := at(w.h.t, w.do(status, method, target, body), path...).(string)
			return id
		}
	}
	issues, testing := "/v1/triage/issues", "/v1/agent-testing"
	makers = map[string]func(w *world) string{
		"call":      makeCall,
		"recording": makeRecording,
		"over":      makeOver,
		"attempt":   makeAttempt,
		"pathway":   makePathway,
		"agent":     by(201, "POST", "/v1/agents", `{"prompt":"Talk."}`, "agent", "agent_id"),
		"persona":   makePersona,
		"chat":      by(201, "POST", "/v1/pathway/chat/create", `{"pathway_id":"$pathway"}`, "data", "chat_id"),
		"discovery": by(200, "POST", "/v1/sip/discover", `{"host":"pbx.example.com"}`, "data", "discovery_id"),
		"port":      by(201, "POST", "/v1/sip/port/initiate", portBody("$number"), "data", "port_request_id"),
		"testcall":  by(200, "POST", "/v1/sip/test-call", `{"phone_number":"$number"}`, "data", "call_id"),
		"issue":     by(201, "POST", issues, `{"title":"Agent books a closed day"}`, "data", "id"),
		"other":     by(201, "POST", issues, `{"title":"Agent books a closed day again"}`, "data", "id"),
		"comment":   by(201, "POST", issues+"/$issue/comments", `{"detail":"Look at this."}`, "data", "id"),
		"flag":      by(201, "POST", issues+"/$issue/flags", `{"call_id":"$attached","type":"wrong"}`, "data", "id"),
		"relation":  by(201, "POST", issues+"/$issue/relations", `{"related_issue_id":"$other","relation_type":"blocks"}`, "data", "id"),
		"resource":  by(201, "POST", issues+"/$issue/resources", `{"resource_type":"call","resource_id":"$call"}`, "data", "id"),
		"session":   by(201, "POST", issues+"/$issue/agent-sessions", `{"agent_name":"Fixer"}`, "data", "id"),
		"sample":    by(200, "POST", "/v1/speak", `{"text":"Good morning.","output_format":"pcm_8000"}`, "sample_id"),
		"voice":     makeVoice,
		"spoken":    by(201, "POST", testing+"/scenarios", `{"persona_id":"$persona","name":"Talks","tester_persona_prompt":"Talk."}`, "data", "id"),
		"scenario":  by(201, "POST", testing+"/scenarios", scenarioFor("$pathway", "Books in a hurry"), "data", "id"),
		"run":       by(202, "POST", testing+"/scenarios/$scenario/run", `{}`, "data", "run_id"),
		"held":      makeHeld,
		"lost":      makeLost,
		"batch":     by(202, "POST", testing+"/batch-run", `{"scenario_ids":["$scenario"]}`, "data", "batch_id"),
		"set": by(202, "POST", testing+"/simulation-sets", `{"scenario_ids":["$scenario"],"simulations_per_scenario":2}`,
			"data", "simulation_set_id"),
		"spare": by(201, "POST", testing+"/scenarios", scenarioFor("$pathway", "Books at leisure"), "data", "id"),
		"tornado": by(202, "POST", testing+"/tornado/start", `{"pathway_id":"$pathway","persona_id":"$persona","scenario_ids":["$scenario"]}`,
			"data", "session_id"),
		"searched": func(w *world) string { // a pathway on which a session runs
			w.id("tornado")
			return w.id("pathway")
		},
		"sought": func(w *world) string { // a persona for which a session runs
			w.id("tornado")
			return w.id("persona")
		},
		"attached": func(w *world) string { // the call that is attached as the resource
			w.id("resource")
			return w.id("call")
		},
	}
}

// makeCall queues a call that can be attached to issues.
func makeCall(w *world) string {
	id, _ := w.do(200, "POST", "/v1/calls", `{"phone_number":"`+theirNumber+`","task":"Talk."}`)["call_id"].(string)
	w.h.call(w.org, id)
	return id
}

// makeVoice clones a voice from a recording.
func makeVoice(w *world) string {
	body, contentType := form(part{"name", "", "Ines"}, part{"audio_samples", "a.wav", aVoice()})
	answer := w.h.send("POST", "/v1/voices/clone", body, header{"Content-Type", contentType}, header{"Authorization", w.key})
	return sent(w.h.t, answer, http.StatusOK)["data"].(map[string]any)["voice_id"].(string)
}

// makeRecording stores an ended call with its recording.
func makeRecording(w *world) string {
	id := "recorded-by-" + string(w.org)
	w.h.endedAs(id, time.Now().UTC(), func(c *call.Call) { c.Org = w.org })
	file := must(w.h.files.Create(w.h.t.Context(), w.org, id))
	_ = must(file.Write([]byte("RIFF" + strings.Repeat("wav.", 100))))
	if err := file.Close(); err != nil {
		w.h.t.Fatal(err)
	}
	return id
}

// makeOver stores an ended call with a transcript.
func makeOver(w *world) string {
	id := "over-by-" + string(w.org)
	w.h.endedAs(id, time.Now().UTC(), func(c *call.Call) { c.Org = w.org })
	err := w.h.calls.Append(w.h.t.Context(), w.org, id, call.Entry{Seq: 1, Speaker: call.SpeakerUser, Text: "I am 415 555 0123."})
	if err != nil {
		w.h.t.Fatal(err)
	}
	return id
}

// makeAttempt adds a running call to the trunks' log.
func makeAttempt(w *world) string {
	id := "attempt-by-" + string(w.org)
	err := sipstore.CallLog{Store: w.h.store}.Begin(w.h.t.Context(), calllog.Record{
		ID: id, Org: w.org, TrunkID: "t", Number: callwright.PhoneNumber(w.made["number"]), Direction: sip.Outbound,
		From: w.made["number"], To: theirNumber, Attempt: 1, Server: "pbx.example.com:5061", Node: "n1", StartedAt: began,
	})
	if err != nil {
		w.h.t.Fatal(err)
	}
	return id
}

// makePathway creates a pathway with two versions, the second of which is in production.
func makePathway(w *world) string {
	id, _ := w.do(201, "POST", "/v1/pathway/create", `{"name":"Booking",`+dayGraph+`}`)["pathway_id"].(string)
	for range 2 {
		w.do(201, "POST", "/v1/pathway/"+id+"/version", `{"name":"A version",`+dayGraph+`}`)
	}
	w.do(200, "POST", "/v1/pathway/"+id+"/publish", `{"version_id":2,"environment":"production"}`)
	return id
}

// makePersona creates a persona with a draft.
func makePersona(w *world) string {
	id, _ := at(w.h.t, w.do(201, "POST", "/v1/personas", `{"name":"Front desk","orchestration_prompt":"Book tables."}`), "data", "id").(string)
	w.do(200, "PATCH", "/v1/personas/"+id, `{"orchestration_prompt":"Book or cancel tables."}`)
	return id
}
