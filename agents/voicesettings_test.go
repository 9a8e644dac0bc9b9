package agents_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/speech/tts"
)

func TestProsody(t *testing.T) {
	t.Parallel()
	for settings, want := range map[string]struct {
		prosody tts.Prosody
		field   string
	}{
		"":                             {},
		"{}":                           {},
		`{"speed":1.2}`:                {prosody: tts.Prosody{Tempo: 1.2}},
		`{"pitch":0.5,"speed":2}`:      {prosody: tts.Prosody{Pitch: 0.5, Tempo: 2}},
		`{"speed":null,"stability":9}`: {},
		`{"speed":0.4}`:                {field: "voice_settings.speed"},
		`{"speed":0}`:                  {field: "voice_settings.speed"},
		`{"pitch":2.1}`:                {field: "voice_settings.pitch"},
		`{"pitch":"high"}`:             {field: "voice_settings.pitch"},
		`[]`:                           {field: "voice_settings"},
		`{`:                            {field: "voice_settings"},
		`"` + strings.Repeat("x", agents.MaxSettings) + `"`: {field: "voice_settings"},
	} {
		got, err := agents.Agent{VoiceSettings: settings}.Prosody()
		e, _ := errors.AsType[*callwright.Error](err)
		if got != want.prosody || (e == nil) != (want.field == "") || e != nil && (e.Field != want.field || e.Code != callwright.CodeBadRequest) {
			t.Errorf("%.40s: %+v, %v", settings, got, err)
		}
	}
}

// monotone is a tts.VoiceChecker of an engine that changes only the tempo.
type monotone struct{}

func (monotone) CheckVoice(context.Context, callwright.OrgID, string, string) error { return nil }
func (monotone) Applies() (pitch, tempo bool)                                       { return false, true }

func TestIgnoredVoiceSettings(t *testing.T) {
	t.Parallel()
	a := agents.Agent{VoiceSettings: `{"pitch":1.1,"speed":1.2,"stability":0.5,"style":null,"boost":true}`}
	for _, c := range []struct {
		voices tts.VoiceChecker
		want   string
	}{
		{nil, "voice_settings.boost voice_settings.stability"},
		{monotone{}, "voice_settings.boost voice_settings.pitch voice_settings.stability"},
	} {
		var fields []string
		for _, e := range a.IgnoredVoiceSettings(c.voices) {
			if fields = append(fields, e.Field); e.Message == "" {
				t.Errorf("%s has no reason", e.Field)
			}
		}
		if got := strings.Join(fields, " "); got != c.want {
			t.Errorf("ignored %q, want %q", got, c.want)
		}
	}
}
