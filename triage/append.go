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

// lastSteps is the number of entries beyond MaxSessionSteps that the end of a session may add.
const lastSteps = 2

// Append writes steps of a session's agent, all or none, and returns their entries. To ask a person, the agent writes a TypeResponse with
// the Status SessionAwaitingInput. A TypeSessionStopped, or a step with a final Status, ends the session. Append returns CodeInvalidState
// if the session has ended, is an analysis or would have more than MaxSessionSteps entries, or if its state does not allow a step.
func (s *Service) Append(
	ctx context.Context, org callwright.OrgID, id, session string, steps ...Step,
) ([]Entry, error) {
	if len(steps) == 0 {
		return nil, callwright.Invalid("steps", "must have at least one item")
	}
	for _, step := range steps {
		if err := checkOneOf("type", step.Type, TypeThought, TypeAction, TypeResponse, TypeArtifact, TypeError,
			TypeSessionStopped); err != nil {
			return nil, err
		}
	}
	return s.inSession(ctx, org, System(), id, session, func(ctx context.Context, c *change, sess *Session) error {
		if sess.Analysis != nil {
			return callwright.Errorf(callwright.CodeInvalidState, "only the analyst may write steps of an analysis")
		}
		return s.advance(ctx, c, sess, sess.Agent(), steps...)
	})
}

// Answer sends an agent a person's answer of 1 to MaxPrompt characters. A session that awaits input resumes; any other session keeps its
// state. Answer returns CodeInvalidState if the session has ended, has MaxSessionSteps entries, or is an analysis with 20 answers. It
// returns CodeTooManyRequests if an analysis cannot resume because too many others are running.
func (s *Service) Answer(ctx context.Context, org callwright.OrgID, by Actor, id, session, text string) (Entry, error) {
	if err := requireText("detail", text, MaxPrompt); err != nil {
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

// Cancel ends a session without waiting for its agent, and returns the entry. reason has at most MaxDetail characters and may be empty.
// Cancel returns CodeInvalidState if the session has ended.
func (s *Service) Cancel(ctx context.Context, org callwright.OrgID, by Actor, id, session, reason string) (Entry, error) {
	entries, err := s.inSession(ctx, org, by, id, session, func(ctx context.Context, c *change, sess *Session) error {
		return s.advance(ctx, c, sess, by, Step{Type: TypeSessionStopped, Status: SessionCancelled, Detail: reason})
	})
	if err != nil {
		return Entry{}, err
	}
	return entries[0], nil
}

// inSession calls the function do with a session of an issue, and returns the entries that the function adds. All changes are in one
// transaction. The function may be called twice.
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

// advance adds an actor's steps to a session, and updates the issue and the stored session. Updating the session is a compare-and-set.
func (s *Service) advance(ctx context.Context, c *change, sess *Session, by Actor, steps ...Step) error {
	next := *sess
	next.UpdatedAt = s.cfg.Clock.Now()
	for _, step := range steps {
		if err := s.apply(c, &next, by, step); err != nil {
			return err
		}
	}
	room := MaxSessionSteps
	if next.Status.Ended() {
		room += lastSteps
	}
	if next.Entries > room {
		return callwright.Errorf(callwright.CodeInvalidState, "a session can have at most %d entries: end it, and start another one", MaxSessionSteps)
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

// working returns 1 if an agent works in sessions of this state, and 0 otherwise.
func working(s SessionStatus) int {
	if s.Working() {
		return 1
	}
	return 0
}

// apply adds the entry of a step to c, and applies the step to sess. It returns CodeInvalidState if the state of sess does not allow the
// step.
func (s *Service) apply(c *change, sess *Session, by Actor, step Step) error {
	if err := step.check(); err != nil {
		return err
	}
	to := step.to(sess.Status)
	if sess.Status.Ended() {
		return callwright.Errorf(callwright.CodeInvalidState, "the session has ended: it is %s, so start another one", sess.Status)
	}
	if !sess.Status.May(to) {
		return callwright.InField("session_status", callwright.Errorf(callwright.CodeInvalidState,
			"a session in state %s cannot move to %s", sess.Status, to))
	}
	sess.Status = to
	if to.Ended() {
		at := sess.UpdatedAt
		sess.EndedAt = &at
	}
	e := Entry{Type: step.Type, Actor: by, Detail: step.Detail, Metadata: step.Metadata}
	if step.Artifact != nil {
		a, err := s.addArtifact(sess, *step.Artifact)
		if err != nil {
			return err
		}
		e.Artifact = &a
	}
	sess.Entries++
	ref := sess.Ref()
	e.Session = &ref
	c.addEntry(e)
	return nil
}

// to returns the state of a session after the step. The transition to that state may be illegal.
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

// addArtifact sets the id and the default status of an artifact, and updates the session's pending artifacts. An id that is given must
// belong to a pending artifact.
func (s *Service) addArtifact(sess *Session, a Artifact) (Artifact, error) {
	n := slices.Index(sess.Pending, a.ID)
	switch {
	case a.ID == "":
		a.ID = s.cfg.IDs.New()
	case n < 0:
		return Artifact{}, callwright.Invalid("artifact.id", "must be the id of a pending artifact of the session")
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

// check refuses a step whose texts are too long, or with members that its type does not allow.
func (st Step) check() error {
	if err := checkText("detail", st.Detail, MaxDetail); err != nil {
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
		return callwright.Invalid("session_status", "must be a final state: %s, %s or %s", SessionComplete, SessionError, SessionCancelled)
	case st.Type == TypeArtifact && st.Artifact == nil:
		return callwright.Invalid("artifact", "is required in steps of type %s", TypeArtifact)
	case st.Type != TypeArtifact && st.Artifact != nil:
		return callwright.Invalid("artifact", "is allowed in steps of type %s only", TypeArtifact)
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
		return callwright.Invalid("artifact.external_urls", "has %d URLs; at most %d are allowed", len(a.URLs), MaxURLs)
	}
	for n, link := range a.URLs {
		if err := checkLink(fmt.Sprintf("artifact.external_urls[%d]", n), link); err != nil {
			return err
		}
	}
	return nil
}

// checkMetadata refuses metadata that is not JSON, has more than MaxMetadata bytes, or contains NUL characters.
func checkMetadata(m map[string]any) error {
	if m == nil {
		return nil
	}
	var raw bytes.Buffer
	e := json.NewEncoder(&raw)
	e.SetEscapeHTML(false) // escaping would turn one byte into six
	if err := e.Encode(m); err != nil {
		return callwright.Invalid("metadata", "must contain only values that JSON can represent")
	}
	return checkObject("metadata", bytes.TrimSpace(raw.Bytes()), MaxMetadata)
}

// checkObject refuses JSON that is not an object, has too many bytes, or contains NUL characters, which databases cannot store.
func checkObject(field string, raw json.RawMessage, most int) error {
	if len(raw) > most {
		return callwright.Invalid(field, "has %d bytes; at most %d are allowed", len(raw), most)
	}
	if err := checkUTF8(field, string(raw)); err != nil {
		return err
	}
	var object map[string]any
	if err := json.Unmarshal(raw, &object); err != nil || object == nil {
		return callwright.Invalid(field, "must be a JSON object")
	}
	if hasNUL(object) {
		return callwright.Invalid(field, "must not contain NUL characters")
	}
	return nil
}

// hasNUL reports whether a string or the name of a member in a JSON value contains NUL.
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
