package httpapi_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	v3 "github.com/pb33f/libopenapi/datamodel/high/v3"
)

// kinds maps a parameter, or a member of a body, to the kind of object that it identifies (see makers). An empty kind means that it
// identifies no object of an organization. A key is a path up to and including its parameter, an operation and a name, or only a name.
var kinds = map[string]string{
	"/v1/calls/{call_id}": "call", "/v1/recordings/{call_id}": "recording", "/v1/inbound/{phone_number}": "number",
	"/v1/agents/{agent_id}": "agent", "/v1/sip/calls/{call_id}": "attempt", "/v1/pathway/{id}": "pathway", "/v1/pathway/{id}/version/{version}": "",
	"/v1/pathway/chat/{chat_id}": "chat", "/v1/triage/issues/{id}": "issue", "/v1/triage/issues/{id}/comments/{comment_id}": "comment",
	"/v1/triage/issues/{id}/flags/{flag_id}": "flag", "/v1/triage/issues/{id}/resources/{resource_id}": "resource",
	"/v1/triage/issues/{id}/relations/{relation_id}": "relation", "/v1/triage/issues/{id}/agent-sessions/{session_id}": "session",
	"/v1/agent-testing/scenarios/{id}": "scenario", "/v1/agent-testing/runs/{id}": "run", "/v1/agent-testing/batches/{id}": "batch",
	"/v1/agent-testing/simulation-sets/{id}": "set", "/v1/agent-testing/analytics/{pathwayId}": "pathway", "scenario_id": "scenario", "scenario_ids": "scenario", "batch_id": "batch",

	"agent_id": "agent", "discovery_id": "discovery", "from": "number", "into": "other", "citation_schema_ids": "", "pathway_id": "pathway", "phone_number": "number",
	"related_issue_id": "other", "resource_link_ids": "resource", "addIssueFlag.call_id": "attached", "attachIssueResource.resource_id": "call",
	"getSipTestCall.call_id": "testcall", "generateTestScenario.call_id": "over", "/v1/agent-testing/templates/{id}": "",
	"/v1/agent-testing/tornado/{id}": "tornado", "held_out_scenario_ids": "spare", "getActiveTornado.pathway_id": "searched",
	"getActiveTornado.persona_id": "sought",
	"/v1/personas/{id}":           "persona", "persona_id": "persona", "replayTestRun.id": "held", "analyzeTestRun.id": "lost",

	"/v1/sip/port/{id}": "port", "/loa/{token}": "",

	"/v1/speak/samples/{id}": "sample", "/v1/voices/{id}": "voice", "createSpeech.voice_id": "voice", "listSpeechSamples.voice_id": "voice",

	// These are numbers of others, numbers that are not attached yet, and ids that clients or pathways define.
	"createCall.phone_number": "", "attachSipNumbers.phone_number": "", "attachSipNumbers.phone_numbers": "",
	"startSipNumberProof.phone_number": "", "getSipNumberProof.phone_number": "", "verifySipNumberProof.phone_number": "",
	"initiatePort.phone_numbers": "", "phone_numbers[]": "",
	"agent_profile_id": "", "allow_node_ids": "", "deny_node_ids": "", "assignee_id": "", "node_id": "", "owner_id": "", "start_node_id": "", "version_id": "", "voice_id": "",
	"kb_ids": "", // knowledge bases cannot be created
}

// idName matches the names of parameters and members that kinds must list.
var idName = regexp.MustCompile(`(_id|_ids|Id|Ids|ID)$|^phone_numbers?(\[\])?$|^from$|^into$`)

// bodies holds the bodies of operations whose examples lack the id, or require objects that a new world does not have.
var bodies = map[string]string{
	"createCall.agent_id":                `{"phone_number":"` + theirNumber + `","agent_id":"$agent"}`,
	"createCall.pathway_id":              `{"phone_number":"` + theirNumber + `","pathway_id":"$pathway"}`,
	"createCall.from":                    `{"phone_number":"` + theirNumber + `","task":"Talk.","from":"$number"}`,
	"createAgent.pathway_id":             `{"pathway_id":"$pathway"}`,
	"updateAgent.pathway_id":             `{"pathway_id":"$pathway"}`,
	"updateInboundNumber.pathway_id":     `{"pathway_id":"$pathway"}`,
	"publishPathway":                     `{"version_id":1,"environment":"staging"}`,
	"createPathwayChat.pathway_id":       `{"pathway_id":"$pathway"}`,
	"updateIssue":                        `{"title":"Another title"}`,
	"addIssueFlag":                       `{"call_id":"$attached","type":"wrong"}`,
	"addIssueComment":                    `{"detail":"Look at this.","resource_link_ids":["$resource"]}`,
	"attachIssueResource":                `{"resource_type":"call","resource_id":"$call"}`,
	"relateIssue":                        `{"related_issue_id":"$other","relation_type":"blocks"}`,
	"mergeIssue":                         `{"into":"$other"}`,
	"decideIssue":                        `{"decision":"accepted"}`,
	"addIssueAgentEntry":                 `{"type":"thought","detail":"Hm."}`,
	"updateSipNumber":                    `{"phone_number":"$number","updates":{"type":"outbound","sip_endpoint":"sip:pbx2.example.com;transport=tls"}}`,
	"detachSipNumber":                    `{"phone_number":"$number","directions":[{"type":"inbound"}],"service":"sip"}`,
	"updateSipConfig":                    `{"phone_number":"$number","direction":"outbound","codec_config":{"codecs":["PCMU"]}}`,
	"createTestScenario":                 scenarioFor("$pathway", "Books in a rage"),
	"startTestRun":                       `{}`,
	"generateTestScenario":               `{"call_id":"$over","pathway_id":"$pathway"}`,
	"cloneTestTemplate":                  `{"pathway_id":"$pathway"}`,
	"startTestBatch":                     `{"scenario_ids":["$scenario"]}`,
	"startTornado":                       `{"pathway_id":"$pathway","scenario_ids":["$scenario"]}`,
	"startTornado.persona_id":            `{"pathway_id":"$pathway","scenario_ids":["$scenario"],"persona_id":"$persona"}`,
	"startTornado.held_out_scenario_ids": `{"pathway_id":"$pathway","scenario_ids":["$scenario","$spare"],"held_out_scenario_ids":["$spare"]}`,
	"createTestSet":                      `{"scenario_ids":["$scenario"],"simulations_per_scenario":2}`,
	"createTestSet.pathway_id":           `{"scenario_ids":["$scenario"],"simulations_per_scenario":2,"pathway_id":"$pathway"}`,
	"createCall.persona_id":              `{"phone_number":"` + theirNumber + `","persona_id":"$persona"}`,
	"updateInboundNumber.persona_id":     `{"persona_id":"$persona"}`,
	"updateInboundNumber.agent_id":       `{"agent_id":"$agent"}`,
	"createTestScenario.persona_id":      `{"persona_id":"$persona","name":"Talks","tester_persona_prompt":"Talk."}`,
	"generateTestScenario.persona_id":    `{"call_id":"$over","persona_id":"$persona"}`,
	"cloneTestTemplate.persona_id":       `{"persona_id":"$persona"}`,
	"createTestSet.persona_id":           `{"scenario_ids":["$spoken"],"simulations_per_scenario":2,"persona_id":"$persona"}`,
	"startSipTestCall":                   `{"phone_number":"$number"}`,
	"createSpeech":                       `{"text":"Good morning.","output_format":"pcm_8000","voice_id":"$voice"}`,
}

// naming is an id in the requests of an operation: its location, its name, and the kind of its object.
type naming struct {
	in, name, kind string
	optional       bool // the id filters a list
}

// namings returns the ids in the requests of an operation, except ids whose kind is empty. It fails the test if kinds lacks one of the ids.
func namings(t *testing.T, path string, op *v3.Operation) (all []naming) {
	t.Helper()
	kind := func(keys ...string) (string, bool) {
		for _, key := range keys {
			if kind, ok := kinds[key]; ok {
				return kind, true
			}
		}
		return "", false
	}
	add := func(n naming, keys ...string) {
		var known bool
		if n.kind, known = kind(keys...); !known {
			t.Errorf("%s: what is %s, in its %s, the id of? Add it to kinds", op.OperationId, n.name, n.in)
		}
		if n.kind != "" {
			all = append(all, n)
		}
	}
	for _, p := range op.Parameters {
		switch {
		case p.In == "path":
			before, _, _ := strings.Cut(path, "{"+p.Name+"}")
			add(naming{in: p.In, name: p.Name}, op.OperationId+"."+p.Name, before+"{"+p.Name+"}")
		case p.In == "query" && idName.MatchString(p.Name):
			add(naming{in: p.In, name: p.Name, optional: p.Required == nil || !*p.Required}, op.OperationId+"."+p.Name, p.Name)
		}
	}
	if op.RequestBody != nil {
		for name := range op.RequestBody.Content.First().Value().Schema.Schema().Properties.FromOldest() {
			if idName.MatchString(name) {
				add(naming{in: "body", name: name}, op.OperationId+"."+name, name)
			}
		}
	}
	return all
}

// build returns a request for an operation with the ids that the function id returns. The parameter named "of" is the id under test. Other
// ids that only filter a list are left out.
func build(t *testing.T, method, path string, op *v3.Operation, of naming, ids []naming, id func(naming) string) *http.Request {
	t.Helper()
	r := request(t, method, path, op)
	_, example := exampleBody(t, op)
	query := r.URL.Query()
	text, ok := bodies[op.OperationId+"."+of.name]
	if !ok {
		text, ok = bodies[op.OperationId]
	}
	if op.RequestBody != nil && !ok {
		text = string(must(io.ReadAll(example)))
	}
	target := strings.ReplaceAll(path, "{version}", "1")
	for _, n := range ids {
		switch {
		case n.in == "path":
			target = strings.ReplaceAll(target, "{"+n.name+"}", url.PathEscape(id(n)))
		case n.in == "query" && (n == of || !n.optional):
			query.Set(n.name, id(n))
		case n.in == "body":
			text = strings.ReplaceAll(text, "$"+n.kind, id(n))
		}
	}
	if strings.Contains(text, "$spoken") { // a body may name a second object
		text = strings.ReplaceAll(text, "$spoken", id(naming{kind: "spoken"}))
	}
	for _, p := range op.Parameters { // ids that all organizations share
		if p.In == "path" && p.Example != nil {
			target = strings.ReplaceAll(target, "{"+p.Name+"}", p.Example.Value)
		}
	}
	again := httptest.NewRequestWithContext(t.Context(), method, target+"?"+query.Encode(), strings.NewReader(text))
	again.Header = r.Header
	return again
}

// absent returns an unknown id with the form of id.
func absent(id string) string {
	tail := []byte(id[max(0, len(id)-8):])
	for i, c := range tail {
		if '0' <= c && c <= '9' {
			tail[i] = '9' - (c - '0')
		}
	}
	return id[:len(id)-len(tail)] + string(tail)
}

// TestForeignThingsAreAbsentEverywhere checks every operation that accepts an id. For an object of another organization, the answer must
// equal the answer for an absent object. The owner must receive a different, successful answer.
func TestForeignThingsAreAbsentEverywhere(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.looker.answer()
	organizations := &worlds{h: h}
	asked := map[string]bool{}
	every(func(method, path string, op *v3.Operation) {
		probe := httptest.NewRecorder()
		if h.ServeHTTP(probe, plain(t, h, method, path, op)); probe.Code == http.StatusNotImplemented {
			return
		}
		ids := namings(t, path, op)
		for _, of := range ids {
			asked[op.OperationId] = true
			owner, stranger := organizations.next(), organizations.next()
			ask := func(by *world, method string, about string) (int, string) {
				r := build(t, method, path, op, of, ids, func(n naming) string {
					if n == of && about != "" {
						return about
					}
					return by.id(n.kind)
				})
				r.Header.Set("Authorization", by.key)
				answer := httptest.NewRecorder()
				h.ServeHTTP(answer, r)
				text := strings.NewReplacer(owner.id(of.kind), "ID", absent(owner.id(of.kind)), "ID").Replace(answer.Body.String())
				return answer.Code, text
			}
			foreign, body := ask(stranger, method, owner.id(of.kind))
			none, want := ask(stranger, method, absent(owner.id(of.kind)))
			if foreign != none || body != want {
				t.Errorf("%s, %s of another organization: %d %s\nabsent: %d %s", op.OperationId, of.name, foreign, body, none, want)
			}
			if streams := op.Responses.Codes.GetOrZero("200"); streams != nil && streams.Content != nil && streams.Content.GetOrZero("text/event-stream") != nil {
				method = "HEAD"
			}
			own, body := ask(owner, method, "")
			if own >= 400 || own == none && body == want && !of.optional {
				t.Errorf("%s, %s of its own: %d %s", op.OperationId, of.name, own, body)
			}
		}
	})
	if len(asked) < 40 {
		t.Errorf("only %d operations name an id", len(asked))
	}
}
