package triage_test

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/triage"
	"github.com/callwright/callwright/triage/triagetest"
)

func TestAppend(t *testing.T) {
	t.Parallel()
	h := open(t)
	i := h.issue(triage.Draft{})
	sess := h.begin(i.ID)
	h.clock.move(time.Minute)
	entries, err := h.Append(t.Context(), "acme", i.ID, sess.ID,
		triage.Step{Type: triage.TypeThought, Detail: "Hm.", Metadata: map[string]any{"n": 1.0}},
		triage.Step{Type: triage.TypeAction, Detail: "Reads."},
		triage.Step{Type: triage.TypeResponse, Detail: "Since when?", Status: triage.SessionAwaitingInput},
		triage.Step{Type: triage.TypeError, Detail: "Oh."},
		triage.Step{Type: triage.TypeSessionStopped},
	)
	if err != nil || len(entries) != 5 || !reflect.DeepEqual(entries, h.feed(i.ID)[2:]) {
		t.Fatalf("told %+v, %v", entries, err)
	}
	told := func(kind triage.EntryType, detail string, status triage.SessionStatus) triage.Entry {
		return triage.Entry{
			Kind: triage.KindAgent, Type: kind, Actor: sess.Agent(), Detail: detail,
			Session: &triage.SessionRef{ID: sess.ID, AgentName: "Scout", Status: status},
		}
	}
	first := told(triage.TypeThought, "Hm.", triage.SessionActive)
	first.Metadata = map[string]any{"n": 1.0}
	h.wantLast(t, i.ID, first,
		told(triage.TypeAction, "Reads.", triage.SessionActive),
		told(triage.TypeResponse, "Since when?", triage.SessionAwaitingInput),
		told(triage.TypeError, "Oh.", triage.SessionAwaitingInput),
		told(triage.TypeSessionStopped, "", triage.SessionComplete))
	got, ended := h.session(i.ID, sess.ID), start.Add(time.Minute)
	want := sess
	want.Status, want.UpdatedAt, want.EndedAt, want.Entries, want.Revision = triage.SessionComplete, ended, &ended, 6, 2
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the session is %+v, want %+v", got, want)
	}
	if got := h.get(i.ID); got.Working != 0 || got.Session.Status != triage.SessionComplete || got.Version != 1 {
		t.Errorf("the issue is %+v", got)
	}
}

func TestAppendAllOrNothing(t *testing.T) {
	t.Parallel()
	h := open(t)
	i := h.issue(triage.Draft{})
	sess := h.begin(i.ID)
	h.refusesStep(t, sess, callwright.CodeInvalidState, "", func() error {
		_, err := h.Append(t.Context(), "acme", i.ID, sess.ID, triage.Step{Type: triage.TypeThought},
			triage.Step{Type: triage.TypeSessionStopped}, triage.Step{Type: triage.TypeThought})
		return err
	})
	h.refusesStep(t, sess, callwright.CodeBadRequest, "steps", func() error {
		_, err := h.Append(t.Context(), "acme", i.ID, sess.ID)
		return err
	})
}

// TestEveryStepInEveryState checks that a session permits exactly the steps that the table of its state allows.
func TestEveryStepInEveryState(t *testing.T) {
	t.Parallel()
	kinds := []triage.EntryType{
		triage.TypeThought, triage.TypeAction, triage.TypeResponse, triage.TypeArtifact, triage.TypeError, triage.TypeSessionStopped,
	}
	for _, from := range triage.SessionStatuses() {
		for _, kind := range kinds {
			for _, status := range append(triage.SessionStatuses(), "") {
				t.Run(fmt.Sprintf("%s %s %s", from, kind, status), func(t *testing.T) {
					t.Parallel()
					h := open(t)
					i := h.issue(triage.Draft{})
					sess := h.beginAs(i.ID, from)
					step := triage.Step{Type: kind, Status: status}
					if kind == triage.TypeArtifact {
						step.Artifact = &triage.Artifact{Type: "note", Status: triage.ArtifactReady}
					}
					stop := kind == triage.TypeSessionStopped
					becomes := status
					switch {
					case status == "" && stop:
						becomes = triage.SessionComplete
					case status == "" && from == triage.SessionPending:
						becomes = triage.SessionActive
					case status == "":
						becomes = from
					}
					appends := func() error { _, err := h.Append(t.Context(), "acme", i.ID, sess.ID, step); return err }
					switch {
					case stop && status != "" && !status.Ended():
						h.refusesStep(t, sess, callwright.CodeBadRequest, "session_status", appends)
						return
					case from.Ended():
						h.refusesStep(t, sess, callwright.CodeInvalidState, "", appends)
						return
					case !from.May(becomes):
						h.refusesStep(t, sess, callwright.CodeInvalidState, "session_status", appends)
						return
					}
					if err := appends(); err != nil {
						t.Fatal(err)
					}
					got, issue := h.session(i.ID, sess.ID), h.get(i.ID)
					if got.Status != becomes || (got.EndedAt != nil) != becomes.Ended() || issue.Session.Status != becomes ||
						(issue.Working == 1) != becomes.Working() {
						t.Errorf("it became %+v, in %+v", got, issue)
					}
				})
			}
		}
	}
}

func TestAppendRefusesWhatIsNotTheAgents(t *testing.T) {
	t.Parallel()
	h := open(t)
	i := h.issue(triage.Draft{})
	sess := h.begin(i.ID)
	for _, kind := range []triage.EntryType{triage.TypePrompt, triage.TypeSessionStarted, triage.TypeComment, triage.TypeMerged, "", "x"} {
		h.refusesStep(t, sess, callwright.CodeBadRequest, "type", func() error {
			_, err := h.Append(t.Context(), "acme", i.ID, sess.ID, triage.Step{Type: kind})
			return err
		})
	}
}

func TestAppendRefusesStepsOfAnAnalysis(t *testing.T) {
	t.Parallel()
	h := open(t, func(c *triage.Config) { c.Analyst = new(triagetest.Analyst) })
	i := h.issue(triage.Draft{})
	sess, err := h.Analyze(t.Context(), "acme", ada, i.ID, "")
	if err != nil {
		t.Fatal(err)
	}
	h.refusesStep(t, sess, callwright.CodeInvalidState, "", func() error {
		_, err := h.Append(t.Context(), "acme", i.ID, sess.ID, triage.Step{Type: triage.TypeThought})
		return err
	})
}

// artifact returns a step with an artifact, after the function change has modified the artifact.
func artifact(change func(*triage.Artifact)) triage.Step {
	a := triage.Artifact{Type: "note", Status: triage.ArtifactReady}
	change(&a)
	return triage.Step{Type: triage.TypeArtifact, Artifact: &a}
}

// TestArtifactIsReady checks that an artifact is ready unless its step sets another status.
func TestArtifactIsReady(t *testing.T) {
	t.Parallel()
	h := open(t)
	i := h.issue(triage.Draft{})
	step := artifact(func(a *triage.Artifact) { a.Status = "" })
	entries, err := h.Append(t.Context(), "acme", i.ID, h.begin(i.ID).ID, step)
	if err != nil || entries[0].Artifact.Status != triage.ArtifactReady {
		t.Errorf("told %+v, %v", entries, err)
	}
}

// object returns a JSON object of the given size in bytes.
func object(bytes int) json.RawMessage {
	return json.RawMessage(`{"x":"` + strings.Repeat("x", bytes-8) + `"}`)
}

func TestStepLimits(t *testing.T) {
	t.Parallel()
	h := open(t)
	i := h.issue(triage.Draft{})
	thought := func(change func(*triage.Step)) triage.Step {
		s := triage.Step{Type: triage.TypeThought}
		change(&s)
		return s
	}
	payload := func(text string) triage.Step {
		return artifact(func(a *triage.Artifact) { a.Payload = json.RawMessage(text) })
	}
	urls := func(links ...string) triage.Step { return artifact(func(a *triage.Artifact) { a.URLs = links }) }
	longURL := "https://x.test/" + strings.Repeat("é", 2033)
	many := slices.Repeat([]string{"https://x.test/a"}, 21)
	for name, at := range map[string]struct {
		field string // empty if the step is accepted
		step  triage.Step
	}{
		"detail":              {"", thought(func(s *triage.Step) { s.Detail = strings.Repeat("x", 64<<10) })},
		"long detail":         {"detail", thought(func(s *triage.Step) { s.Detail = strings.Repeat("x", 64<<10+1) })},
		"NUL":                 {"detail", thought(func(s *triage.Step) { s.Detail = "\x00" })},
		"metadata":            {"", thought(func(s *triage.Step) { s.Metadata = map[string]any{"x": strings.Repeat("x", 16<<10-8)} })},
		"long metadata":       {"metadata", thought(func(s *triage.Step) { s.Metadata = map[string]any{"x": strings.Repeat("x", 16<<10-7)} })},
		"HTML metadata":       {"", thought(func(s *triage.Step) { s.Metadata = map[string]any{"x": strings.Repeat("<", 16<<10-8)} })},
		"no JSON metadata":    {"metadata", thought(func(s *triage.Step) { s.Metadata = map[string]any{"x": math.NaN()} })},
		"metadata with NUL":   {"metadata", thought(func(s *triage.Step) { s.Metadata = map[string]any{"x": []any{map[string]any{"a\x00": 1}}} })},
		"backslash":           {"", thought(func(s *triage.Step) { s.Metadata = map[string]any{"x": `\u0000`} })},
		"no such status":      {"session_status", thought(func(s *triage.Step) { s.Status = "x" })},
		"artifact of thought": {"artifact", thought(func(s *triage.Step) { s.Artifact = &triage.Artifact{Type: "x", Status: triage.ArtifactReady} })},
		"no artifact":         {"artifact", triage.Step{Type: triage.TypeArtifact}},
		"type":                {"", artifact(func(a *triage.Artifact) { a.Type = strings.Repeat("é", 200) })},
		"no type":             {"artifact.type", artifact(func(a *triage.Artifact) { a.Type = "" })},
		"long type":           {"artifact.type", artifact(func(a *triage.Artifact) { a.Type = strings.Repeat("é", 201) })},
		"title":               {"", artifact(func(a *triage.Artifact) { a.Title = strings.Repeat("é", 300) })},
		"long title":          {"artifact.title", artifact(func(a *triage.Artifact) { a.Title = strings.Repeat("é", 301) })},
		"long renderer":       {"artifact.renderer", artifact(func(a *triage.Artifact) { a.Renderer = strings.Repeat("é", 201) })},
		"odd status":          {"artifact.status", artifact(func(a *triage.Artifact) { a.Status = "done" })},
		"unknown id":          {"artifact.id", artifact(func(a *triage.Artifact) { a.ID = "x" })},
		"payload":             {"", artifact(func(a *triage.Artifact) { a.Payload = object(256 << 10) })},
		"long payload":        {"artifact.payload", artifact(func(a *triage.Artifact) { a.Payload = object(256<<10 + 1) })},
		"empty object":        {"", payload(`{}`)},
		"big number":          {"", payload(`{"n": 12345678901234567890}`)},
		"array":               {"artifact.payload", payload(`[]`)},
		"text":                {"artifact.payload", payload(`"x"`)},
		"null":                {"artifact.payload", payload(`null`)},
		"nothing":             {"artifact.payload", payload(``)},
		"two":                 {"artifact.payload", payload(`{}{}`)},
		"no JSON":             {"artifact.payload", payload(`{"x"`)},
		"no UTF-8":            {"artifact.payload", payload("{\"x\":\"\xff\"}")},
		"escaped NUL":         {"artifact.payload", payload(`{"a":[{"b":"\u0000"}]}`)},
		"escaped NUL in name": {"artifact.payload", payload(`{"a":[{"\u0000":1}]}`)},
		"escaped backslash":   {"", payload(`{"a":"\\u0000"}`)},
		"URLs":                {"", urls(many[:20]...)},
		"many URLs":           {"artifact.external_urls", urls(many...)},
		"longest URL":         {"", urls("HTTP://x.test", longURL)},
		"long URL":            {"artifact.external_urls[1]", urls("https://x.test", longURL+"x")},
		"script":              {"artifact.external_urls[0]", urls("javascript:alert(1)")},
		"no host":             {"artifact.external_urls[3]", urls("https://x.test", "https://x.test", "https://x.test", "https:///x")},
		"port only":           {"artifact.external_urls[0]", urls("https://:443/x")},
		"password":            {"artifact.external_urls[0]", urls("https://a:b@x.test")},
		"relative":            {"artifact.external_urls[0]", urls("/x")},
		"no URL":              {"artifact.external_urls[0]", urls("")},
	} {
		t.Run(name, func(t *testing.T) {
			sess := h.begin(i.ID)
			defer func() {
				if _, err := h.Cancel(t.Context(), "acme", ada, i.ID, sess.ID, ""); err != nil {
					t.Error(err)
				}
			}()
			appends := func() error { _, err := h.Append(t.Context(), "acme", i.ID, sess.ID, at.step); return err }
			if at.field != "" {
				h.refusesStep(t, sess, callwright.CodeBadRequest, at.field, appends)
			} else if err := appends(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestArtifactsBecomeReady(t *testing.T) {
	t.Parallel()
	h := open(t)
	i := h.issue(triage.Draft{})
	sess := h.begin(i.ID)
	tell := func(id string, status triage.ArtifactStatus, payload string) (triage.Artifact, error) {
		step := artifact(func(a *triage.Artifact) {
			a.ID, a.Title, a.Renderer, a.Status, a.URLs = id, "Cause", "markdown", status, []string{"https://x.test/a"}
			if payload != "" {
				a.Payload = json.RawMessage(payload)
			}
		})
		entries, err := h.Append(t.Context(), "acme", i.ID, sess.ID, step)
		if err != nil {
			return triage.Artifact{}, err
		}
		want := *step.Artifact
		want.ID = entries[0].Artifact.ID
		if !reflect.DeepEqual(*entries[0].Artifact, want) || step.Artifact.ID != id || !reflect.DeepEqual(h.feed(i.ID)[len(h.feed(i.ID))-1], entries[0]) {
			t.Errorf("told %+v, want %+v", entries[0].Artifact, want)
		}
		return want, nil
	}
	must := func(a triage.Artifact, err error) string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return a.ID
	}
	pending := func(want ...string) {
		t.Helper()
		if got := h.session(i.ID, sess.ID).Pending; !slices.Equal(got, want) {
			t.Errorf("pending are %q, want %q", got, want)
		}
	}
	one, two := must(tell("", triage.ArtifactPending, "")), must(tell("", triage.ArtifactPending, ""))
	pending(one, two)
	must(tell(one, triage.ArtifactPending, "")) // it remains pending
	pending(two, one)
	must(tell(one, triage.ArtifactReady, `{"n": 1}`))
	pending(two)
	must(tell(two, triage.ArtifactError, ""))
	pending()
	three := must(tell("", triage.ArtifactReady, `{}`))
	for _, id := range []string{one, two, three} {
		h.refusesStep(t, sess, callwright.CodeBadRequest, "artifact.id", func() error {
			_, err := tell(id, triage.ArtifactReady, "")
			return err
		})
	}
	foreign := h.begin(i.ID)
	_, err := h.Append(t.Context(), "acme", i.ID, foreign.ID, artifact(func(a *triage.Artifact) { a.Status = triage.ArtifactPending }))
	if err != nil {
		t.Fatal(err)
	}
	h.refusesStep(t, sess, callwright.CodeBadRequest, "artifact.id", func() error {
		_, err := tell(h.session(i.ID, foreign.ID).Pending[0], triage.ArtifactReady, "")
		return err
	})
}

func TestSessionStepsAreLimited(t *testing.T) {
	t.Parallel()
	h := open(t)
	ctx, i := t.Context(), h.issue(triage.Draft{})
	sess := h.begin(i.ID) // has one entry
	thoughts := slices.Repeat([]triage.Step{{Type: triage.TypeThought}}, triage.MaxSessionSteps-1)
	appends := func(steps ...triage.Step) func() error {
		return func() error { _, err := h.Append(ctx, "acme", i.ID, sess.ID, steps...); return err }
	}
	h.refusesStep(t, sess, callwright.CodeInvalidState, "", appends(append(thoughts, thoughts[0])...))
	if err := appends(thoughts...)(); err != nil {
		t.Fatal(err)
	}
	if got := h.session(i.ID, sess.ID); got.Entries != triage.MaxSessionSteps {
		t.Errorf("it has %d entries", got.Entries)
	}
	h.refusesStep(t, sess, callwright.CodeInvalidState, "", appends(thoughts[0]))
	h.refusesStep(t, sess, callwright.CodeInvalidState, "", func() error {
		_, err := h.Answer(ctx, "acme", ada, i.ID, sess.ID, "x")
		return err
	})
	stop := triage.Step{Type: triage.TypeSessionStopped, Status: triage.SessionError}
	h.refusesStep(t, sess, callwright.CodeInvalidState, "", appends(thoughts[0], thoughts[0], stop))
	if err := appends(triage.Step{Type: triage.TypeError, Detail: "Too much."}, stop)(); err != nil {
		t.Errorf("it can't end: %v", err)
	}
}

// TestStepsOfAMergedIssue checks that the sessions of an issue are canceled when it is merged, so that no agent continues unnoticed.
func TestStepsOfAMergedIssue(t *testing.T) {
	t.Parallel()
	h := open(t)
	ctx, i, target := t.Context(), h.issue(triage.Draft{}), h.issue(triage.Draft{})
	sess := h.begin(i.ID)
	if _, err := h.Merge(ctx, "acme", ada, i.ID, target.ID); err != nil {
		t.Fatal(err)
	}
	if got := h.session(i.ID, sess.ID); got.Status != triage.SessionCancelled {
		t.Errorf("the session is %s", got.Status)
	}
	h.refusesStep(t, sess, callwright.CodeInvalidState, "", func() error {
		_, err := h.Append(ctx, "acme", i.ID, sess.ID, triage.Step{Type: triage.TypeThought})
		return err
	})
	h.refusesStep(t, sess, callwright.CodeInvalidState, "", func() error {
		_, err := h.Answer(ctx, "acme", ada, i.ID, sess.ID, "x")
		return err
	})
}
