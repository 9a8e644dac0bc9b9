package agentwire

import (
	"encoding/json"

	"github.com/callwright/callwright/speech/ambience"
	"github.com/callwright/callwright/speech/tts"
)

// pronunciation is an entry of a guide to pronunciation in the JSON of the contract.
type pronunciation struct {
	Word          string `json:"word"`
	Pronunciation string `json:"pronunciation"`
	CaseSensitive *yes   `json:"case_sensitive,omitempty"`
	Spaced        *yes   `json:"spaced,omitempty"`
}

// yes is a boolean that clients may also write as a text.
type yes bool

// UnmarshalJSON accepts true, false and both as texts. The contract allows no other values.
func (y *yes) UnmarshalJSON(text []byte) error {
	*y = string(text) == "true" || string(text) == `"true"`
	return nil
}

// Pronunciations translates a generated guide to pronunciation. It returns nil for null and for an absent guide.
func Pronunciations(given json.Marshaler) ([]tts.Pronunciation, error) {
	text, err := given.MarshalJSON()
	if err != nil || len(text) == 0 { // empty text: the member is absent
		return nil, err
	}
	var list []pronunciation
	if err := json.Unmarshal(text, &list); err != nil || list == nil {
		return nil, err
	}
	out := make([]tts.Pronunciation, len(list))
	for i, p := range list {
		out[i] = tts.Pronunciation{
			Word: p.Word, Spoken: p.Pronunciation, CaseSensitive: p.CaseSensitive != nil && bool(*p.CaseSensitive),
			Inside: p.Spaced != nil && !bool(*p.Spaced),
		}
	}
	return out, nil
}

// PronunciationGuide translates pronunciations to a generated guide. It returns the zero value for nil.
func PronunciationGuide[L any, P interface {
	*L
	json.Unmarshaler
}](list []tts.Pronunciation) (generated L, err error) {
	if list == nil {
		return generated, nil
	}
	guide := make([]pronunciation, len(list))
	for i, p := range list {
		exact, whole := yes(p.CaseSensitive), yes(!p.Inside)
		guide[i] = pronunciation{p.Word, p.Spoken, &exact, &whole}
	}
	text, err := json.Marshal(guide)
	if err != nil {
		return generated, err
	}
	return generated, P(&generated).UnmarshalJSON(text)
}

// noBackground is a name of the contract for no background sound.
const noBackground = "none"

// Background translates the name of a background sound.
func Background(name string) ambience.Track {
	if name == noBackground {
		return ""
	}
	return ambience.Track(name)
}

// VoiceSettings returns the JSON of voice settings, or an empty text if they are null or absent.
func VoiceSettings[M interface {
	~map[string]R
	json.Marshaler
}, R ~[]byte](settings M) (string, error) {
	if settings == nil {
		return "", nil
	}
	text, err := settings.MarshalJSON()
	return string(text), err
}
