package triage

import (
	"context"
	"encoding/json"
	"time"

	"github.com/callwright/callwright"
)

// Limits of agent sessions.
const (
	MaxOpenSessions = 20        // open sessions of an issue
	MaxSessionSteps = 1000      // entries of a session
	MaxArtifact     = 256 << 10 // bytes of an artifact's payload, as JSON
	MaxURLs         = 20        // external URLs of an artifact
	MaxMetadata     = 16 << 10  // bytes of a step's metadata, as JSON
	MaxPrompt       = 16 << 10  // characters of a person's prompt or answer
)

// Time limits of sessions. Silent sessions are ended with SessionError, because an agent that died cannot end them.
const (
	SilentAfter  = 30 * time.Minute   // of a pending or active session without a step
	WaitsAtMost  = 7 * 24 * time.Hour // of a session that waits for a person's answer
	sweepEvery   = time.Minute
	sweepAtOnce  = 100
	analysisLife = 25 * time.Minute // of an analysis, without its waits for people; shorter than SilentAfter
)

// Session is the work of one agent on an issue.
type Session struct {
	ID        string
	Org       callwright.OrgID
	IssueID   string
	ProfileID string // id of the agent's profile, or empty
	AgentName string
	Status    SessionStatus
	StartedBy Actor
	CreatedAt time.Time
	UpdatedAt time.Time
	EndedAt   *time.Time

	Entries int      // number of its entries
	Pending []string // ids of artifacts that are not ready yet

	Analysis *Analysis // nil for an external agent, which writes its steps itself
	Revision int64     // from 1; for the compare-and-set of UpdateSession
}

// Analysis is the state of a session of this program's Analyst.
type Analysis struct {
	Prompt  string          // empty means the default
	Answers []string        // people's answers during the analysis, in order
	Step    int             // number of steps taken
	Since   time.Time       // time of its start, moved later by its waits for people
	State   json.RawMessage // State of the last Progress; nil before the first step
}

// Ref returns a short form of the session in its current state.
func (s Session) Ref() SessionRef {
	return SessionRef{ID: s.ID, ProfileID: s.ProfileID, AgentName: s.AgentName, Status: s.Status}
}

// Agent returns the agent of the session as an actor. Its id is the ProfileID or, without one, the session's id.
func (s Session) Agent() Actor {
	id := s.ProfileID
	if id == "" {
		id = s.ID
	}
	return Actor{Kind: ActorAgent, ID: id, Label: s.AgentName}
}

// SessionRef is a short form of an agent session.
type SessionRef struct {
	ID        string
	ProfileID string
	AgentName string
	Status    SessionStatus
}

// Step is an action of an agent that is added to the feed.
type Step struct {
	Type     EntryType // TypeThought, TypeAction, TypeResponse, TypeArtifact, TypeError or TypeSessionStopped
	Detail   string
	Metadata map[string]any
	Artifact *Artifact     // required for TypeArtifact, else nil; an ID names a pending artifact of the session
	Status   SessionStatus // next state of the session; if empty, the state stays, but a pending session becomes active
}

// Artifact is a result that an agent produced.
type Artifact struct {
	ID       string
	Type     string // type of the result, for example "root_cause"
	Title    string
	Renderer string          // how to display it, for example "markdown", or empty
	Status   ArtifactStatus  // in a Step, empty means ArtifactReady
	Payload  json.RawMessage // a JSON object; nil until it is ready
	URLs     []string        // where it is available outside of the issue
}

// ArtifactStatus is the state of an artifact.
type ArtifactStatus string

// The states of an artifact. When a pending artifact is ready or has failed, another entry with the same artifact id is added.
const (
	ArtifactPending ArtifactStatus = "pending"
	ArtifactReady   ArtifactStatus = "ready"
	ArtifactError   ArtifactStatus = "error"
)

// SessionDraft describes a new session.
type SessionDraft struct {
	AgentName string // 1 to 200 characters
	ProfileID string // id of the agent's profile, at most 64 characters, or empty
	Detail    string // subject of the session, at most MaxDetail characters
}

// StartSession starts a session of an external agent on an issue. It returns CodeInvalidState if the issue was merged or has
// MaxOpenSessions open sessions.
func (s *Service) StartSession(
	ctx context.Context, org callwright.OrgID, by Actor, id string, d SessionDraft,
) (Session, error) {
	var sess Session
	_, _, err := s.edit(ctx, org, by, id, func(ctx context.Context, c *change) (err error) {
		sess, err = s.openSession(ctx, c, Session{AgentName: d.AgentName, ProfileID: d.ProfileID}, d.Detail)
		return err
	})
	return sess, err
}

// Session returns a session of an issue, or CodeNotFound if it is absent.
func (s *Service) Session(ctx context.Context, org callwright.OrgID, id, session string) (Session, error) {
	return s.cfg.Store.Session(ctx, org, id, session)
}

// openSession adds a pending session to an issue, and an entry about its start. The caller sets AgentName, ProfileID and Analysis.
func (s *Service) openSession(ctx context.Context, c *change, sess Session, detail string) (Session, error) {
	if err := requireText("agent_name", sess.AgentName, maxName); err != nil {
		return Session{}, err
	}
	if err := checkText("agent_profile_id", sess.ProfileID, maxID); err != nil {
		return Session{}, err
	}
	if err := checkText("detail", detail, MaxDetail); err != nil {
		return Session{}, err
	}
	open, err := s.cfg.Store.SessionsOf(ctx, c.Issue.Org, c.Issue.ID)
	if err != nil {
		return Session{}, err
	}
	if len(open) >= MaxOpenSessions {
		return Session{}, callwright.Errorf(callwright.CodeInvalidState,
			"%s has %d open agent sessions, the most that an issue may have: end one first", c.Issue.Name(), len(open))
	}
	sess.ID, sess.Org, sess.IssueID = s.cfg.IDs.New(), c.Issue.Org, c.Issue.ID
	sess.Status, sess.StartedBy, sess.Entries, sess.Revision = SessionPending, c.by, 1, 1
	sess.CreatedAt = s.cfg.Clock.Now()
	sess.UpdatedAt = sess.CreatedAt
	if err := s.cfg.Store.InsertSession(ctx, sess); err != nil {
		return Session{}, err
	}
	ref := sess.Ref()
	c.Issue.Session = &ref
	c.Issue.Working++
	c.addEntry(Entry{Type: TypeSessionStarted, Detail: detail, Session: &ref})
	return sess, nil
}
