package dashboard_test

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/agenttest"
	"github.com/callwright/callwright/agenttest/assert"
	"github.com/callwright/callwright/agenttest/scenario"
	"github.com/callwright/callwright/agenttest/tornado"
	"github.com/callwright/callwright/porting"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/calllog"
	"github.com/callwright/callwright/sip/testcall"
	"github.com/callwright/callwright/speech"
	"github.com/callwright/callwright/speech/pcm"
	"github.com/callwright/callwright/speech/speechtest"
	"github.com/callwright/callwright/triage"
)

// check fails the test with an error.
func (h *house) check(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

// things are the ids of what an organization has, by the patterns of routes up to the wildcard that the id stands for.
type things map[string]string

// furnish makes one of each thing for an organization, and returns their ids.
func (h *house) furnish(org callwright.OrgID, number string) things {
	h.t.Helper()
	all := things{}
	h.furnishCalls(all, org)
	h.furnishTrunk(all, org, number)
	h.furnishPathway(all, org)
	h.furnishTests(all, org)
	h.furnishPort(all, org, number)
	h.furnishIssue(all, org)
	h.furnishSpeech(all, org)
	key, err := h.config.Access.CreateKey(h.t.Context(), org, "desk", 0)
	h.check(err)
	_, session, err := h.config.Access.SignIn(h.t.Context(), key.Key.Reveal())
	h.check(err)
	all["/settings/keys/{id}"], all["/settings/sessions/{id}"] = key.Record.ID, session.ID
	return all
}

// furnishCalls stores a call that has ended, with its recording and a line.
func (h *house) furnishCalls(all things, org callwright.OrgID) {
	id, ctx := "call-"+string(org), h.t.Context()
	all["/calls/{id}"] = id
	h.check(h.calls.Insert(ctx, call.Call{
		ID: id, Org: org, From: "+14155550100", To: "+14155550123", Queue: call.QueueComplete, Status: call.StatusCompleted, Recorded: true,
		CreatedAt: created, StartedAt: new(created), EndedAt: new(created.Add(time.Minute)), Version: 1,
	}))
	h.check(h.calls.Append(ctx, org, id, call.Entry{Seq: 1, Speaker: call.SpeakerUser, Text: "Hello.", Start: 12300 * time.Millisecond, CreatedAt: created}))
	file, err := h.audio.Create(ctx, org, id)
	h.check(err)
	h.check(pcm.WriteWAV(file, pcm.Audio{Rate: 8000, Channels: 2, Samples: make([]int16, 32000)}))
	h.check(file.Close())
}

// furnishTrunk attaches a number, over which there were a call and a test call.
func (h *house) furnishTrunk(all things, org callwright.OrgID, number string) {
	ctx, at := h.t.Context(), "/trunks/{number}"
	done, err := h.config.Trunks.Trunks.Attach(ctx, org, sip.Attachment{Numbers: []string{number}, Directions: []sip.DirectionInput{
		{Type: sip.Inbound}, {Type: sip.Outbound, Endpoint: new("sip:pbx.example.com")},
	}})
	h.check(err)
	if len(done.Configured) != 1 {
		h.t.Fatalf("%+v", done.Failed)
	}
	all[at], all[at+"/calls/{id}"], all[at+"/test/{id}"] = number, "attempt-"+string(org), "tc_"+string(org)
	phone := callwright.PhoneNumber(number)
	h.check(h.log.Begin(ctx, calllog.Record{ID: all[at+"/calls/{id}"], Org: org, Number: phone, StartedAt: created, Attempt: 1}))
	h.check(h.log.End(ctx, org, all[at+"/calls/{id}"], calllog.End{EndedAt: new(created.Add(time.Minute)), SIPCode: 200, Status: "200 OK"}, nil))
	test := testcall.Call{ID: all[at+"/test/{id}"], Org: org, Number: phone, StartedAt: created, EndedAt: new(created), Version: 1}
	_, _, err = h.attempt.Insert(ctx, test, 1, created)
	h.check(err)
}

// furnishPathway makes a pathway; the owner's has two versions.
func (h *house) furnishPathway(all things, org callwright.OrgID) {
	ctx := h.t.Context()
	var d graph.Document
	h.check(json.Unmarshal([]byte(`{"nodes":[{"id":"a","type":"Default","data":{"name":"A","isStart":true,"text":"Hi."}},
		{"id":"b","type":"End Call","data":{"name":"B","text":"Bye."}}],"edges":[{"id":"e","source":"a","target":"b","data":{"label":"done"}}]}`), &d))
	p, err := h.config.Pathways.Create(ctx, org, pathway.Draft{Name: "Front desk", Document: d})
	h.check(err)
	all["/pathways/{id}"], all["/pathways/{id}/versions/{number}"] = p.ID, "1"
	for range 2 {
		_, err = h.config.Pathways.Fork(ctx, org, p.ID, 0, "Next", nil)
		h.check(err)
		if org == stranger {
			break
		}
		all["/pathways/{id}/versions/{number}"] = "2"
	}
}

func (h *house) furnishTests(all things, org callwright.OrgID) {
	ctx := h.t.Context()
	sc, err := h.config.Tests.CreateScenario(ctx, org, scenario.Scenario{
		Pathway: all["/pathways/{id}"], Name: "Pays", Enabled: true, CallerPrompt: "Be brief.",
		Assertions: []assert.Assertion{{Type: assert.NodeReached, Name: "ends", Config: json.RawMessage(`{"node_id":"b"}`), Required: true, Weight: 1}},
	})
	h.check(err)
	batch, runs, err := h.config.Tests.StartBatch(ctx, org, agenttest.BatchRequest{Scenarios: []string{sc.ID}, Version: new(1), Trigger: agenttest.ByCI})
	h.check(err)
	set, err := h.config.Tests.StartSet(ctx, org, agenttest.SetRequest{Scenarios: []string{sc.ID}, Simulations: 8, Version: new(1)})
	h.check(err)
	id := "tornado-" + string(org)
	h.check(h.found.InsertSession(ctx, tornado.Session{
		ID: id, Org: org, Pathway: all["/pathways/{id}"], Scenarios: []tornado.Scenario{{ID: sc.ID}}, Most: 5, CreatedAt: created, EndedAt: created,
		Revision: 1, Progress: tornado.Progress{State: tornado.CompletedPartial, Base: 1, Best: 1},
	}))
	all["/tests/scenarios/{id}"], all["/tests/runs/{id}"], all["/tests/batches/{id}"] = sc.ID, runs[0].ID, batch.ID
	all["/tests/groups/{id}"], all["/tests/sets/{id}"], all["/tests/tornado/{id}"] = batch.ID, set.ID, id
}

func (h *house) furnishPort(all things, org callwright.OrgID, number string) {
	ctx := h.t.Context()
	d, err := h.config.Documents.Upload(ctx, org, strings.NewReader("%PDF-1.7\n%%EOF\n"))
	h.check(err)
	request, _, err := h.config.Ports.Initiate(ctx, org, porting.Draft{
		Numbers: []porting.NumberDraft{{Number: number}}, Documents: []string{d.ID}, Account: porting.Account{
			CustomerType: porting.Business, BusinessName: "Acme", FirstName: "Robin", LastName: "Doe", AccountNumber: "ACC-123456",
			Email: "robin@example.com", Address: porting.Address{Street: "1 Main Street", City: "Seattle", State: "WA", Zip: "98101", Country: "US"},
		},
	})
	h.check(err)
	all["/ports/{id}"], all["/ports/{id}/documents/{document}"] = request.ID, d.ID
}

// furnishIssue opens an issue with a part of each kind, and an analysis that cites a line of the call.
func (h *house) furnishIssue(all things, org callwright.OrgID) {
	ctx, issues, by := h.t.Context(), h.config.Issues, triage.Actor{Kind: triage.ActorUser, ID: "k", Label: "Robin"}
	i, err := issues.Create(ctx, org, by, triage.Draft{Title: "Wrong date"})
	h.check(err)
	other, err := issues.Create(ctx, org, by, triage.Draft{Title: "Another"})
	h.check(err)
	comment, err := issues.Comment(ctx, org, by, i.ID, triage.CommentDraft{Detail: "Seen."})
	h.check(err)
	link, _, err := issues.Attach(ctx, org, by, i.ID, triage.ResourceDraft{Type: triage.ResourceCall, ResourceID: all["/calls/{id}"]})
	h.check(err)
	flag, err := issues.Flag(ctx, org, by, i.ID, triage.FlagDraft{CallID: all["/calls/{id}"], Type: "date"})
	h.check(err)
	relation, _, err := issues.Relate(ctx, org, by, i.ID, other.ID, triage.Blocks)
	h.check(err)
	s, err := issues.StartSession(ctx, org, by, i.ID, triage.SessionDraft{AgentName: "Analyst"})
	h.check(err)
	_, err = issues.Append(ctx, org, i.ID, s.ID, triage.Step{Type: triage.TypeArtifact, Artifact: &triage.Artifact{
		Type: "root_cause", Title: "Root cause", Status: triage.ArtifactReady, Payload: json.RawMessage(
			`{"root_cause":"c","confidence":"high","evidence":[{"resource_type":"call","resource_id":"` + all["/calls/{id}"] + `","line":0,"text":"Hello."}]}`),
	}})
	h.check(err)
	at := "/issues/{id}"
	all[at], all[at+"/comments/{comment}"], all[at+"/attachments/{part}"] = i.ID, comment.ID, link.ID
	all[at+"/flags/{part}"], all[at+"/relations/{part}"], all[at+"/sessions/{part}"] = flag.ID, relation.ID, s.ID
}

func (h *house) furnishSpeech(all things, org callwright.OrgID) {
	v := speechtest.FullVoice("voice-" + string(org))
	v.Org = org
	h.check(h.voices.InsertVoice(h.t.Context(), v))
	sample, err := h.config.Speech.Speak(h.t.Context(), org, speech.Request{Text: "Hello.", Voice: "ada"})
	h.check(err)
	all["/speech/voices/{id}"], all["/speech/samples/{id}"] = v.ID, sample.ID
}
