package triage

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/callwright/callwright"
)

// lastSteps is how many entries more than MaxSessionSteps the end of a session may take.
const lastSteps = 2

// Append writes what a session's agent has done, all steps or none. An agent that asks people leaves its session awaiting
// input with a TypeResponse; TypeSessionStopped ends it, and so does any step with a final Status. A session that has
// ended, or is an analysis, takes no step, and none may move a session where it can't go: CodeInvalidState.
func (s *Service) Append(
	ctx context.Context, org callwright.OrgID, id, session string, steps ...Step,
) ([]Entry, error) {
	if len(steps) == 0 {
		return nil, callwright.Invalid("steps", "is required")
	}
	for _, step := range steps {
		if err := checkOneOf("type", step.Type, TypeThought, TypeAction, TypeResponse, TypeArtifact, TypeError,
			TypeSessionStopped); err != nil {
			return nil, err
		}
	}
	return s.inSession(ctx, org, System(), id, session, func(ctx context.Context, c *change, sess *Session) error {
		if sess.Analysis != nil {
			return callwright.Errorf(callwright.CodeInvalidState, "the steps of an analysis are the analyst's")
		}
		return s.advance(ctx, c, sess, sess.Agent(), steps...)
	})
}

// Answer tells an agent what a person says, 1 byte to MaxPrompt. A session that awaits input goes on, any other stays as it
// is; CodeInvalidState for one that has ended.
func (s *Service) Answer(ctx context.Context, org callwright.OrgID, by Actor, id, session, text string) (Entry, error) {
	if err := requireDetail(text, MaxPrompt); err != nil {
		return Entry{}, err
	}
	entries, err := s.inSession(ctx, org, by, id, session, func(ctx context.Context, c *change, sess *Session) error {
		if sess.Analysis != nil && !sess.Status.Ended() {
			if err := s.answerAnalysis(ctx, sess, text); err != nil {
				return err
			}
		}
		return s.advance(ctx, c, sess, by, Step{Type: TypePrompt, Detail: text})
	})
	if err != nil {
		return Entry{}, err
	}
	return entries[0], nil
}

// Cancel ends a session, whatever its agent does, and gives the entry that tells it; CodeInvalidState for one that has
// ended. reason, at most MaxDetail bytes, may say why.
func (s *Service) Cancel(ctx context.Context, org callwright.OrgID, by Actor, id, session, reason string) (Entry, error) {
	entries, err := s.inSession(ctx, org, by, id, session, func(ctx context.Context, c *change, sess *Session) error {
		return s.advance(ctx, c, sess, by, Step{Type: TypeSessionStopped, Status: SessionCancelled, Detail: reason})
	})
	if err != nil {
		return Entry{}, err
	}
	return entries[0], nil
}

// inSession is change for what is done in one of the issue's sessions. It gives the entries.
func (s *Service) inSession(
	ctx context.Context, org callwright.OrgID, by Actor, id, session string,
	do func(ctx context.Context, c *change, sess *Session) error,
) ([]Entry, error) {
	_, entries, err := s.change(ctx, org, by, id, func(ctx context.Context, c *change) error {
		sess, err := s.cfg.Store.Session(ctx, org, id, session)
		if err != nil {
			return err
		}
		return do(ctx, c, &sess)
	})
	return entries, err
}

// advance writes steps of a session by an actor, and what becomes of the session and its issue. The session is replaced
// by compare-and-set.
func (s *Service) advance(ctx context.Context, c *change, sess *Session, by Actor, steps ...Step) error {
	next := *sess
	next.UpdatedAt = s.cfg.Clock.Now()
	for _, step := range steps {
		if err := s.take(c, &next, by, step); err != nil {
			return err
		}
	}
	room := MaxSessionSteps
	if next.Status.Ended() {
		room += lastSteps
	}
	if next.Entries > room {
		return callwright.Errorf(callwright.CodeInvalidState, "a session has at most %d entries", MaxSessionSteps)
	}
	if err := s.cfg.Store.UpdateSession(ctx, next); err != nil {
		return err
	}
	next.Revision++
	ref := next.Ref()
	if c.Issue.Session != nil && c.Issue.Session.ID == next.ID {
		c.Issue.Session = &ref
	}
	c.Issue.Working += working(next.Status) - working(sess.Status)
	*sess = next
	return nil
}

// working counts a session in a state among those in which an agent works.
func working(s SessionStatus) int {
	if s.Working() {
		return 1
	}
	return 0
}

// take tells one step, and does to the session what it says.
func (s *Service) take(c *change, sess *Session, by Actor, step Step) error {
	if err := step.check(); err != nil {
		return err
	}
	to := step.to(sess.Status)
	if sess.Status.Ended() {
		return callwright.Errorf(callwright.CodeInvalidState, "the session has ended: it is %s", sess.Status)
	}
	if !sess.Status.May(to) {
		return callwright.InField("session_status", callwright.Errorf(callwright.CodeInvalidState,
			"a session that is %s can't become %s", sess.Status, to))
	}
	sess.Status = to
	if to.Ended() {
		at := sess.UpdatedAt
		sess.EndedAt = &at
	}
	e := Entry{Type: step.Type, Actor: by, Detail: step.Detail, Metadata: step.Metadata}
	if step.Artifact != nil {
		a, err := s.keep(sess, *step.Artifact)
		if err != nil {
			return err
		}
		e.Artifact = &a
	}
	sess.Entries++
	ref := sess.Ref()
	e.Session = &ref
	c.tell(e)
	return nil
}

// to is the state of a session after the step, from the one before.
func (st Step) to(from SessionStatus) SessionStatus {
	switch {
	case st.Status != "":
		return st.Status
	case st.Type == TypeSessionStopped:
		return SessionComplete
	case st.Type == TypePrompt && from == SessionAwaitingInput:
		return SessionActive
	case st.Type != TypePrompt && from == SessionPending:
		return SessionActive
	}
	return from
}

// keep gives a new artifact its id, and remembers which are pending.
func (s *Service) keep(sess *Session, a Artifact) (Artifact, error) {
	n := slices.Index(sess.Pending, a.ID)
	switch {
	case a.ID == "":
		a.ID = s.cfg.IDs.New()
	case n < 0:
		return Artifact{}, callwright.Invalid("artifact.id", "is of no pending artifact of the session")
	default:
		sess.Pending = slices.Delete(sess.Pending, n, n+1)
	}
	if a.Status == "" {
		a.Status = ArtifactReady
	}
	if a.Status == ArtifactPending {
		sess.Pending = append(sess.Pending, a.ID)
	}
	return a, nil
}

// check refuses a step that says too much, or what does not belong to its type.
func (st Step) check() error {
	if err := checkBytes("detail", st.Detail, MaxDetail); err != nil {
		return err
	}
	if err := checkMetadata(st.Metadata); err != nil {
		return err
	}
	if st.Status != "" {
		if err := checkOneOf("session_status", st.Status, SessionStatuses()...); err != nil {
			return err
		}
	}
	switch {
	case st.Type == TypeSessionStopped && st.Status != "" && !st.Status.Ended():
		return callwright.Invalid("session_status", "is no state of a session that has stopped")
	case st.Type == TypeArtifact && st.Artifact == nil:
		return callwright.Invalid("artifact", "is required")
	case st.Type != TypeArtifact && st.Artifact != nil:
		return callwright.Invalid("artifact", "belongs to a step of type %s only", TypeArtifact)
	case st.Artifact != nil:
		return st.Artifact.check()
	}
	return nil
}

func (a Artifact) check() error {
	if err := requireText("artifact.type", a.Type, maxName); err != nil {
		return err
	}
	if err := checkText("artifact.title", a.Title, maxTitle); err != nil {
		return err
	}
	if err := checkText("artifact.renderer", a.Renderer, maxName); err != nil {
		return err
	}
	if a.Status != "" {
		if err := checkOneOf("artifact.status", a.Status, ArtifactPending, ArtifactReady, ArtifactError); err != nil {
			return err
		}
	}
	if a.Payload != nil {
		if err := checkObject("artifact.payload", a.Payload, MaxArtifact); err != nil {
			return err
		}
	}
	if len(a.URLs) > MaxURLs {
		return callwright.Invalid("artifact.external_urls", "has %d URLs, more than %d", len(a.URLs), MaxURLs)
	}
	for n, link := range a.URLs {
		if err := checkLink(fmt.Sprintf("artifact.external_urls[%d]", n), link); err != nil {
			return err
		}
	}
	return nil
}

// checkMetadata refuses metadata that can't be told.
func checkMetadata(m map[string]any) error {
	if m == nil {
		return nil
	}
	var raw bytes.Buffer
	e := json.NewEncoder(&raw)
	e.SetEscapeHTML(false) // which makes six bytes of one
	if err := e.Encode(m); err != nil {
		return callwright.Invalid("metadata", "is no JSON")
	}
	return checkObject("metadata", bytes.TrimSpace(raw.Bytes()), MaxMetadata)
}

// checkObject refuses what is not a JSON object, has too many bytes, or holds what a database can't keep.
func checkObject(field string, raw json.RawMessage, most int) error {
	if err := checkBytes(field, string(raw), most); err != nil {
		return err
	}
	var object map[string]any
	if err := json.Unmarshal(raw, &object); err != nil || object == nil {
		return callwright.Invalid(field, "is not a JSON object")
	}
	if hasNUL(object) {
		return callwright.Invalid(field, "holds a NUL character")
	}
	return nil
}

// hasNUL says whether a text in a JSON value holds a NUL character.
func hasNUL(value any) bool {
	switch v := value.(type) {
	case string:
		return strings.IndexByte(v, 0) >= 0
	case []any:
		return slices.ContainsFunc(v, hasNUL)
	case map[string]any:
		for name, member := range v {
			if hasNUL(name) || hasNUL(member) {
				return true
			}
		}
	}
	return false
}
