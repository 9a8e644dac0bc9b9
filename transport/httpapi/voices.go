package httpapi

import (
	"context"

	"github.com/callwright/callwright"
)

// Voices returns replacements for unknown voices. speech.Service implements it.
type Voices interface {
	// Replacement returns the name of the replacement; empty if the voice is known, is not named or is refused.
	Replacement(ctx context.Context, org callwright.OrgID, idOrName, language string) (string, error)
}

// NoteVoice adds the voice that a member of a body names to IgnoredMembers, if another one speaks in its place.
func NoteVoice(ctx context.Context, field, voice, language string) error {
	voices := infoOf(ctx).api.cfg.Voices
	if voices == nil || voice == "" {
		return nil
	}
	name, err := voices.Replacement(ctx, Org(ctx), voice, language)
	if err == nil && name != "" {
		Ignore(ctx, field, "there is no such voice: "+name+" speaks")
	}
	return err
}
