package speech

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/callwright/callwright"
)

// Request is a text to speak and store.
type Request struct {
	Text     string // plain text of 1 to MaxText characters; markup such as SSML is spoken, not interpreted
	Voice    string // id or name; if empty, the default of the language or the engine
	Language string // BCP 47, such as "en-US"; if empty, the voice's language
	Format   Format // if empty, PCM44100
	User     string // the id of the requesting key, stored with the sample
}

// maxLanguage is the maximum length of a language tag, in characters. RFC 5646, section 4.4.1, recommends room for 35 characters.
const maxLanguage = 35

// check sets the default format and validates all fields except the voice. It returns CodeBadRequest with the first invalid field.
func (r *Request) check() error {
	if r.Format == "" {
		r.Format = PCM44100
	}
	switch {
	case !utf8.ValidString(r.Text):
		return callwright.Invalid("text", "must be valid UTF-8")
	case strings.TrimSpace(r.Text) == "":
		return callwright.Invalid("text", "must not be empty")
	case callwright.Longer(r.Text, MaxText):
		return callwright.Invalid("text", "must have at most %d characters, and has %d", MaxText, utf8.RuneCountInString(r.Text))
	case strings.ContainsFunc(r.Text, controls):
		return callwright.Invalid("text", "must not have control characters other than tabs and line breaks")
	case !strings.ContainsFunc(r.Text, spoken):
		return callwright.Invalid("text", "must contain a letter, a digit or a symbol")
	case r.Format.Rate() == 0:
		return callwright.Invalid("output_format", "must be one of %v", Formats())
	case callwright.Longer(r.Language, maxLanguage):
		return callwright.Invalid("language", "must have at most %d characters", maxLanguage)
	}
	return nil
}

// controls reports whether a character must not occur in a text: a control character other than a tab or a line break, because some engines
// interpret it as a command.
func controls(c rune) bool { return unicode.IsControl(c) && c != '\n' && c != '\r' && c != '\t' }

// key returns a digest of all inputs that determine a request's audio. Voices with the same base and prosody have the same key.
func (s *Service) key(r Request, v Voice) string {
	pitch, tempo := v.Prosody.Factors()
	sum := sha256.New()
	_, _ = fmt.Fprintf(sum, "1 %q %q %q %g %g %q %q %g %q", // writing to a hash never fails
		s.desc.Name, s.desc.Version, v.Base, pitch, tempo, r.Language, r.Format, s.cfg.Loudness, r.Text)
	return hex.EncodeToString(sum.Sum(nil))
}

// resolve returns the voice of a request, which may be an engine's voice without a record. It returns CodeBadRequest with the field "voice"
// or "language" if the voice is unknown and not replaced, or unsuitable.
func (s *Service) resolve(ctx context.Context, org callwright.OrgID, voice, language string) (Voice, error) {
	v, err := s.voiceFor(ctx, org, voice, language)
	if err != nil {
		return Voice{}, err
	}
	if !v.Public() && s.cfg.Engine.CheckVoice(v.Base, "") != nil {
		return Voice{}, callwright.Invalid("voice", "%q cannot be spoken, because the speech engine %s does not have its base voice %q: clone it again, or choose another voice",
			v.Name, s.desc.Name, v.Base)
	}
	return v, s.cfg.Engine.CheckVoice(v.Base, language)
}
