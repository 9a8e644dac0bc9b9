package tts

import (
	"context"

	"github.com/callwright/callwright"
)

// Speakers returns the Synthesizers of organizations and checks their voices. speech.Service implements it.
type Speakers interface {
	VoiceChecker

	// Speaker returns the Synthesizer of an organization. In its requests, Voice is the id or the name of a voice, as in CheckVoice.
	Speaker(org callwright.OrgID) Synthesizer
}

// ProsodyReporter is an optional interface of a VoiceChecker. speech.Service implements it.
type ProsodyReporter interface {
	// Applies reports which factors of a Prosody the engine applies: see Description.
	Applies() (pitch, tempo bool)
}

// VoiceChecker checks voices and languages before a call.
type VoiceChecker interface {
	// CheckVoice returns the error that Synthesize would return for a voice of an organization and a language, or nil if both are valid.
	CheckVoice(ctx context.Context, org callwright.OrgID, voice, language string) error
}
