package e2e_test

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/callwright/callwright/internal/await"
	"github.com/callwright/callwright/internal/e2e/baresip"
	"github.com/callwright/callwright/internal/e2e/server"
	"github.com/callwright/callwright/transport/oas/callsoas"
	"github.com/callwright/callwright/transport/oas/triageoas"
)

// analyst starts a language model with the API of OpenAI, and returns the flags for it. answer returns JSON for the rules and the data of a
// question.
func analyst(t *testing.T, answer func(r *http.Request, rules, data string) string) (flags []string) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var a asked
		if err := json.NewDecoder(r.Body).Decode(&a); err != nil || len(a.Messages) < 2 || a.Stream {
			t.Errorf("the model was asked %+v, %v", a, err)
			return
		}
		content, _ := json.Marshal(answer(r, a.Messages[0].Content, a.Messages[len(a.Messages)-1].Content))
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"model":"m","choices":[{"finish_reason":"stop","message":{"role":"assistant","content":%s}}]}`, content)
	}))
	t.Cleanup(s.Close)
	return []string{"--llm-base-url", s.URL + "/v1", "--llm-model", "m"}
}

// reading reports whether a question is about reading a resource. Other questions are about a conclusion.
func reading(rules string) bool { return strings.Contains(rules, "bears on why the issue happened") }

// told returns the entries of a feed as lines of actor and action.
func told(entries []server.FeedEntry) (lines []string) {
	for _, e := range entries {
		line := e.Actor.Kind + " " + e.Type
		if e.AgentSession != nil {
			line += " (" + e.AgentSession.Status + ")"
		}
		lines = append(lines, line)
	}
	return lines
}

func attach(t *testing.T, s *server.Server, issue, call string) {
	t.Helper()
	_, err := s.API.AttachIssueResource(t.Context(), &triageoas.TriageResourceCreate{
		ResourceType: triageoas.TriageResourceTypeCall, ResourceID: call,
	}, triageoas.AttachIssueResourceParams{ID: issue})
	if err != nil {
		t.Fatal(err)
	}
}

// analyze starts an analysis of an issue, and returns the session's id.
func analyze(t *testing.T, s *server.Server, issue, prompt string) string {
	t.Helper()
	session, err := s.API.AnalyzeIssue(t.Context(), &triageoas.TriageAnalysisCreate{Prompt: triageoas.NewOptString(prompt)}, triageoas.AnalyzeIssueParams{ID: issue})
	if err != nil {
		t.Fatal(err)
	}
	return session.Data.ID
}

// TestIssueOfACall attaches a real call to an issue, flags the agent's words, and starts an analysis. The analyst asks a question, receives
// an answer, and cites an existing and an absent line. The stream must send every entry immediately, in the order of the feed.
func TestIssueOfACall(t *testing.T) {
	t.Parallel()
	model := analyst(t, func(_ *http.Request, rules, data string) string {
		switch {
		case reading(rules):
			if !strings.Contains(data, greeting) || !strings.Contains(rules, "Why so early?") || strings.Contains(rules, greeting) {
				t.Errorf("the model was asked:\n%s\n%s", rules, data)
			}
			return `{"observation":"The agent takes itself for a dentist.","lines":[0,999],"facts":["status"]}`
		case !strings.Contains(data, "Since March."):
			return `{"outcome":"question","root_cause":"","suggestion":"","confidence":"low","evidence":[],"summary":"","question":"Since when?"}`
		default:
			id := data[strings.Index(data, `"resource_id":"`)+len(`"resource_id":"`):]
			id = id[:strings.IndexByte(id, '"')]
			return fmt.Sprintf(`{"outcome":"root_cause","root_cause":"The prompt is of another practice.","suggestion":"Change it.","confidence":"high",
				"evidence":[{"resource_id":%[1]q,"line":0,"fact":null},{"resource_id":%[1]q,"line":7,"fact":null}],"summary":"It is the prompt.","question":""}`, id)
		}
	})
	ca := authority(t)
	phone := baresip.Start(t, baresip.Config{CA: ca, User: theirs.String()})
	s := start(t, ca.CertFile(), model...)
	s.AttachOutbound(t, ours.String(), phone.Server())
	call := s.Call(t, appointment())
	says(t, s, call, greeting)
	phone.Hangup(t)
	s.Ended(t, call)

	issue := s.OpenIssue(t, "The agent is of another practice")
	stream := s.Stream(t, issue, "")
	attach(t, s, issue, call)
	if _, err := s.API.AddIssueFlag(t.Context(), &triageoas.TriageFlagCreate{
		CallID: call, Type: "wrong_information", MessageIndex: triageoas.NewOptNilInt(0),
	}, triageoas.AddIssueFlagParams{ID: issue}); err != nil {
		t.Fatal(err)
	}
	session := analyze(t, s, issue, "Why so early?")
	s.ActivityUntil(t, issue, "response")
	if _, err := s.API.AddIssueAgentEntry(t.Context(), &triageoas.TriageAgentEntryCreate{
		Type: triageoas.TriageAgentEntryCreateTypePrompt, Detail: triageoas.NewOptString("Since March."),
	}, triageoas.AddIssueAgentEntryParams{ID: issue, SessionID: session}); err != nil {
		t.Fatal(err)
	}
	entries := s.ActivityUntil(t, issue, "session_stopped")
	if want := []string{
		"user created", "user resource_added", "user flag_added",
		"user session_started (pending)", "user prompt (pending)", "agent action (active)", "agent action (active)", "agent thought (active)",
		"agent response (awaiting_input)", "user prompt (active)", "agent artifact (active)", "agent response (active)", "agent session_stopped (complete)",
	}; !slices.Equal(told(entries), want) {
		t.Errorf("the feed is\n%s\nwant\n%s", strings.Join(told(entries), "\n"), strings.Join(want, "\n"))
	}
	checkCause(t, entries, call)
	for _, e := range entries[1:] {
		if got := <-stream.Entries; got.ID != e.ID || got.Type != e.Type {
			t.Errorf("the stream told %s %s, want %s %s", got.Type, got.ID, e.Type, e.ID)
		}
	}
	if issues := s.Issues(t); len(issues) != 1 || issues[0].IsProcessing || issues[0].LatestAgentSession.Value.Status != triageoas.TriageSessionStatusComplete {
		t.Errorf("the issues are %+v", issues)
	}
	s.Stop(t)
	if _, more := <-stream.Entries; more {
		t.Error("the stream told more")
	}
}

// checkCause checks the analyst's artifact with the cause, which must cite the existing line only.
func checkCause(t *testing.T, entries []server.FeedEntry, call string) {
	t.Helper()
	at := slices.IndexFunc(entries, func(e server.FeedEntry) bool { return e.Artifact != nil })
	if at < 0 {
		t.Fatal("there is no artifact")
	}
	var cause struct {
		RootCause  string `json:"root_cause"`
		Confidence string `json:"confidence"`
		Evidence   []struct {
			ResourceID string `json:"resource_id"`
			Line       int    `json:"line"`
			Text       string `json:"text"`
		} `json:"evidence"`
	}
	err := json.Unmarshal(entries[at].Artifact.Payload, &cause)
	if err != nil || cause.RootCause != "The prompt is of another practice." || cause.Confidence != "high" || len(cause.Evidence) != 1 ||
		cause.Evidence[0].ResourceID != call || cause.Evidence[0].Text != greeting || entries[at].Metadata["unverified"] != 1.0 {
		t.Errorf("the cause is %+v, %v; %v", cause, err, entries[at].Metadata)
	}
}

// TestFailedCallsAreOneIssue checks that three calls that fail for the same reason share one issue. Without a model, an analysis of this
// issue must end with an error. After the issue is closed, a fourth call must open a related issue.
func TestFailedCallsAreOneIssue(t *testing.T) {
	t.Parallel()
	nobody, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // only to know a port where nobody listens
	if err != nil {
		t.Fatal(err)
	}
	_ = nobody.Close()
	s := start(t, authority(t).CertFile())
	s.AttachOutbound(t, ours.String(), "sip:"+nobody.Addr().String()+";transport=tls")
	fail := func() string {
		id := s.Call(t, appointment())
		if r := s.Ended(t, id); r.Status != callsoas.CallStatusFailed {
			t.Fatalf("the call ended as %s", r.Status)
		}
		return id
	}
	var calls []string
	for range 3 {
		calls = append(calls, fail())
	}
	await.That(t, "an issue with the three calls", func() bool {
		issues := s.Issues(t)
		return len(issues) == 1 && issues[0].ResourceCount == len(calls)
	})
	issue := s.Issues(t)[0]
	if issue.Severity != triageoas.TriageSeverityHigh || issue.Source != triageoas.TriageSourceAutomated || issue.TriageID != "T-1001" ||
		!issue.HasUnreadActivity || !issue.LatestAgentSession.Null {
		t.Errorf("the issue is %+v", issue)
	}
	var attached []string
	for _, e := range s.Activity(t, issue.ID) {
		for _, r := range e.Resources {
			attached = append(attached, r.ResourceID)
		}
	}
	slices.Sort(attached)
	slices.Sort(calls)
	if !slices.Equal(attached, calls) {
		t.Errorf("attached are %q, want %q", attached, calls)
	}

	// Without a model the analysis invents nothing.
	analyze(t, s, issue.ID, "")
	entries := s.ActivityUntil(t, issue.ID, "session_stopped")
	if last := entries[len(entries)-1]; last.AgentSession.Status != "error" ||
		slices.ContainsFunc(entries, func(e server.FeedEntry) bool { return e.Artifact != nil }) {
		t.Errorf("the feed is %q", told(entries))
	}

	if _, err := s.API.UpdateIssue(t.Context(), &triageoas.TriageIssueUpdate{
		Status: triageoas.NewOptTriageStatus(triageoas.TriageStatusDone),
	}, triageoas.UpdateIssueParams{ID: issue.ID}); err != nil {
		t.Fatal(err)
	}
	fail()
	await.That(t, "another issue, related to the first", func() bool {
		issues := s.Issues(t)
		return len(issues) == 2 && issues[1].ResourceCount == 1 && issues[1].RelationCount == 1 && issues[0].RelationCount == 1
	})
	s.Stop(t)
}

// TestAnalysisOutlivesServer kills the server while its analyst waits for the model, and restarts it. The step must be repeated, and the
// feed must contain its entry once.
func TestAnalysisOutlivesServer(t *testing.T) {
	t.Parallel()
	asked := make(chan bool, 100)
	model := analyst(t, func(r *http.Request, rules, _ string) string {
		if reading(rules) {
			asked <- true
			if len(asked) == 1 {
				<-r.Context().Done()
			}
			return `{"observation":"The call failed.","lines":[],"facts":["status"]}`
		}
		return `{"outcome":"unknown","root_cause":"","suggestion":"","confidence":"low","evidence":[],"summary":"Nobody can say.","question":""}`
	})
	ca := authority(t)
	first := start(t, ca.CertFile(), model...)
	first.AttachOutbound(t, ours.String(), "sip:127.0.0.1:9;transport=tls")
	call := first.Call(t, appointment())
	first.Ended(t, call)
	issue := first.OpenIssue(t, "Nobody is reached")
	attach(t, first, issue, call)
	analyze(t, first, issue, "")
	await.That(t, "the model to be asked", func() bool { return len(asked) == 1 })
	first.Kill()

	second := server.Start(t, server.Config{Data: first.Data, Roots: ca.CertFile(), Flags: model})
	const takeover = 2 * await.Limit // a server repeats a killed server's work only after some time
	var entries []server.FeedEntry
	if !await.Within(t.Context(), takeover, func() bool {
		entries = second.Activity(t, issue)
		return entries[len(entries)-1].Type == "session_stopped"
	}) {
		t.Fatalf("the feed is %q", told(entries))
	}
	if want := []string{
		"user created", "user resource_added", "user session_started (pending)", "user prompt (pending)",
		"agent action (active)", "agent action (active)", "agent thought (active)", "agent response (active)", "agent session_stopped (complete)",
	}; !slices.Equal(told(entries), want) {
		t.Errorf("the feed is %q, want %q", told(entries), want)
	}
}
