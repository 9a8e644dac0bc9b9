package triage

import (
	"context"
	"encoding/json"
	"time"

	"github.com/callwright/callwright"
)

// The limits of agent sessions.
const (
	MaxOpenSessions = 20        // of an issue, that have not ended
	MaxSessionSteps = 1000      // entries of a session
	MaxArtifact     = 256 << 10 // bytes of an artifact's payload, as JSON
	MaxURLs         = 20        // external URLs of an artifact
	MaxMetadata     = 16 << 10  // bytes of a step's metadata, as JSON
	MaxPrompt       = 16 << 10  // characters of a person's prompt or answer
)

// Silent sessions are ended with SessionError, because an agent that died cannot end them.
const (
	SilentAfter  = 30 * time.Minute   // pending or active
	WaitsAtMost  = 7 * 24 * time.Hour // for a person's answer
	sweepEvery   = time.Minute
	sweepAtOnce  = 100
	analysisLife = 25 * time.Minute // of an analysis, without waits for people: it ends before it counts as dead
)

// Session is the work of one agent on an issue.
type Session struct {
	ID        string
	Org       callwright.OrgID
	IssueID   string
	ProfileID string // of the agent; empty: none
	AgentName string
	Status    SessionStatus
	StartedBy Actor
	CreatedAt time.Time
	UpdatedAt time.Time
	EndedAt   *time.Time

	Entries int      // number of its entries
	Pending []string // ids of artifacts that are not ready yet

	Analysis *Analysis // nil: an external agent, which writes its steps itself
	Revision int64     // for the compare-and-set; 1 at first
}

// Analysis is the progress of this program's own Analyst in a session.
type Analysis struct {
	Prompt  string          // prompt of the analysis; empty: the default
	Answers []string        // people's answers to its questions
	Step    int             // number of steps taken
	Since   time.Time       // time of its start, shifted by its waits for people
	State   json.RawMessage // state of the last step; nil: none was taken
}

// Ref returns the session in short.
func (s Session) Ref() SessionRef {
	return SessionRef{ID: s.ID, ProfileID: s.ProfileID, AgentName: s.AgentName, Status: s.Status}
}

// Agent returns the session's agent as an actor.
func (s Session) Agent() Actor {
	id := s.ProfileID
	if id == "" {
		id = s.ID
	}
	return Actor{Kind: ActorAgent, ID: id, Label: s.AgentName}
}

// SessionRef is an agent session in short.
type SessionRef struct {
	ID        string
	ProfileID string
	AgentName string
	Status    SessionStatus
}

// Step is an agent's action, to be written into the feed.
type Step struct {
	Type     EntryType // TypeThought, TypeAction, TypeResponse, TypeArtifact, TypeError or TypeSessionStopped
	Detail   string
	Metadata map[string]any
	Artifact *Artifact     // required for TypeArtifact only: without an ID a new artifact, with an ID a pending one of the session
	Status   SessionStatus // state of the session after this step; empty: unchanged, but a pending session becomes active
}

// Artifact is a result that an agent produced.
type Artifact struct {
	ID       string
	Type     string // kind of the result, for example "root_cause"
	Title    string
	Renderer string          // way to show it, for example "markdown"; empty: unspecified
	Status   ArtifactStatus  // of a Step, empty: ArtifactReady
	Payload  json.RawMessage // an object; nil until it is ready
	URLs     []string        // external locations
}

// ArtifactStatus is the state of an artifact.
type ArtifactStatus string

// The states of an artifact. A pending artifact gets another entry, with the same id, when it is ready or has failed.
const (
	ArtifactPending ArtifactStatus = "pending"
	ArtifactReady   ArtifactStatus = "ready"
	ArtifactError   ArtifactStatus = "error"
)

// SessionDraft describes a session to start.
type SessionDraft struct {
	AgentName string // 1 to 200 characters
	ProfileID string // of the agent, at most 64 characters; empty: none
	Detail    string // subject of the session, at most MaxDetail characters
}

// StartSession starts the work of an external agent on an issue; CodeInvalidState for a merged issue, or one with
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

// Session returns one session of an issue; CodeNotFound when it is absent.
func (s *Service) Session(ctx context.Context, org callwright.OrgID, id, session string) (Session, error) {
	return s.cfg.Store.Session(ctx, org, id, session)
}

// openSession adds a session to an issue and records its start. The caller sets AgentName, ProfileID and Analysis.
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
			"%s has %d open agent sessions, the most that an issue may have", c.Issue.Name(), len(open))
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
