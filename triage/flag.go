package triage

import (
	"context"
	"errors"

	"github.com/callwright/callwright"
)

// maxNote is the maximum length, in characters, of a flag's note and of the quoted line of a transcript.
const maxNote = 4000

// FlagDraft describes a new flag.
type FlagDraft struct {
	CallID       string
	Type         string // type of problem, 1 to 200 characters
	Note         string // at most 4000 characters
	NodeID       string // node of the pathway, at most 128 characters, or empty
	NodeName     string // at most 200 characters
	MessageIndex *int   // index in the transcript, from 0; nil means the whole call
	MessageText  string // at most 4000 characters
}

// ErrCallNotAttached is the error for a flag on a call that is not attached to the issue.
var ErrCallNotAttached = &callwright.Error{
	Code: callwright.CodeCallNotAttached, Message: callwright.ErrCallNotAttached.Message, Field: "call_id",
}

// Flag marks a call that is attached to an issue, or a message or node of the call. It returns ErrCallNotAttached for any other call, and
// CodeInvalidState if the issue was merged or has MaxFlags flags.
func (s *Service) Flag(ctx context.Context, org callwright.OrgID, by Actor, id string, d FlagDraft) (Flag, error) {
	if err := d.check(); err != nil {
		return Flag{}, err
	}
	var f Flag
	_, _, err := s.edit(ctx, org, by, id, func(ctx context.Context, c *change) error {
		call, err := s.cfg.Store.ResourceOf(ctx, org, id, ResourceCall, d.CallID)
		switch {
		case errors.Is(err, callwright.ErrNotFound):
			return ErrCallNotAttached
		case err != nil:
			return err
		case c.Issue.Flags >= MaxFlags:
			return callwright.Errorf(callwright.CodeInvalidState,
				"%s has %d flags, the most that an issue may have: remove one first", c.Issue.Name(), c.Issue.Flags)
		}
		f = Flag{
			ID: s.cfg.IDs.New(), Org: org, IssueID: id, CallID: d.CallID, Type: d.Type, Note: d.Note, NodeID: d.NodeID,
			NodeName: d.NodeName, MessageIndex: d.MessageIndex, MessageText: d.MessageText, CreatedBy: by.ID,
			CreatedAt: s.cfg.Clock.Now(),
		}
		c.Issue.Flags++
		c.addFlagEntry(TypeFlagAdded, f, call)
		return s.cfg.Store.InsertFlag(ctx, f)
	})
	if err != nil {
		return Flag{}, err
	}
	return f, nil
}

func (d FlagDraft) check() error {
	if err := requireText("call_id", d.CallID, maxResource); err != nil {
		return err
	}
	if err := requireText("type", d.Type, maxName); err != nil {
		return err
	}
	if err := checkText("note", d.Note, maxNote); err != nil {
		return err
	}
	if err := checkText("node_id", d.NodeID, maxResource); err != nil {
		return err
	}
	if err := checkText("node_name", d.NodeName, maxName); err != nil {
		return err
	}
	if d.MessageIndex != nil && *d.MessageIndex < 0 {
		return callwright.Invalid("message_index", "must not be negative")
	}
	return checkText("message_text", d.MessageText, maxNote)
}

// Unflag deletes a flag and adds an entry about that. It returns CodeNotFound if the flag is absent.
func (s *Service) Unflag(ctx context.Context, org callwright.OrgID, by Actor, id, flag string) error {
	_, _, err := s.edit(ctx, org, by, id, func(ctx context.Context, c *change) error {
		f, err := s.cfg.Store.Flag(ctx, org, id, flag)
		if err != nil {
			return err
		}
		call, err := s.cfg.Store.ResourceOf(ctx, org, id, ResourceCall, f.CallID)
		if err != nil {
			return err
		}
		c.Issue.Flags--
		c.addFlagEntry(TypeFlagRemoved, f, call)
		return s.cfg.Store.DeleteFlag(ctx, org, id, flag)
	})
	return err
}

// addFlagEntry adds an entry about a flag on a call. The note of the flag is the entry's Detail, and the flag's other fields are in the
// entry's Metadata.
func (c *change) addFlagEntry(t EntryType, f Flag, call Resource) {
	e := Entry{Type: t, Detail: f.Note, Resources: []Resource{call}, Metadata: map[string]any{
		"flag_id": f.ID, "call_id": f.CallID, "type": f.Type,
	}}
	for name, text := range map[string]string{"node_id": f.NodeID, "node_name": f.NodeName, "message_text": f.MessageText} {
		if text != "" {
			e.Metadata[name] = text
		}
	}
	if f.MessageIndex != nil {
		e.Metadata["message_index"] = *f.MessageIndex
	}
	c.addEntry(e)
}

// Flags returns all flags of an issue, oldest first.
func (s *Service) Flags(ctx context.Context, org callwright.OrgID, id string) ([]Flag, error) {
	if _, err := s.cfg.Store.Issue(ctx, org, id); err != nil {
		return nil, err
	}
	return s.cfg.Store.FlagsOf(ctx, org, id)
}
