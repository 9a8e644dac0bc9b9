package call

import (
	"context"
	"io"
	"slices"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/pathway"
)

// Get returns a call and its transcript. It returns CodeNotFound if the call is absent.
func (s *Service) Get(ctx context.Context, org callwright.OrgID, id string) (Call, []Entry, error) {
	c, err := s.cfg.Store.Get(ctx, org, id)
	if err != nil {
		return Call{}, nil, err
	}
	transcript, err := s.cfg.Store.Transcript(ctx, org, id)
	return c, transcript, err
}

// Record returns a call without its transcript. It returns CodeNotFound if the call is absent.
func (s *Service) Record(ctx context.Context, org callwright.OrgID, id string) (Call, error) {
	return s.cfg.Store.Get(ctx, org, id)
}

// TranscriptBefore returns the last lines of a call, ordered by Seq, at most limit. Unless the parameter before is 0, it returns only lines
// with a lower Seq. limit must be from 1 to MaxPage.
func (s *Service) TranscriptBefore(ctx context.Context, org callwright.OrgID, id string, before, limit int) ([]Entry, error) {
	if err := checkBefore(before, limit); err != nil {
		return nil, err
	}
	return s.cfg.Store.TranscriptBefore(ctx, org, id, before, limit)
}

// LinesAt returns the lines at the given places, at most MaxPage, which may belong to several calls. It omits places without a line, and
// places of absent calls.
func (s *Service) LinesAt(ctx context.Context, org callwright.OrgID, places []LinePlace) (map[LinePlace]Entry, error) {
	if len(places) > MaxPage {
		return nil, callwright.Invalid("places", "has %d places; at most %d are allowed", len(places), MaxPage)
	}
	if len(places) == 0 {
		return nil, nil
	}
	return s.cfg.Store.LinesAt(ctx, org, places)
}

// LogsBefore returns the last logs of a call, at most limit. Unless the parameter before is 0, it returns only logs with a lower Turn.
// limit must be from 1 to MaxPage.
func (s *Service) LogsBefore(ctx context.Context, org callwright.OrgID, id string, before, limit int) ([]pathway.Log, error) {
	if err := checkBefore(before, limit); err != nil {
		return nil, err
	}
	return s.cfg.Store.LogsBefore(ctx, org, id, before, limit)
}

func checkBefore(before, limit int) error {
	if before < 0 {
		return callwright.Invalid("before", "must not be negative")
	}
	if limit < 1 || limit > MaxPage {
		return callwright.Invalid("limit", "must be from 1 to %d", MaxPage)
	}
	return nil
}

// Logs returns the logs of a call in the order of turns. Turn 0 precedes the conversation.
func (s *Service) Logs(ctx context.Context, org callwright.OrgID, id string) ([]pathway.Log, error) {
	return s.cfg.Store.Logs(ctx, org, id)
}

// List returns a page of calls and, unless f.SkipCount is set, the number of all matching calls. See Records.List for the omitted fields.
func (s *Service) List(ctx context.Context, org callwright.OrgID, f Filter) (callwright.Page[Call], int, error) {
	if err := f.check(); err != nil {
		return callwright.Page[Call]{}, 0, err
	}
	f.From, f.To = s.searched(ctx, org, f.From), s.searched(ctx, org, f.To)
	return s.cfg.Store.List(ctx, org, f)
}

// Revisions returns the revisions of the calls that List returns for f, so that a client detects changes.
func (s *Service) Revisions(ctx context.Context, org callwright.OrgID, f Filter) ([]Revision, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	f.From, f.To = s.searched(ctx, org, f.From), s.searched(ctx, org, f.To)
	return s.cfg.Store.Revisions(ctx, org, f)
}

// Position returns how far a call has progressed. It returns CodeNotFound if the call is absent.
func (s *Service) Position(ctx context.Context, org callwright.OrgID, id string) (Position, error) {
	return s.cfg.Store.Position(ctx, org, id)
}

// searched returns the number to search for: in E.164 if text is a valid number, otherwise text itself.
func (s *Service) searched(ctx context.Context, org callwright.OrgID, text string) string {
	if text == "" {
		return ""
	}
	if n, err := callwright.ReadNumber(ctx, s.cfg.Numbering, org, text); err == nil {
		return n.String()
	}
	return text
}

// check returns CodeBadRequest for a filter with a value that is out of range or unknown.
func (f Filter) check() error {
	switch {
	case f.Limit < 0 || f.Limit > MaxPage:
		return callwright.Invalid("limit", "must be from 1 to %d", MaxPage)
	case f.Scan < 0:
		return callwright.Invalid("scan", "must not be negative")
	case f.LongerThan < 0 || f.LongerThan > agents.LongestCall:
		return callwright.Invalid("duration_gt", "must be from 0 to %d minutes", int(agents.LongestCall.Minutes()))
	case f.ShorterThan < 0:
		return callwright.Invalid("duration_lt", "must not be negative")
	case f.AnsweredBy != "" && !slices.Contains(answerers, f.AnsweredBy):
		return callwright.Invalid("answered_by", "must be one of %v", answerers)
	case f.Status != "" && !slices.Contains(statuses, f.Status):
		return callwright.Invalid("status", "must be one of %v", statuses)
	}
	return nil
}

// The permitted values of Filter.AnsweredBy and Filter.Status.
var (
	answerers = []AnsweredBy{AnsweredByHuman, AnsweredByVoicemail, AnsweredByUnknown, AnsweredByNobody}
	statuses  = []Status{StatusCompleted, StatusFailed, StatusBusy, StatusNoAnswer, StatusCanceled, StatusUnknown}
)

// Recording opens the recording of a call: a WAV file of 16 bits with the other side on the left and the agent on the right. It returns
// CodeNotFound if the call has no recording.
func (s *Service) Recording(ctx context.Context, org callwright.OrgID, id string) (io.ReadSeekCloser, error) {
	c, err := s.cfg.Store.Get(ctx, org, id)
	if err != nil {
		return nil, err
	}
	if !c.Recorded {
		return nil, callwright.NotFound("recording")
	}
	return s.cfg.Recordings.Open(ctx, org, id)
}
