package talk

import (
	"encoding/json"
	"slices"

	"github.com/callwright/callwright/internal/engine/session"
	"github.com/callwright/callwright/speech/tts"
)

// Describe returns the description of a service that changes the tempo, with its default voice first.
func Describe(name, version, voice string, others []string) tts.Description {
	d := tts.Description{Name: name, Version: version, Default: voice, Tempo: true}
	for _, v := range append([]string{voice}, others...) {
		if !slices.Contains(d.Names(), v) {
			d.Voices = append(d.Voices, tts.Voice{Name: v})
		}
	}
	return d
}

// JSON returns a text message. The value must be one that JSON can encode.
func JSON(value any) session.Message {
	data, err := json.Marshal(value)
	if err != nil {
		panic(err) // a programming error: the values are structs of strings, numbers and bools
	}
	return session.Message{Text: true, Data: data}
}
