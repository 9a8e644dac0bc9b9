package e2e_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/internal/await"
	"github.com/callwright/callwright/internal/browser"
	"github.com/callwright/callwright/transport/oas/agenttestoas"
)

// choosing returns a pathway that asks for a day and stores it in a variable.
func choosing() graph.Document {
	return graph.Document{
		Nodes: []json.RawMessage{
			json.RawMessage(`{"id":"ask","type":"Default","data":{"name":"Ask","isStart":true,"text":"{{name}}, Tuesday or Thursday?",
				"extractVars":[["day","string","the weekday, \"Tuesday\" or \"Thursday\""]]}}`),
			json.RawMessage(`{"id":"bye","type":"End Call","data":{"name":"Bye","text":"{{day}} it is. Goodbye."}}`),
		},
		Edges: []json.RawMessage{json.RawMessage(`{"id":"1","source":"ask","target":"bye","data":{"label":"day is known"}}`)},
	}
}

// wantText checks that the text of an element contains all parts.
func wantText(t *testing.T, p *browser.Page, at string, parts ...string) {
	t.Helper()
	text := p.Text(t, at)
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%s lacks %q: %s", at, part, text)
		}
	}
}

// TestDashboardPathwayChat chats with a version of a pathway until the conversation ends. After each turn, the page must show the node, its
// variables and the decision. A message from an outdated page must be refused.
func TestDashboardPathwayChat(t *testing.T) {
	t.Parallel()
	s := start(t, authority(t).CertFile())
	id := s.Publish(t, choosing())
	p := signIn(t, s)
	p.Resize(t, 1280, 900)
	follow(t, p, `nav a[href="/pathways"]`, fmt.Sprintf(`main a[href="/pathways/%s"]`, id))
	follow(t, p, fmt.Sprintf(`main a[href="/pathways/%s"]`, id), `main a[href$="/versions/1"]`)
	follow(t, p, `main a[href$="/versions/1"]`, "#begin")
	p.Type(t, "#variables", `{"name": "Robin"}`)
	follow(t, p, "#begin button", "#say")
	wantText(t, p, "#at", "Ask")
	wantText(t, p, "#variables", `"name": "Robin"`)
	wantText(t, p, "#turn-1", "Robin, Tuesday or Thursday?", "given at the start", "came to Ask")

	second := p.Tab(t)
	second.Go(t, browser.Eval[string](t, p, "location.href"))
	second.Type(t, "#message", "On Tuesday, please.")
	follow(t, p, "#say button", "#turn-2")
	await.That(t, "the field for the next message to have the focus", func() bool {
		return browser.Eval[bool](t, p, `document.activeElement?.id === "message"`)
	})
	wantText(t, p, "#turn-2", "Are you still there?")
	follow(t, second, "#say button", "#live-chat .fault")
	wantText(t, second, "#live-chat", "Are you still there?", "the chat has changed since this turn began: read it again")
	if strings.Contains(second.Text(t, "#live-chat"), "please") {
		t.Error("a message from an old page was taken")
	}

	p.Type(t, "#message", "On Tuesday, please.")
	follow(t, p, "#say button", "#turn-3")
	p.Picture(t, "pathway-chat")
	wantText(t, p, "#turn-3", "Tuesday it is. Goodbye.", "decided at Ask", "Tuesday", "came to Bye", `"day": "Tuesday"`)
	wantText(t, p, "#variables", `"day": "Tuesday"`, `"name": "Robin"`)
	wantText(t, p, "#live-chat", "completed", "The conversation is over.")
	follow(t, p, "#at a", "svg .selected")
	wantText(t, p, "#node", "Bye")
	for _, found := range slices.Concat(p.Errors(t), second.Errors(t)) {
		if !strings.Contains(found, "422") { // the server refused the outdated message
			t.Errorf("the browser reports %q", found)
		}
	}
	s.Stop(t)
}

// TestDashboardPathwayGate publishes a version whose required scenario fails. It checks that the page reports this and links to the failed
// run.
func TestDashboardPathwayGate(t *testing.T) {
	t.Parallel()
	s := start(t, authority(t).CertFile())
	id := s.Publish(t, bookings("Good night."))
	gated(t, s, id, "goodbye")
	bad := storeVersion(t, s, id, bookings("Good evening."))
	p := signIn(t, s)
	p.Resize(t, 1280, 900)
	publish := func() {
		p.Go(t, fmt.Sprintf("%s/pathways/%s/versions/%d", s.Dashboard, id, bad))
		follow(t, p, `form[action$="/publish"] button[value="production"]`, `#ask button[value="yes"]`)
		follow(t, p, `#ask button[value="yes"]`, "#gate")
	}
	publish()
	wantText(t, p, "#gate", "cannot go to production", "required scenarios are being run")
	run := runsOf(t, s, id, 1)[0]
	if run.Status != agenttestoas.TestRunStatusFAILED {
		t.Fatalf("the run has ended as %s", run.Status)
	}
	publish()
	p.Picture(t, "pathway-gate")
	wantText(t, p, "#gate", "0 of 1 required scenarios have passed", `"Says goodbye" is FAILED`)
	follow(t, p, `#gate a[href*="status=FAILED"]`, fmt.Sprintf(`main a[href="/tests/runs/%s"]`, run.ID))
	publish()
	follow(t, p, `#gate a[href^="/tests/batches/"]`, fmt.Sprintf(`main a[href="/tests/runs/%s"]`, run.ID))
	follow(t, p, fmt.Sprintf(`main a[href="/tests/runs/%s"]`, run.ID), "#assertion-1, #assertion-0")
	p.Go(t, s.Dashboard+"/pathways/"+id)
	wantText(t, p, "dl.facts", "version 1")
	for _, found := range p.Errors(t) {
		if !strings.Contains(found, "422") { // the server refused the publication
			t.Errorf("the browser reports %q", found)
		}
	}
	s.Stop(t)
}
