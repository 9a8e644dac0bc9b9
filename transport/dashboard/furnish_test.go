package dashboard_test

import (
	"encoding/json"
	"math"
	"path"
	"strings"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore/sipstore"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/dialogue"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/agents/persona"
	"github.com/callwright/callwright/agents/request"
	"github.com/callwright/callwright/agenttest/analysis"
	"github.com/callwright/callwright/agenttest/assert"
	"github.com/callwright/callwright/agenttest/engine"
	"github.com/callwright/callwright/agenttest/group"
	"github.com/callwright/callwright/agenttest/run"
	"github.com/callwright/callwright/agenttest/scenario"
	"github.com/callwright/callwright/agenttest/tornado"
	"github.com/callwright/callwright/delivery"
	"github.com/callwright/callwright/porting"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/alert"
	"github.com/callwright/callwright/sip/calllog"
	"github.com/callwright/callwright/sip/health"
	"github.com/callwright/callwright/sip/ladder"
	"github.com/callwright/callwright/sip/setup"
	"github.com/callwright/callwright/sip/siptest"
	"github.com/callwright/callwright/sip/testcall"
	"github.com/callwright/callwright/speech"
	"github.com/callwright/callwright/speech/pcm"
	"github.com/callwright/callwright/speech/speechtest"
	"github.com/callwright/callwright/triage"
)

// check fails the test if err is not nil.
func (h *house) check(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

// things maps patterns of routes, up to and including a wildcard, to the ids of an organization's objects for this wildcard.
type things map[string]string

// furnish creates an organization with at least one object of each type, and returns ids of the objects. The function say makes nearly all
// texts that a user or a peer could write.
func (h *house) furnish(org callwright.OrgID, number string) things {
	h.t.Helper()
	must(h.config.Access.CreateOrganization(h.t.Context(), org, h.say("Acme")))
	all := things{}
	h.furnishCalls(all, org)
	h.furnishTrunk(all, org, number)
	h.furnishAgents(all, org, callwright.PhoneNumber(number))
	h.furnishPathway(all, org)
	h.furnishTests(all, org)
	h.furnishRun(all, org)
	h.furnishPort(all, org, number)
	h.furnishIssue(all, org)
	h.furnishSpeech(all, org)
	key, err := h.config.Access.CreateKey(h.t.Context(), org, h.say("desk"), 0)
	h.check(err)
	_, session, err := h.config.Access.SignIn(h.t.Context(), key.Key.Reveal())
	h.check(err)
	all["/settings/keys/{id}"], all["/settings/sessions/{id}"], all["/settings/organizations/{id}"] = key.Record.ID, session.ID, string(org)
	lost := delivery.Message{Org: org, Kind: delivery.MessageCall, ID: "lost", Subject: all["/calls/{id}"], URL: "https://hooks.example.com/"}
	failure := callwright.Errorf(callwright.CodeUnavailable, "%s", h.say("it answered with status 503"))
	h.check(h.config.Deliveries.Attempted(h.t.Context(), lost, failure, time.Now(), time.Time{}))
	return all
}

// data returns a JSON object with texts that a client, a model or a server could send.
func (h *house) data() map[string]any {
	return map[string]any{h.say("name"): h.say("value"), "list": []any{map[string]any{"deep": h.say("value")}}}
}

// furnishCalls stores a failed call with a recording, a transcript and a log.
func (h *house) furnishCalls(all things, org callwright.OrgID) {
	id, ctx := "call-"+string(org), h.t.Context()
	all["/calls/{id}"] = id
	h.check(h.calls.Insert(ctx, call.Call{
		ID: id, Org: org, Inbound: true, From: h.say("+14155550100"), To: h.say("+14155550123"), Queue: call.QueueComplete, Status: call.StatusFailed, Recorded: true,
		CreatedAt: created, StartedAt: new(created), EndedAt: new(created.Add(time.Minute)), TransferredAt: new(created), Version: 1,
		Ending: &call.HangupReason{Cause: call.Cause(h.say("internal")), SIPCode: 500, Reason: h.say("Broken")}, ErrorMessage: h.say("It failed."),
		AnsweredBy: call.AnsweredBy(h.say("human")), TransferredTo: h.say("+14155550199"), ModelUsed: h.say("scripted"), Node: h.say("n"),
		Analysis:  call.Analysis{Summary: h.say("They agreed."), Disposition: h.say("booked"), Error: h.say("none")},
		Carriage:  call.LegInfo{Peer: h.say("192.0.2.7"), Codec: h.say("PCMU"), TLS: h.say("TLS 1.3"), SRTPSuite: h.say("AES")},
		Delivery:  call.Delivery{State: call.DeliveryGivenUp, Attempts: 1, LastFailure: h.say("answered 500")},
		Variables: h.data(), RequestData: h.data(), Metadata: h.data(), Agent: agents.Agent{
			Task: h.say("Talk."), Voice: h.say("ada"), Language: h.say("en"), PersonaID: h.say("persona"), Webhook: "https://example.com/hook", Record: true,
		},
	}))
	for seq, speaker := range []call.Speaker{call.SpeakerUser, call.SpeakerAssistant, call.SpeakerAction} {
		h.check(h.calls.Append(ctx, org, id, call.Entry{
			Seq: seq + 1, Speaker: speaker, Text: h.say("Hello."), Start: 12300 * time.Millisecond, End: 13 * time.Second, CreatedAt: created,
		}))
	}
	h.check(h.calls.AppendLog(ctx, org, id, pathway.Log{Turn: 1, Heard: h.say("Hello."), Said: h.say("Hello."), Entries: []pathway.LogEntry{
		{Kind: pathway.LogDecision, Node: h.say("a"), Name: h.say("A"), Chosen: h.say("b"), Tag: h.say("tag"), Text: h.say("They said so."), Variables: h.data(), At: created},
		{Kind: pathway.LogRequest, Name: h.say("tool"), At: created, Request: &request.Log{
			Name: h.say("tool"), Method: "POST", URL: "https://x.example/" + h.say("path"), Status: 500, Error: h.say("refused"), Body: []byte(h.say("body")), Variables: h.data(),
		}},
	}}))
	file, err := h.audio.Create(ctx, org, id)
	h.check(err)
	h.check(pcm.WriteWAV(file, pcm.Audio{Rate: 8000, Channels: 2, Samples: make([]int16, 32000)}))
	h.check(file.Close())
}

// furnishAgents stores a web agent, a persona with a draft, and the agent of an inbound number.
func (h *house) furnishAgents(all things, org callwright.OrgID, number callwright.PhoneNumber) {
	ctx := h.t.Context()
	said := agents.Agent{Task: h.say("Talk."), FirstSentence: h.say("Hello."), Voice: h.say("ada"), Keywords: []string{h.say("Ada")}}
	said.Machines = agents.Machines{Voicemail: agents.MachineMessage, VoicemailMessage: h.say("Call us.")}
	said.Pronunciation = []agents.Pronunciation{{Word: "Ada", Spoken: h.say("ay-da")}}
	all["/agents/web/{id}"] = must(h.config.Agents.CreateAgent(ctx, org, agents.WebAgent{Agent: said})).ID
	desk := must(h.config.Personas.Create(ctx, org, persona.Persona{
		Name: h.say("Front desk"), Role: h.say("Receptionist"), Description: h.say("Books."), Tags: []string{"clinic"},
	}, persona.Version{Orchestration: h.say("Book."), Call: persona.CallConfig{Idle: &dialogue.Idle{Prompt: h.say("Hello?")}}}))
	must(h.config.Personas.Update(ctx, org, desk.Persona.ID, persona.Change{Personality: callwright.Given(h.say("Calm."))}))
	all["/agents/personas/{id}"] = desk.Persona.ID
	h.check(h.config.Agents.RegisterInbound(ctx, org, number))
	_, _, err := h.config.Agents.UpdateInbound(ctx, org, number, agents.Patch{Task: callwright.Given(h.say("Answer."))})
	h.check(err)
	all["/agents/numbers/{number}"] = number.String()
}

// furnishTrunk attaches a number, and stores the status, a call attempt, a test call and other data of its trunks.
func (h *house) furnishTrunk(all things, org callwright.OrgID, number string) {
	ctx, at := h.t.Context(), "/trunks/{number}"
	done, err := h.config.Trunks.Attach(ctx, org, sip.Attachment{Numbers: []string{number}, Directions: []sip.DirectionInput{
		{Type: sip.Inbound}, {Type: sip.Outbound, Endpoint: new("sip:pbx.example.com")},
	}})
	h.check(err)
	if len(done.Configured) != 1 {
		h.t.Fatalf("%+v", done.Failed)
	}
	trunk := must(h.config.Trunks.Trunk(ctx, org, number, sip.Outbound))
	status := must(h.status.Status(ctx, org, trunk.ID))
	status.Servers[0].Health = health.Server{State: health.Healthy, CheckedAt: created, Reason: h.say("200 OK")}
	status.Alerts = alert.States{alert.Unreachable: {Raised: true, TriggeredAt: created}}
	h.check(siptest.StageStatus(ctx, h.status, status))

	all[at], all[at+"/calls/{id}"], all[at+"/test/{id}"] = number, "attempt-"+string(org), "tc_"+string(org)
	phone := callwright.PhoneNumber(number)
	now := time.Now()
	h.check(sipstore.Drafts{Store: h.store}.InsertDraft(ctx, setup.Draft{
		ID: "setup-" + string(org), Org: org, Directions: setup.BothWays, Step: setup.StepNumbers, Endpoint: h.say("sip:pbx.example.com"),
		Discovery: h.say("none"), Auth: setup.AuthDigest, Username: h.say("robin"), Password: "secret", Numbers: h.say(number),
		Allowed: h.say("192.0.2.7"), CreatedAt: now, UpdatedAt: now,
	}, setup.MaxDrafts, created))
	h.check(sipstore.Deliveries{Store: h.store}.AddDelivery(ctx, sip.Delivery{
		ID: "told-" + string(org), Org: org, TrunkID: trunk.ID, Number: phone, Direction: sip.Outbound, Kind: alert.Unreachable, CreatedAt: created,
		Channel: alert.ByMail, To: h.say("ops@example.com"), State: sip.DeliveryGivenUp, Error: h.say("refused"),
	}, 10))
	h.check(h.log.Begin(ctx, calllog.Record{
		ID: all[at+"/calls/{id}"], Org: org, TrunkID: trunk.ID, Number: phone, ParentID: all["/calls/{id}"], Direction: sip.Inbound, StartedAt: created, Attempt: 1,
		From: h.say("+14155550100"), To: h.say("+14155550123"), SIPCallID: h.say("id"), Server: h.say("pbx.example.com"), Source: h.say("192.0.2.7"),
	}))
	end := calllog.End{EndedAt: new(created.Add(time.Minute)), SIPCode: 500, Status: h.say("500 Broken"), Cause: h.say("internal"), Reason: h.say("Broken")}
	h.check(h.log.Finish(ctx, org, all[at+"/calls/{id}"], end, []ladder.Event{
		{At: created, Attempt: 1, Note: ladder.NoteConnected, Detail: h.say("TLS 1.3"), Peer: h.say("192.0.2.7")},
		{At: created, Attempt: 1, Method: h.say("INVITE"), Body: h.say("PCMU"), Branch: h.say("b"), Transport: h.say("TLS 1.3")},
		{At: created, Attempt: 1, Method: "INVITE", Status: 500, Reason: h.say("Broken")},
	}))
	test := testcall.Call{
		ID: all[at+"/test/{id}"], Org: org, Number: phone, StartedAt: created, EndedAt: new(created), Version: 1,
		Timeline: []testcall.Event{{Name: "initiated", At: created, Detail: h.say("Broken")}},
	}
	_, _, err = h.attempt.Insert(ctx, test, 1, created)
	h.check(err)
}

// furnishPathway creates a pathway. The owner's pathway has two versions.
func (h *house) furnishPathway(all things, org callwright.OrgID) {
	ctx := h.t.Context()
	raw := func(members map[string]any) json.RawMessage { return must(json.Marshal(members)) }
	d := graph.Document{
		Nodes: []json.RawMessage{
			raw(map[string]any{"id": "a", "type": "Default", "data": map[string]any{"name": h.say("A"), "isStart": true, "text": h.say("Hi.")}}),
			raw(map[string]any{"id": "b", "type": "End Call", "data": map[string]any{"name": h.say("B"), "text": h.say("Bye.")}}),
		},
		Edges: []json.RawMessage{raw(map[string]any{"id": "e", "source": "a", "target": "b", "data": map[string]any{"label": h.say("done")}})},
	}
	p, err := h.config.Pathways.Create(ctx, org, pathway.Draft{Name: h.say("Front desk"), Description: h.say("For all"), Document: d})
	h.check(err)
	all["/pathways/{id}"], all["/pathways/{id}/versions/{number}"] = p.ID, "1"
	for range 2 {
		_, err = h.config.Pathways.Fork(ctx, org, p.ID, 0, h.say("Next"), nil)
		h.check(err)
		if org == stranger {
			break
		}
		all["/pathways/{id}/versions/{number}"] = "2"
	}
	chat, err := h.config.Pathways.StartChat(ctx, org, pathway.ChatRequest{Pathway: p.ID, Version: &pathway.Selector{Number: 1}, Variables: h.data()})
	h.check(err)
	_, err = h.config.Pathways.Say(ctx, org, chat.Chat.ID, h.say("Well."))
	h.check(err)
	all["/pathways/{id}/chats/{chat}"] = chat.Chat.ID
}

func (h *house) furnishTests(all things, org callwright.OrgID) {
	ctx := h.t.Context()
	sc, err := h.config.Tests.CreateScenario(ctx, org, scenario.Scenario{
		Pathway: all["/pathways/{id}"], Name: h.say("Pays"), Description: h.say("A bill"), Enabled: true, CallerPrompt: h.say("Be brief."),
		Assertions: []assert.Assertion{{
			Type: assert.NodeReached, Name: h.say("ends"), Config: json.RawMessage(`{"node_id":"b"}`), Required: true, Weight: 1,
		}},
	})
	h.check(err)
	batch, _, err := h.config.Tests.StartBatch(ctx, org, group.BatchRequest{Scenarios: []string{sc.ID}, Version: new(1), Trigger: group.ByCI})
	h.check(err)
	set, err := h.config.Tests.StartSet(ctx, org, group.SetRequest{Scenarios: []string{sc.ID}, Simulations: 8, Version: new(1)})
	h.check(err)
	h.furnishTornado(all, org, sc.ID)
	all["/tests/scenarios/{id}"], all["/tests/batches/{id}"] = sc.ID, batch.ID
	all["/tests/groups/{id}"], all["/tests/sets/{id}"] = batch.ID, set.ID
}

// furnishTornado stores a session that has ended. The owner's session has a second iteration.
func (h *house) furnishTornado(all things, org callwright.OrgID, scenarioID string) {
	id := "tornado-" + string(org)
	session := tornado.Session{
		ID: id, Org: org, Pathway: all["/pathways/{id}"], Scenarios: []tornado.Scenario{{ID: scenarioID}}, Most: 5, CreatedAt: created, EndedAt: created, Revision: 1,
		Progress: tornado.Progress{State: tornado.CompletedPartial, Base: 1, Best: 2, Detail: h.say("No progress"), Iterations: []tornado.Iteration{
			{Outcome: tornado.IsBaseline, Version: 1, Failed: []string{scenarioID}, Started: created},
			{
				Number: 1, Version: 2, Outcome: tornado.Accepted, Reason: h.say("better"), Started: created,
				Plan: &tornado.Plan{Fixes: []tornado.Fix{{Kind: analysis.PromptChange, Node: h.say("a"), Description: h.say("Ask")}}},
				Changes: &graph.Changes{Nodes: []graph.Difference{{
					ID: h.say("a"), Name: h.say("A"), Kind: graph.DifferenceChanged,
					Members: []graph.MemberDifference{{Path: h.say("data"), Before: h.say("old"), After: h.say("new")}},
				}}},
			},
		}},
	}
	at := "/tests/tornado/{id}"
	all[at], all[at+"/iterations/{number}"] = id, "1"
	if org == stranger {
		session.Progress.Iterations = session.Progress.Iterations[:1]
		all[at+"/iterations/{number}"] = "0"
	}
	h.check(h.found.InsertSession(h.t.Context(), session))
}

// furnishRun stores a failed run with its conversation and the judge's reasoning.
func (h *house) furnishRun(all things, org callwright.OrgID) {
	id := "run-" + string(org)
	all["/tests/runs/{id}"] = id
	h.check(h.tests.InsertSnapshots(h.t.Context(), []run.Snapshot{{ID: "snapshot-" + id, Org: org, CreatedAt: created}}))
	h.check(h.tests.InsertRuns(h.t.Context(), []run.Run{{
		ID: id, Org: org, Scenario: all["/tests/scenarios/{id}"], Name: h.say("Pays"), Pathway: all["/pathways/{id}"], Version: 1, Snapshot: "snapshot-" + id,
		State: run.Failed, CreatedAt: created, StartedAt: created, EndedAt: created.Add(time.Minute), Revision: 1,
		Result: run.Result{Error: h.say("Broken"), Failure: &run.Failure{Assertion: h.say("ends"), Node: h.say("a"), Reason: h.say("no card")}},
		Outcome: &engine.Outcome{
			Evidence: assert.Evidence{
				Turns:  []assert.Turn{{Role: llm.RoleAgent, Text: h.say("Hello."), Node: "a"}, {Role: llm.RoleCaller, Text: h.say("Hello.")}},
				Visits: []assert.Visit{{Node: "a", Turn: 0}}, Graph: assert.Graph{"a": {Name: h.say("A")}}, Variables: h.data(),
				Webhooks: []assert.Webhook{{Method: "POST", URL: "https://x.example/" + h.say("path")}},
			},
			Results: []assert.Result{{
				Type: assert.LLMJudge, Name: h.say("pays"), Required: true, Outcome: assert.Failed, Expected: h.say("yes"), Actual: h.say("no"), Reasoning: h.say("It did not."),
				Node: h.say("a"), Quotes: []assert.Quote{{Turn: 1, Text: h.say("Hello.")}}, Samples: []assert.Sample{{Verdict: assert.JudgeFail, Reasoning: h.say("no"), Model: h.say("m")}},
			}},
			Turns: []engine.Turn{{Index: 0, Notes: []engine.Note{{Kind: h.say("decision"), Node: h.say("a"), Text: h.say("greet")}}}},
		},
	}}))
}

func (h *house) furnishPort(all things, org callwright.OrgID, number string) {
	ctx := h.t.Context()
	d, err := h.config.Documents.Upload(ctx, org, strings.NewReader("%PDF-1.7\n%%EOF\n"))
	h.check(err)
	request, letter, err := h.config.Ports.Initiate(ctx, org, porting.Draft{
		Numbers: []porting.NumberDraft{{Number: number}}, Documents: []string{d.ID}, Account: porting.Account{
			CustomerType: porting.Business, BusinessName: h.say("Acme"), FirstName: h.say("Robin"), LastName: h.say("Doe"), AccountNumber: "ACC-123456",
			Email: "robin@example.com", Address: porting.Address{Street: h.say("1 Main Street"), City: h.say("Seattle"), State: "WA", Zip: "98101", Country: "US"},
		},
	})
	h.check(err)
	h.letters[org] = callwright.Secret(path.Base(letter.URL.Reveal()))
	all["/ports/{id}"], all["/ports/{id}/documents/{document}"] = request.ID, d.ID
}

// furnishIssue creates an issue with data of every type, and an analysis that cites a line of the call.
func (h *house) furnishIssue(all things, org callwright.OrgID) {
	ctx, issues, by := h.t.Context(), h.config.Issues, triage.Actor{Kind: triage.ActorUser, ID: "k", Label: h.say("Robin")}
	h.attached.Add(org, all["/calls/{id}"], triage.Item{Title: h.say("A call")}, triage.Evidence{})
	i, err := issues.Create(ctx, org, by, triage.Draft{
		Title: h.say("Wrong date"), Description: h.say("Twice"), Category: h.say("dates"), OwnerID: "o", AssigneeID: "a",
	})
	h.check(err)
	other, err := issues.Create(ctx, org, by, triage.Draft{Title: h.say("Another")})
	h.check(err)
	comment, err := issues.Comment(ctx, org, by, i.ID, triage.CommentDraft{Detail: h.say("Seen.")})
	h.check(err)
	link, _, err := issues.Attach(ctx, org, by, i.ID, triage.ResourceDraft{Type: triage.ResourceCall, ResourceID: all["/calls/{id}"]})
	h.check(err)
	flag, err := issues.Flag(ctx, org, by, i.ID, triage.FlagDraft{
		CallID: all["/calls/{id}"], Type: h.say("date"), Note: h.say("Look"), NodeName: h.say("A"), MessageText: h.say("Monday"), MessageIndex: new(0),
	})
	h.check(err)
	relation, _, err := issues.Relate(ctx, org, by, i.ID, other.ID, triage.Blocks)
	h.check(err)
	s, err := issues.StartSession(ctx, org, by, i.ID, triage.SessionDraft{AgentName: h.say("Analyst"), Detail: h.say("Why?")})
	h.check(err)
	_, err = issues.Alert(ctx, org, by, i.ID, triage.AlertTransition{Name: h.say("unreachable"), From: h.say("ok"), To: h.say("raised"), Detail: h.say("Away")})
	h.check(err)
	payload := must(json.Marshal(map[string]any{
		"root_cause": h.say("The date"), "suggestion": h.say("Ask"), "confidence": h.say("high"), "evidence": []any{
			map[string]any{"resource_type": "call", "resource_id": all["/calls/{id}"], "line": 0, "text": h.say("Hello."), "fact": h.say("")},
			map[string]any{"resource_type": "call", "resource_id": all["/calls/{id}"], "line": math.MaxInt, "text": "no such line"},
		},
	}))
	_, err = issues.Append(ctx, org, i.ID, s.ID,
		triage.Step{Type: triage.TypeThought, Detail: h.say("Hm.")}, triage.Step{Type: triage.TypeAction, Detail: h.say("Read.")},
		triage.Step{Type: triage.TypeArtifact, Artifact: &triage.Artifact{
			Type: "root_cause", Title: h.say("Root cause"), Status: triage.ArtifactReady, Payload: payload,
		}},
		triage.Step{Type: triage.TypeArtifact, Artifact: &triage.Artifact{
			Type: "table", Title: h.say("Table"), Status: triage.ArtifactReady, Payload: must(json.Marshal(h.data())),
		}})
	h.check(err)
	at := "/issues/{id}"
	all[at], all[at+"/comments/{comment}"], all[at+"/attachments/{part}"] = i.ID, comment.ID, link.ID
	all[at+"/flags/{part}"], all[at+"/relations/{part}"], all[at+"/sessions/{part}"] = flag.ID, relation.ID, s.ID
}

func (h *house) furnishSpeech(all things, org callwright.OrgID) {
	v := speechtest.FullVoice("voice-" + string(org))
	v.Org, v.Name, v.Description, v.Tags, v.Service, v.Base = org, h.say("Ada"), h.say("Warm"), []string{h.say("female")}, h.say("flite"), h.say("slt")
	h.check(h.voices.InsertVoice(h.t.Context(), v))
	sample, err := h.config.Speech.Speak(h.t.Context(), org, speech.Request{Text: h.say("Hello."), Voice: "ben"})
	h.check(err)
	all["/speech/voices/{id}"], all["/speech/samples/{id}"] = v.ID, sample.ID
}
